// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/executor.h"
#include "model/feed_ahead.h"
#include "model/trace_alignment.h"
#include "model/trace_certificate.h"
#include "model/trace_evidence.h"
#include "model/trace_filter.h"
#include "model/twin_cursor.h"

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace forkpoint {

/// The records of one rank and iteration, in order, from all their segments. Calls that the file
/// does not number are numbered here; a second record of one identity is told and left out. What the
/// filter does not take is certified and counted, and no more.
class TraceFeed
{
public:
    /// `segments`: of that stream, in their order. `filter`: nullptr takes all.
    TraceFeed(const Trace &trace, std::size_t stream, const std::vector<std::size_t> &segments,
              const TraceFilter *filter);

    Result<std::optional<TraceRecord>> next();
    /// The line of the record that was read last, until the next is read; empty where a line does not
    /// make its record by itself (TwinCursor).
    std::string_view lastLine() const { return m_twin ? m_twin->lastLine() : std::string_view(); }
    /// As next(), beside a record of the other side that was made of that line. `isTwin`: both are of
    /// the same bytes, and but for place and call alike.
    Result<std::optional<TraceRecord>> nextBeside(std::string_view line, const TraceRecord &record,
                                                  bool &isTwin);
    std::uint64_t duplicates() const { return m_duplicates; }
    std::uint64_t excluded() const { return m_excluded; }
    const TraceCertificate &certificate() const { return m_certificate; }
    Diagnostics takeDiagnostics();

private:
    /// Beside nothing, where `beside` is nullptr.
    Result<std::optional<TraceRecord>> read(std::string_view line, const TraceRecord *beside,
                                            bool &isTwin);
    Status open();
    bool isDuplicate(TraceRecord &record);

    const Trace &m_trace;
    const TraceFilter *m_filter;
    std::size_t m_stream;
    std::vector<std::size_t> m_segments; ///< still to be read, the next one last
    std::unique_ptr<TraceCursor> m_cursor;
    TwinCursor *m_twin = nullptr;                             ///< the cursor, where it is one
    std::unordered_map<std::uint64_t, std::uint64_t> m_calls; ///< by the identity of call 0
    std::unordered_set<std::uint64_t> m_identities;
    std::uint64_t m_duplicates = 0, m_excluded = 0;
    TraceCertificate m_certificate;
    Diagnostics m_diagnostics;
};

/// Two feeds side by side (rules M3 to M6): records meet by identity where what they are agrees;
/// where it does not, a window of both is aligned, and what was inserted or left out does not shift
/// the rest. Memory is bounded in records and in bytes: by the window, and by what waits for a late
/// partner. What a bound cost is told by limits().
class TraceWalk
{
public:
    struct Event
    {
        const TraceRecord *a = nullptr, *b = nullptr; ///< one may be nullptr
        std::uint64_t ordinal = 0; ///< place in the walk; of a late partner that of the earlier one
        bool opened = false;       ///< no partner yet: comes again when that is known
        bool moved = false;        ///< partners, at other places
        bool afterSlip = false;    ///< partners whose numbers differ

        /// Moved where both sides tell the order: else the places say nothing.
        bool reordered() const { return moved && a->isPlaced && b->isPlaced; }
    };
    using Visit = std::function<void(const Event &)>;

    TraceWalk(TraceFeed &a, TraceFeed &b, Visit visit) : m_a{a}, m_b{b}, m_visit(std::move(visit))
    {
    }

    /// Calls visit for every record of both; those without a partner come when that is known.
    Status run(const std::function<bool()> &stopped);
    /// The same, and the records of A are read ahead by a second thread.
    Status run(const std::function<bool()> &stopped, Executor &executor);
    /// The next pair, or the next window of both: false once every record has been visited.
    Result<bool> advance();
    /// Where records were not looked for as far as usual, one clause each; after run().
    std::vector<std::string> limits() const;

private:
    struct Ahead
    {
        TraceRecord record;
        std::size_t bytes = 0;
        bool isTwin = false; ///< of the other side's record that was read right before it
        std::optional<AlignItem> item = {}; ///< once it was asked for
    };
    struct Waiting
    {
        TraceRecord record;
        std::uint64_t ordinal = 0;
        std::size_t bytes = 0;
        std::uint64_t pairs = 0; ///< that met in their order before it
    };
    struct Side
    {
        TraceFeed &feed;
        FeedAhead *reader = nullptr; ///< takes the place of the feed where another thread reads
        std::string line = {};       ///< of the record that the reader gave last
        std::deque<Ahead> ahead = {};
        std::size_t aheadBytes = 0;
        bool ended = false;
        std::unordered_map<std::uint64_t, Waiting> waiting = {}; ///< by identity, no partner yet
        std::size_t waitingBytes = 0;
    };

    Status fill(Side &side, std::size_t count);
    static Result<std::optional<TraceRecord>> read(Side &side);
    Status fillBeside(Side &side, const Side &other);
    static void push(Side &side, TraceRecord record, bool isTwin);
    static TraceRecord take(Side &side);
    static std::vector<AlignItem> itemsOf(Side &side, std::size_t most);
    bool meets(const TraceRecord &a, const TraceRecord &b) const;
    Result<bool> isInserted();
    Status realign();
    Status realignFar();
    void pair(TraceRecord a, TraceRecord b);
    void takeOneSided(Side &own, Side &other, bool isA);
    void flush(Side &side, bool isA);

    Side m_a, m_b;
    Visit m_visit;
    std::uint64_t m_ordinal = 0;
    std::uint64_t m_pairs = 0; ///< that met in their order
    bool m_differed = false;
    bool m_isNarrow = false;  ///< a window had fewer records than usual, for their bytes
    bool m_isFlushed = false; ///< records stopped waiting before the end
    /// Call of B less call of A, by the identity of call 0.
    std::unordered_map<std::uint64_t, std::int64_t> m_slips;
};

} // namespace forkpoint
