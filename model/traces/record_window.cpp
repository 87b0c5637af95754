// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/traces/record_window.h"

#include "model/traces/trace_plan.h"
#include "model/traces/trace_rules.h"
#include "model/traces/trace_stage.h"
#include "model/traces/trace_walk.h"

#include <algorithm>
#include <deque>
#include <set>
#include <utility>

namespace forkpoint {

namespace {

constexpr std::size_t StepsAtOnce = 2048;
/// Stages remembered of one iteration: a dialect has a dozen, a hostile file any number.
constexpr std::size_t MostStages = 64;

using Seek = RecordQuery::Seek;

std::uint64_t recordsOf(const TraceStream &stream, std::optional<std::int64_t> iteration)
{
    std::uint64_t records = 0;
    for (const TraceSegment &segment : stream.segments)
        records += segment.iteration == iteration ? segment.records : 0;
    return records;
}

} // namespace

void RecordCounts::add(RecordStatus status)
{
    switch (status) {
    case RecordStatus::Different: ++different; break;
    case RecordStatus::Moved: ++moved; break;
    case RecordStatus::OnlyA: ++onlyA; break;
    case RecordStatus::OnlyB: ++onlyB; break;
    case RecordStatus::NoneSeen: ++noneSeen; break;
    case RecordStatus::NotComparable: ++notComparable; break;
    case RecordStatus::NoValue: ++noValue; break;
    case RecordStatus::Artifact: ++artifacts; break;
    case RecordStatus::Equal:
    case RecordStatus::Open:
    case RecordStatus::NotCompared: break;
    }
}

struct RecordWindowBuilder::State
{
    std::shared_ptr<const Trace> a, b;
    std::optional<TraceFeed> feedA, feedB;
    std::optional<TraceWalk> walk;
    RecordWindow window;
    std::deque<RecordRow> rows;   ///< around the anchor, or from the first
    std::deque<RecordRow> recent; ///< the last few behind these, while a later anchor may come
    std::optional<std::uint64_t> anchor; ///< number of the row that was found
    std::set<std::string> stages;
    std::uint64_t read = 0, total = 0;
    std::uint64_t listed = 0; ///< rows that were appended

