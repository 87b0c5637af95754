// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/executor.h"
#include "model/traces/feed_ahead.h"
#include "model/traces/trace_alignment.h"
#include "model/traces/trace_evidence.h"
#include "model/traces/trace_feed.h"

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace forkpoint {

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

        /// Moved where places mean something: both sides tell the order of execution, and it is no item of
        /// a state (weights, a batch), which a tool lists as a dictionary has them.
        bool reordered() const;
    };
    using Visit = std::function<void(const Event &)>;

    /// A pair of one form, in its order, that need not be made: of the same digests, or behind the
    /// first pair that differed.
    struct FormedEvent
    {
        const FormedRecord &a, &b;
        std::uint64_t ordinal = 0;
        bool afterSlip = false;
    };
    using VisitFormed = std::function<void(const FormedEvent &)>;

    /// `visitFormed`: for pairs of one form; without it they are made, and visited like all others.
    TraceWalk(TraceFeed &a, TraceFeed &b, Visit visit, VisitFormed visitFormed = {})
        : m_a{a},
          m_b{b},
          m_visit(std::move(visit)),
          m_visitFormed(std::move(visitFormed))
    {
    }

    /// Calls visit for every record of both; those without a partner come when that is known.
    Status run(const std::function<bool()> &stopped);
    /// The same, and the records of A are read ahead by a second thread where files are to be read.
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
        FoundRecord found = {};      ///< the record that was read last
        std::deque<Ahead> ahead = {};
        std::size_t aheadBytes = 0;
        bool ended = false;
        std::unordered_map<std::uint64_t, Waiting> waiting = {}; ///< by identity, no partner yet
        std::size_t waitingBytes = 0;
    };

    Status fill(Side &side, std::size_t count);
    static Status read(Side &side);
    static void push(Side &side, TraceRecord record);
    Result<bool> advanceFormed();
    static TraceRecord take(Side &side);
    static std::vector<AlignItem> itemsOf(Side &side, std::size_t most);
    bool meets(const TraceRecord &a, const TraceRecord &b) const;
    std::int64_t slipOf(std::uint64_t keyHash) const;
    Result<bool> isInserted();
    Status realign();
    Status realignFar();
    void pair(TraceRecord a, TraceRecord b);
    void takeOneSided(Side &own, Side &other, bool isA);
    void flush(Side &side, bool isA);

    Side m_a, m_b;
    Visit m_visit;
    VisitFormed m_visitFormed;
    std::uint64_t m_ordinal = 0;
    std::uint64_t m_pairs = 0; ///< that met in their order
    bool m_differed = false;
    bool m_isNarrow = false;  ///< a window had fewer records than usual, for their bytes
    bool m_isFlushed = false; ///< records stopped waiting before the end
    /// Call of B less call of A, by the identity of call 0.
    std::unordered_map<std::uint64_t, std::int64_t> m_slips;
};

} // namespace forkpoint
