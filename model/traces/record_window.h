// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/progress.h"
#include "model/result.h"
#include "model/traces/leaf_difference.h"
#include "model/traces/record_row.h"
#include "model/traces/trace.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace forkpoint {

/// Which records of two traces to list: of one rank and iteration, around what is sought.
struct RecordQuery
{
    enum class Seek : std::uint8_t {
        FirstDifference, ///< else the first record
        NextDifference,  ///< behind the row `from`
        PreviousDifference,
        At,      ///< the row `from`, else the next one
        Before,  ///< the last row before `from`
        NextInA, ///< behind the row `from`: a record that A has, of the name and stage sought
        NextInB,
    };

    /// What the record is that is looked for; empty: any.
    struct Sought
    {
        std::string stage = {}, name = {};
        std::optional<std::int64_t> microBatch = {};

        bool isAny() const { return *this == Sought(); }
        bool operator==(const Sought &) const = default;
    };

    /// Of both traces side by side, or of one alone, set against nothing.
    enum class Of : std::uint8_t { Both, A, B };

    Of of = Of::Both;
    std::size_t rank = 0; ///< into TraceComparison::ranks; of one alone into Trace::streams()
    std::optional<std::int64_t> iteration;
    std::string stage; ///< lists records of it alone; empty: all
    Seek seek = Seek::FirstDifference;
    std::uint64_t from = 0; ///< a RecordRow::number
    Sought sought;

    bool operator==(const RecordQuery &) const = default;
};

/// How many rows of each kind there are, of those that the query lists.
struct RecordCounts
{
    std::uint64_t rows = 0, different = 0, moved = 0, onlyA = 0, onlyB = 0;
    /// No difference, without being equal: weak evidence, two kinds of digest, no value.
    std::uint64_t noneSeen = 0, notComparable = 0, noValue = 0;
    std::uint64_t artifacts = 0;

    std::uint64_t differences() const { return different + moved + onlyA + onlyB; }
    void add(RecordStatus status);
};

/// Rows around what was sought. Of a rank and iteration of any length a bounded number is kept.
struct RecordWindow
{
    static constexpr std::size_t RowsBefore = 100, RowsAfter = 300;

    RecordQuery query;
    TraceCoordinate rank;
    std::vector<RecordRow> rows;
    std::optional<std::size_t> found; ///< into rows: what was sought; nothing: it is not there
    std::uint64_t rowsBefore = 0;     ///< listed rows before these
    RecordCounts counts;              ///< of the whole list; of what was read, while incomplete
    std::vector<std::string> stages;  ///< of all records of the rank and iteration, causal order
    bool inA = false, inB = false;    ///< whether that side recorded the iteration
    bool complete = false;
};

/// Reads both sides once, as the comparison aligned them, and keeps a window. Memory is bounded by
/// that of TraceWalk and by the window.
class RecordWindowBuilder
{
public:
    /// The trace that the query leaves out may be null.
    RecordWindowBuilder(std::shared_ptr<const Trace> a, std::shared_ptr<const Trace> b,
                        RecordQuery query);
    ~RecordWindowBuilder();
    RecordWindowBuilder(const RecordWindowBuilder &) = delete;
    RecordWindowBuilder &operator=(const RecordWindowBuilder &) = delete;

    /// Some thousand records; false once all are read. An error where a file cannot be read, or
    /// there is no such rank.
    Result<bool> advance(std::stop_token stop);
    Progress progress() const; ///< items are records of both sides
    bool hasFound() const;     ///< what is sought, so that it stays
    const RecordWindow &window() const;

private:
    struct State;
    std::unique_ptr<State> m_state;
};

/// The places of a row's records in their files.
struct RecordPlaces
{
    std::optional<TracePlace> a, b;
    std::vector<LeafPair> leaves; ///< tensors whose difference is to be placed
};

/// Their sources, verbatim, as far as they are text, and where their tensors differ.
struct RecordText
{
    static constexpr std::size_t MostBytes = 256 * 1024; ///< of each side

    struct Side
    {
        std::string file;
        std::string text;   ///< empty of a file that is a table
        bool isCut = false; ///< there is more
    };
    std::optional<Side> a, b;
    std::vector<LeafDifference> where;
    std::string whyNowhere; ///< why the difference could not be placed, though there are leaves
};

/// An error where a source cannot be read, or it was cancelled. Of a trace without a place nothing is
/// read.
Result<RecordText> readRecordText(const Trace &a, const Trace &b, const RecordPlaces &places,
                                  const std::function<bool()> &stopped);

} // namespace forkpoint