    bool isAlone() const { return window.query.of != RecordQuery::Of::Both; }
    Status open();
    Status openAlone();
    void visit(const TraceWalk::Event &event);
    void append(RecordRow row);
    RecordRow *placeOf(std::uint64_t number);
    RecordRow rowOf(const TraceWalk::Event &event, bool isKept) const;
    bool hasRoom() const;
    bool isListed(const TraceWalk::Event &event) const;
    bool isSought(const RecordRow &row) const;
    bool mayMoveOn() const;
    void publish();
};

/// Beside the trace stands nothing: a feed without segments.
Status RecordWindowBuilder::State::openAlone()
{
    const bool isA = window.query.of == RecordQuery::Of::A;
    const Trace *trace = isA ? a.get() : b.get();
    const std::size_t rank = window.query.rank;
    if (!trace || rank >= trace->streams().size())
        return Error{ErrorCode::Usage, {}, {}, "there is no such rank in the trace"};
    const TraceStream &stream = trace->streams()[rank];
    const std::optional<std::int64_t> iteration = window.query.iteration;
    std::vector<std::size_t> segments;
    for (std::size_t i = 0; i < stream.segments.size(); ++i) {
        if (stream.segments[i].iteration == iteration)
            segments.push_back(i);
    }
    window.rank = stream.coordinate;
    total = recordsOf(stream, iteration);
    (isA ? window.inA : window.inB) = total > 0;
    feedA.emplace(*trace, rank, isA ? segments : std::vector<std::size_t>(), nullptr);
    feedB.emplace(*trace, rank, isA ? std::vector<std::size_t>() : segments, nullptr);
    walk.emplace(*feedA, *feedB, [this](const TraceWalk::Event &event) { visit(event); });
    return {};
}

Status RecordWindowBuilder::State::open()
{
    if (isAlone())
        return openAlone();
    const TracePlan plan = planTraces(*a, *b, {});
    if (window.query.rank >= plan.ranks.size())
        return Error{ErrorCode::Usage,
                     {},
                     {},
                     plan.refusal.empty() ? "there is no such rank on both sides" : plan.refusal};
    const TracePlan::Rank &rank = plan.ranks[window.query.rank];
    const std::optional<std::int64_t> iteration = window.query.iteration;
    window.rank = a->streams()[rank.a].coordinate;
    const std::uint64_t inA = recordsOf(a->streams()[rank.a], iteration),
                        inB = recordsOf(b->streams()[rank.b], iteration);
    window.inA = inA > 0;
    window.inB = inB > 0;
    total = inA + inB;
    feedA.emplace(*a, rank.a, segmentsIn(rank.segmentsA, iteration), nullptr);
    feedB.emplace(*b, rank.b, segmentsIn(rank.segmentsB, iteration), nullptr);
    walk.emplace(*feedA, *feedB, [this](const TraceWalk::Event &event) { visit(event); });
    return {};
}

bool RecordWindowBuilder::State::isListed(const TraceWalk::Event &event) const
{
    const std::string &wanted = window.query.stage;
    return wanted.empty() || (event.a && event.a->stage == wanted)
        || (event.b && event.b->stage == wanted);
}

void RecordWindowBuilder::State::visit(const TraceWalk::Event &event)
{
    const bool isSettling = !event.opened && (event.moved || !event.a || !event.b);
    if (!isSettling || event.moved)
        read += (event.a && event.b && !event.moved) ? 2u : 1u;
    for (const TraceRecord *record : {event.a, event.b}) {
        if (record && !record->stage.empty() && stages.size() < MostStages)
            stages.insert(record->stage.substr(0, ListedRecord::MostCharacters));
    }
    if (!isListed(event))
        return;
    // A record whose partner came late, or which has none: its row is there already, if it is kept.
    RecordRow *const place = isSettling ? placeOf(event.ordinal) : nullptr;
    RecordRow row = rowOf(event, place || (!isSettling && (mayMoveOn() || hasRoom())));
    if (!event.opened)
        window.counts.add(row.status);
    if (place)
        *place = std::move(row);
    else if (!isSettling)
        append(std::move(row));
}

/// The records themselves are copied only into a row that stays.
RecordRow RecordWindowBuilder::State::rowOf(const TraceWalk::Event &event, bool isKept) const
{
    RecordRow row;
    row.number = event.ordinal;
    row.moved = event.moved;
    row.afterSlip = event.afterSlip;
    if (event.a && event.b)
        row.evidence = evidenceOf(*event.a, *event.b);
    row.status = statusOf(event.a, event.b, row.evidence, event.reordered());
    if (isAlone())
        row.status = RecordStatus::NotCompared;
    else if (event.opened && isDifference(row.status))
        row.status = RecordStatus::Open;
    if (isKept && event.a)
        row.a = forkpoint::listed(*event.a);
    if (isKept && event.b)
        row.b = forkpoint::listed(*event.b);
    return row;
}

RecordRow *RecordWindowBuilder::State::placeOf(std::uint64_t number)
{
    for (std::deque<RecordRow> *list : {&rows, &recent}) {
        const auto place = std::lower_bound(
            list->begin(), list->end(), number,
            [](const RecordRow &each, std::uint64_t wanted) { return each.number < wanted; });
        if (place != list->end() && place->number == number)
            return &*place;
    }
    return nullptr;
}

/// Whether a row is kept where it comes, whatever was sought.
bool RecordWindowBuilder::State::hasRoom() const
{
    const std::size_t most = RecordWindow::RowsAfter + (anchor ? RecordWindow::RowsBefore + 1 : 0);
    return recent.empty() && rows.size() < most;
}

bool RecordWindowBuilder::State::isSought(const RecordRow &row) const
{
    const RecordQuery &query = window.query;
    const RecordQuery::Sought &sought = query.sought;
    const auto isNamed = [&](const std::optional<ListedRecord> &side) {
        return side && (sought.name.empty() || side->record.name == sought.name)
            && (sought.stage.empty() || side->record.stage == sought.stage)
            && (!sought.microBatch || side->record.microBatch == sought.microBatch);
    };
    if (!isNamed(row.a) && !isNamed(row.b))
        return false;
    // What has no partner yet never gets one at its place: it differs, or its order does.
    const bool differs = isDifference(row.status) || row.status == RecordStatus::Open;
    switch (query.seek) {
    case Seek::FirstDifference: return differs || isAlone();
    case Seek::NextDifference: return differs && row.number > query.from;
    case Seek::PreviousDifference: return differs && row.number < query.from;
    case Seek::At: return row.number >= query.from;
    case Seek::Before: return row.number < query.from;
    case Seek::NextInA: return row.number > query.from && isNamed(row.a);
    case Seek::NextInB: return row.number > query.from && isNamed(row.b);
    }
    return false;
}

/// Whether a later row would be a better answer than the one that was found.
bool RecordWindowBuilder::State::mayMoveOn() const
{
    const Seek seek = window.query.seek;
    return !anchor || seek == Seek::PreviousDifference || seek == Seek::Before;
}

void RecordWindowBuilder::State::append(RecordRow row)
{
    ++listed;
    ++window.counts.rows;
    const bool found = mayMoveOn() && isSought(row);
    if (found) {
        anchor = row.number;
        if (!recent.empty())
            rows = std::exchange(recent, {});
        while (rows.size() > RecordWindow::RowsBefore)
            rows.pop_front();
        window.rowsBefore = listed - 1 - rows.size();
        rows.push_back(std::move(row));
        return;
    }
    if (hasRoom()) {
        rows.push_back(std::move(row));
        return;
    }
    if (!mayMoveOn())
        return;
    recent.push_back(std::move(row));
    if (recent.size() > RecordWindow::RowsBefore)
        recent.pop_front();
}

void RecordWindowBuilder::State::publish()
{
    window.rows.assign(rows.begin(), rows.end());
    window.found.reset();
    for (std::size_t i = 0; anchor && i < rows.size(); ++i) {
        if (rows[i].number == *anchor)
            window.found = i;
    }
    window.stages.assign(stages.begin(), stages.end());
    std::stable_sort(
        window.stages.begin(), window.stages.end(),
        [](const std::string &x, const std::string &y) { return causalPlace(x) < causalPlace(y); });
}

RecordWindowBuilder::RecordWindowBuilder(std::shared_ptr<const Trace> a,
                                         std::shared_ptr<const Trace> b, RecordQuery query)
    : m_state(std::make_unique<State>())
{
    m_state->a = std::move(a);
    m_state->b = std::move(b);
    m_state->window.query = std::move(query);
}

RecordWindowBuilder::~RecordWindowBuilder() = default;

Result<bool> RecordWindowBuilder::advance(std::stop_token stop)
{
    State &state = *m_state;
    if (!state.walk)
        FP_CHECK(state.open());
    for (std::size_t i = 0; i < StepsAtOnce; ++i) {
        if (stop.stop_requested())
            return Error{ErrorCode::Cancelled, {}, {}, "was cancelled"};
        FP_TRY(const bool more, state.walk->advance());
        if (more)
            continue;
        state.window.complete = true;
        break;
    }
    return !state.window.complete;
}

Progress RecordWindowBuilder::progress() const
{
    Progress progress;
    progress.phase = "reading records";
    progress.item = m_state->window.rank.toText();
    progress.itemsDone = std::min(m_state->read, m_state->total);
    progress.itemsTotal = m_state->total;
    return progress;
}

bool RecordWindowBuilder::hasFound() const
{
    return !m_state->mayMoveOn();
}

const RecordWindow &RecordWindowBuilder::window() const
{
    m_state->publish();
    return m_state->window;
}

Result<RecordText> readRecordText(const Trace &a, const Trace &b, const RecordPlaces &places,
                                  const std::function<bool()> &stopped)
{
    RecordText result;
    const auto read = [](const Trace &trace, const TracePlace &place,
                         std::optional<RecordText::Side> &to) -> Status {
        if (place.file >= trace.files().size())
            return Error{ErrorCode::Changed, {}, {}, "the trace has fewer files than before"};
        RecordText::Side side;
        side.file = trace.files()[place.file];
        if (place.row == 0) {
            FP_TRY(side.text, trace.sourceText(place, RecordText::MostBytes));
            side.isCut = place.size > side.text.size();
        }
        to = std::move(side);
        return {};
    };
    if (places.a)
        FP_CHECK(read(a, *places.a, result.a));
    if (places.b)
        FP_CHECK(read(b, *places.b, result.b));
    auto where = locateLeaves(a, b, places.leaves, stopped);
    if (where.ok())
        result.where = std::move(*where);
    else if (where.error().code == ErrorCode::Cancelled)
        return std::move(where).error();
    else
        result.whyNowhere = where.error().message();
    return result;
}

} // namespace forkpoint
