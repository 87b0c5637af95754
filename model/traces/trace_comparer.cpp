// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/traces/trace_comparer.h"

#include "model/format.h"
#include "model/traces/first_record.h"
#include "model/traces/trace_comparer_state.h"
#include "model/traces/trace_summary.h"

#include <algorithm>
#include <set>

namespace forkpoint {

namespace {

/// Steps of all ranks whose links are kept: 96 bytes each.
constexpr std::size_t MostRankLinks = 1'000'000;

} // namespace

void TraceComparer::State::prepare(const TraceRequest &request)
{
    filter = TraceFilter(request.items);
    result.dialectA = a->dialect();
    result.dialectB = b->dialect();
    result.filesA = a->files();
    result.filesB = b->files();
    plan = planTraces(*a, *b, request.steps);
    result.refusal = plan.refusal;
    result.facts.refused = !plan.refusal.empty();
    result.facts.refusedReason = plan.refusal;
    TraceCoverage &coverage = result.coverage;
    coverage.ranksCompared = plan.ranks.size();
    coverage.ranksOnlyA = plan.onlyA.size();
    coverage.ranksOnlyB = plan.onlyB.size();
    result.ranksOnlyA = plan.onlyA;
    result.ranksOnlyB = plan.onlyB;
    if (!request.items.renames.empty())
        result.diagnostics.push_back(
            {Severity::Warning,
             "rename-unused",
             {},
             {},
             "--rename is not applied to traces: their records meet by the "
             "identity that their tool gave them, expected are equal names"});
    tellLoneRanks(plan.onlyA, "A", "B");
    tellLoneRanks(plan.onlyB, "B", "A");
    coverage.iterationsCompared = plan.iterations;
    coverage.iterationsOnlyA = plan.iterationsOnlyA;
    coverage.iterationsOnlyB = plan.iterationsOnlyB;
    if (request.steps.only && request.steps.only->a != request.steps.only->b)
        coverage.iterationInB = request.steps.only->b;
    links.takeGrid(gridSizesOf(*a));
    coverage.worldSize = links.worldSize();
    for (const TracePlan::Rank &rank : plan.ranks)
        result.ranks.push_back({a->streams()[rank.a].coordinate, {}, 0, 0, {}});
    lastEqual.resize(plan.ranks.size());
    std::set<std::int64_t> compared(plan.iterations.begin(), plan.iterations.end());
    certification.takeTrace(*a, compared, true, result);
    if (coverage.iterationInB)
        compared = {*coverage.iterationInB};
    certification.takeTrace(*b, compared, false, result);
    evidenceBefore.resize(plan.ranks.size());
    equalBefore.resize(plan.ranks.size());
    excludedBefore.resize(plan.ranks.size());
    unreadBefore.resize(plan.ranks.size());
}

/// Rule M19: ranks without a partner, by name as far as there are few.
void TraceComparer::State::tellLoneRanks(const std::vector<TraceCoordinate> &ranks,
                                         const std::string &side, const std::string &other)
{
    constexpr std::size_t Most = 8;
    if (ranks.empty() || result.facts.refused)
        return;
    std::string names;
    for (std::size_t i = 0; i < std::min(Most, ranks.size()); ++i)
        names += (i > 0 ? "; " : "") + ranks[i].toText();
    if (ranks.size() > Most)
        names += "; and " + grouped(ranks.size() - Most) + " more";
    result.diagnostics.push_back({Severity::Warning, "rank-on-one-side", side, names,
                                  (ranks.size() > 1 ? "have" : "has")
                                      + std::string(" no partner in ") + other
                                      + ": nothing of it is compared"});
}

std::string TraceComparer::State::lostWords() const
{
    const bool both = !a->complete() && !b->complete();
    const std::string_view whose = both ? "both sides" : a->complete() ? "B" : "A";
    return "records of " + std::string(whose) + " are lost";
}

void TraceComparer::State::compareUnit(const TracePlan::Unit &planned, const std::stop_token &stop)
{
    if (linksOf != planned.iteration) {
        links.settle(result, linksOf);
        linksOf = planned.iteration;
    }
    const TracePlan::Rank &rank = plan.ranks[planned.rank];
    TraceFeed feedA(*a, rank.a, segmentsIn(rank.segmentsA, planned.iteration), &filter);
    TraceFeed feedB(*b, rank.b, segmentsIn(rank.segmentsB, planned.ofB), &filter);
    Unit unit;
    unit.iteration = planned.iteration;
    TraceWalk walk(
        feedA, feedB, [&](const TraceWalk::Event &event) { takeEvent(event, planned.rank, unit); },
        [&](const TraceWalk::FormedEvent &event) { takeFormed(event, planned.rank, unit); });
    const Status status = walk.run([&] { return stop.stop_requested(); }, *executor);
    takeTally(planned.rank, unit);
    if (!status.ok() && status.error().code == ErrorCode::Cancelled) {
        result.facts.partial = true;
        return;
    }
    if (!status.ok()) {
        result.diagnostics.push_back(toDiagnostic(status.error(), Severity::Error));
        takeUnread(planned.iteration, unit);
    }
    settleLone(planned, feedA.certificate(), feedB.certificate(), status.ok(), unit);
    // How far each was read when one of them failed says nothing of how it was written.
    if (status.ok()) {
        certification.takeUnit(feedA.certificate(), true, planned, result);
        certification.takeUnit(feedB.certificate(), false, planned, result);
    }
    takeFeed(feedA, true);
    takeFeed(feedB, false);
    for (std::string &limit : walk.limits())
        tellUnit(true, planned, std::string(toString(ErrorCode::Limit)), std::move(limit));
    if (rankLinks < MostRankLinks)
        result.ranks[planned.rank].links.push_back(unit.evidence.link(planned.iteration, {}));
    ++rankLinks;
    closeUnit(planned.rank, std::move(unit), feedA.excluded() + feedB.excluded() > 0);
}

/// What was not read of an iteration may be of any stage and micro-batch.
void TraceComparer::State::takeUnread(std::optional<std::int64_t> iteration, Unit &unit)
{
    result.facts.unreadable = true;
    unit.isUnread = true;
    unit.evidence.addUnknown();
    stages.addUnread(iteration);
    for (auto &[key, evidence] : microBatches) {
        if (key.second == iteration)
            evidence.addUnknown();
    }
}

void TraceComparer::State::takeFeed(TraceFeed &feed, bool isA)
{
    result.coverage.duplicates += feed.duplicates();
    (isA ? result.coverage.excludedA : result.coverage.excludedB) += feed.excluded();
    for (Diagnostic &diagnostic : feed.takeDiagnostics())
        result.diagnostics.push_back(std::move(diagnostic));
}

void TraceComparer::State::tellUnit(bool isA, const TracePlan::Unit &planned, std::string code,
                                    std::string text)
{
    result.diagnostics.push_back({Severity::Warning, std::move(code), isA ? "A" : "B",
                                  unitPlace(planned, isA, result), std::move(text)});
}

/// `isPart`: records before what differs were left out by request, and vouch for nothing.
void TraceComparer::State::closeUnit(std::size_t rank, Unit unit, bool isPart)
{
    RankComparison &own = result.ranks[rank];
    result.facts.incomplete |= unit.hasLost;
    const auto isLoss = [](const std::optional<RankDivergence> &first) {
        return first && first->kind == DivergenceKind::Missing;
    };
    if (own.first && !isLoss(own.first))
        return;
    // What may have been lost stands until something differs.
    const bool isBehindLoss = own.first.has_value();
    const bool isFirst = unit.first && (!isBehindLoss || !isLoss(unit.first));
    excludedBefore[rank] = excludedBefore[rank] || isPart;
    const bool isBehindUnread = unreadBefore[rank];
    unreadBefore[rank] = isBehindUnread || unit.isUnread;
    const Standing &standing = isFirst ? unit.atFirst : unit.now;
    EvidenceSum before = evidenceBefore[rank];
    before.add(standing.evidence);
    equalBefore[rank] += standing.equal;
    if (standing.last)
        lastEqual[rank] = standing.last;
    evidenceBefore[rank] = before;
    if (!isFirst)
        return;
    const bool hasLost = unit.hasLost, hasNoOrder = unit.hasNoOrder;
    own.first = std::move(unit.first);
    findRivals(*own.first, unit.unordered);
    own.first->equalBefore = equalBefore[rank];
    own.first->after = lastEqual[rank];
    own.first->doubt = !lossless() ? lostWords()
        : isBehindUnread           ? "a side could not be read to its end before it"
        : isBehindLoss || hasLost  ? "records before it may be lost"
        : hasNoOrder               ? "a side does not tell the order of execution"
        : excludedBefore[rank]     ? "records were left out by request"
                                   : doubtOf(before);
}

/// Where in its tensors the record differs that is shown.
void TraceComparer::State::placeFirst(const std::stop_token &stop)
{
    RankDivergence &first = *result.ranks[*result.firstRank].first;
    auto where = locateLeaves(*a, *b, first.leaves, [&] { return stop.stop_requested(); });
    if (where.ok())
        first.where = std::move(*where);
    else if (where.error().code != ErrorCode::Cancelled)
        result.diagnostics.push_back(toDiagnostic(where.error(), Severity::Warning));
}

/// The second look, a rank at a time; false when there is nothing more to ask.
bool TraceComparer::State::inquire(const std::stop_token &stop)
{
    if (!inquiry) {
        links.settle(result, linksOf);
        result.firstRank = chooseFirst(result);
        if (!result.firstRank)
            return false;
        placeFirst(stop);
        inquiry.emplace(*a, *b, plan, filter, result);
    }
    return inquiry->advance([&] { return stop.stop_requested(); });
}

void TraceComparer::State::finish()
{
    certification.finish(result);
    result.stages = stages.take();
    for (const auto &[key, evidence] : microBatches) {
        if (result.microBatches.empty() || result.microBatches.back().number != key.first)
            result.microBatches.push_back({key.first, {}});
        result.microBatches.back().links.push_back(evidence.link(key.second, {}));
    }
    const auto tellLimit = [&](bool isReached, std::size_t most, const std::string &what) {
        if (isReached)
            result.diagnostics.push_back({Severity::Note,
                                          std::string(toString(ErrorCode::Limit)),
                                          {},
                                          {},
                                          "the timeline shows the first " + grouped(most) + " "
                                              + what + " alone; all were compared"});
    };
    tellLimit(microBatches.size() == MostMicroBatches, MostMicroBatches, "micro-batches");
    tellLimit(rankLinks > MostRankLinks, MostRankLinks, "steps of ranks");
    VerdictFacts &facts = result.facts;
    const EvidenceSum &evidence = result.coverage.evidence;
    facts.strength = evidence.compared == 0 ? Strength::None : evidence.weakestEqual;
    facts.incomplete |=
        !lossless() || result.coverage.duplicates > 0 || !plan.onlyA.empty() || !plan.onlyB.empty();
    facts.hole |= plan.hole;
    facts.notComparable |= evidence.notComparable > 0;
    facts.valuesMissing |= evidence.nothing + result.coverage.vacuous > 0;
    const bool isEmpty =
        result.coverage.records + result.coverage.onlyA + result.coverage.onlyB == 0;
    facts.nothingInScope |= isEmpty && result.coverage.excludedA + result.coverage.excludedB > 0;
    facts.coverage.recordsCompared = result.coverage.records - result.coverage.vacuous;
    facts.coverage.recordsTotal =
        result.coverage.records + result.coverage.onlyA + result.coverage.onlyB;
    addTraceFindings(result, plan.recipe);
    if (inquiry) {
        for (Finding &finding : inquiry->findings())
            result.findings.push_back(std::move(finding));
    }
    result.finished = true;
}

TraceComparer::TraceComparer(std::shared_ptr<const Trace> a, std::shared_ptr<const Trace> b,
                             const TraceRequest &request, Executor *executor)
    : m_state(std::make_unique<State>())
{
    m_state->executor = executor ? executor : &m_state->serial;
    m_state->a = std::move(a);
    m_state->b = std::move(b);
    m_state->prepare(request);
}

TraceComparer::~TraceComparer() = default;

bool TraceComparer::advance(std::stop_token stop)
{
    State &state = *m_state;
    if (state.result.finished || stop.stop_requested())
        return !state.result.finished;
    if (state.result.facts.refused) {
        state.result.finished = true;
        return false;
    }
    if (state.next < state.plan.units.size()) {
        state.compareUnit(state.plan.units[state.next], stop);
        state.next += stop.stop_requested() ? 0u : 1u;
        return true;
    }
    if (state.inquire(stop))
        return true;
    state.finish();
    return false;
}

std::pair<std::uint64_t, std::uint64_t> TraceComparer::progress() const
{
    return {m_state->next, m_state->plan.units.size()};
}

const TraceComparison &TraceComparer::result() const
{
    return m_state->result;
}

} // namespace forkpoint
