// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/trace_comparer.h"

#include "model/format.h"
#include "model/formed_tally.h"
#include "model/hash_set.h"
#include "model/lone_records.h"
#include "model/stage_table.h"
#include "model/trace_certification.h"
#include "model/trace_filter.h"
#include "model/trace_inquiry.h"
#include "model/trace_links.h"
#include "model/trace_plan.h"
#include "model/trace_summary.h"
#include "model/trace_walk.h"

#include <algorithm>
#include <array>
#include <functional>
#include <set>

namespace forkpoint {

namespace {

/// Values remembered to tell where an input came from.
constexpr std::size_t MostValues = 1'000'000;
/// Micro-batches of all iterations whose links are kept.
constexpr std::size_t MostMicroBatches = 200'000;
/// Steps of all ranks whose links are kept: 96 bytes each.
constexpr std::size_t MostRankLinks = 1'000'000;
/// Places without a partner whose standing is remembered.
constexpr std::size_t MostOpened = 4096;

/// What tells one value from another, wherever it was seen.
std::size_t valueKey(std::string_view dtype, std::string_view digest)
{
    std::array<char, 256> text; // longer ones need memory of their own
    const std::size_t size = dtype.size() + 1 + digest.size();
    if (size > text.size())
        return std::hash<std::string>()(std::string(dtype) + ' ' + std::string(digest));
    const auto space = std::copy_n(dtype.data(), dtype.size(), text.begin());
    *space = ' ';
    std::copy_n(digest.data(), digest.size(), space + 1);
    return std::hash<std::string_view>()({text.data(), size});
}

/// Whether a record without any value is a hole (rule M15), and no mark.
bool tellsValues(RecordRole role)
{
    switch (role) {
    case RecordRole::Tensor:
    case RecordRole::Op:
    case RecordRole::Collective:
    case RecordRole::Values: return true;
    default: return false; // half a collective may be of a rank that has nothing to give, or to get
    }
}

} // namespace

struct TraceComparer::State
{
    std::shared_ptr<const Trace> a, b;
    SerialExecutor serial;
    Executor *executor = &serial;
    TracePlan plan;
    std::size_t next = 0;                ///< into plan.units
    std::optional<TraceInquiry> inquiry; ///< after them, where the traces part
    Certification certification;
    TraceFilter filter{{}};
    FormedTally tally; ///< of the unit at hand
    TraceComparison result;
    StageTable stages;
    std::size_t rankLinks = 0; ///< that there were, kept or not
    CollectiveLinks links;     ///< of the iteration at hand
    std::optional<std::int64_t> linksOf;
    /// By number and iteration.
    std::map<std::pair<std::int64_t, std::optional<std::int64_t>>, LinkSum> microBatches;

    /// What is known to be equal up to some place of a unit.
    struct Standing
    {
        std::uint64_t equal = 0; ///< records
        std::optional<RecordName> last;
        EvidenceSum evidence;
    };
    /// One iteration of one rank.
    struct Unit
    {
        std::optional<std::int64_t> iteration;
        std::optional<RankDivergence> first;
        std::uint64_t firstOrdinal = 0;
        Standing now, atFirst;
        LinkSum evidence; ///< of all its records
        LoneRecords lone;
        bool hasLost = false;                     ///< records that one side may have lost
        bool isUnread = false;                    ///< one side was not read to its end
        bool hasNoOrder = false;                  ///< records that tell none
        std::map<std::uint64_t, Standing> opened; ///< where a record has no partner yet
        std::map<std::string, EvidenceSum> begun; ///< inputs of collectives by group
        HashSet values;                           ///< hashes of those that both have seen alike
    };
    std::vector<std::optional<RecordName>> lastEqual; ///< by rank, over the iterations
    std::vector<EvidenceSum> evidenceBefore;          ///< by rank
    std::vector<std::uint64_t> equalBefore;           ///< by rank
    std::vector<bool> excludedBefore;                 ///< by rank: the request left records out
    std::vector<bool> unreadBefore;                   ///< by rank: a side was not read to its end

    void prepare(const TraceRequest &request);
    void tellLoneRanks(const std::vector<TraceCoordinate> &ranks, const std::string &side,
                       const std::string &other);
    bool lossless() const { return a->complete() && b->complete(); }
    std::string lostWords() const;
    void compareUnit(const TracePlan::Unit &planned, const std::stop_token &stop);
    void takeEvent(const TraceWalk::Event &event, std::size_t rank, Unit &unit);
    void takePair(const TraceWalk::Event &event, std::size_t rank, Unit &unit);
    void takeFormed(const TraceWalk::FormedEvent &event, std::size_t rank, Unit &unit);
    void takeTally(std::size_t rank, Unit &unit);
    void countPairs(const TraceRecord &like, const EvidenceSum &evidence, std::uint64_t pairs,
                    std::size_t rank, Unit &unit);
    void noteDifference(const EvidenceSum &evidence);
    static void rememberValues(const FormedRecord &formed, Unit &unit);
    static void rememberValue(std::string_view dtype, std::string_view digest, Unit &unit);
    void takeLone(const LoneRecords::Sum &lone, const std::string &loss, Unit &unit);
    void settleLone(const TracePlan::Unit &planned, const TraceCertificate &certificateA,
                    const TraceCertificate &certificateB, bool isWhole, Unit &unit);
    std::string lossOf(const LoneRecords::Sum &lone, const TracePlan::Unit &planned,
                       const TraceCertificate &other, const Unit &unit) const;
    void count(std::optional<std::int64_t> microBatch, std::optional<std::int64_t> iteration,
               const EvidenceSum &evidence, std::uint64_t oneSided, Unit &unit);
    void propose(RankDivergence divergence, std::uint64_t ordinal, Unit &unit) const;
    void takeUnread(std::optional<std::int64_t> iteration, Unit &unit);
    void takeFeed(TraceFeed &feed, bool isA);
    void tellUnit(bool isA, const TracePlan::Unit &planned, std::string code, std::string text);
    Classification classOf(const TraceRecord &record, const RecordEvidence &evidence,
                           const TraceRecord &other, const Unit &unit) const;
    void closeUnit(std::size_t rank, Unit unit, bool isPart);
    void placeFirst(const std::stop_token &stop);
    bool inquire(const std::stop_token &stop);
    void finish();
};

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

/// The earliest one counts; a value at the same place before a change of order.
void TraceComparer::State::propose(RankDivergence divergence, std::uint64_t ordinal,
                                   Unit &unit) const
{
    // A record that may have been lost is no difference: what is one comes before it.
    const auto isLost = [](const RankDivergence &each) {
        return each.kind == DivergenceKind::Missing;
    };
    if (unit.first && isLost(*unit.first) == isLost(divergence) && unit.firstOrdinal <= ordinal)
        return;
    if (unit.first && isLost(divergence) && !isLost(*unit.first))
        return;
    unit.first = std::move(divergence);
    unit.firstOrdinal = ordinal;
    const auto opened = unit.opened.find(ordinal);
    unit.atFirst = opened == unit.opened.end() ? unit.now : opened->second;
}

/// Rule M9; for the end of a collective with the inputs of its begin, and for an input of another
/// value with the question where that value came from (rule M13).
Classification TraceComparer::State::classOf(const TraceRecord &record,
                                             const RecordEvidence &evidence,
                                             const TraceRecord &other, const Unit &unit) const
{
    EvidenceSum inputs = evidence.inputs;
    if (record.role == RecordRole::CollectiveEnd) {
        const auto begin = unit.begun.find(record.group);
        if (begin != unit.begun.end())
            inputs = begin->second;
    }
    Classification found = classify(record, inputs, evidence.outputs);
    if (found.divergenceClass != DivergenceClass::Receiver || unit.values.empty())
        return found;
    judgeReceived(found, record, other, [&](const Observation &input) {
        return unit.values.contains(valueKey(input.dtype, input.digest));
    });
    return found;
}

/// So many pairs of one kind, with the evidence of all.
void TraceComparer::State::countPairs(const TraceRecord &like, const EvidenceSum &evidence,
                                      std::uint64_t pairs, std::size_t rank, Unit &unit)
{
    result.coverage.records += pairs;
    result.coverage.vacuous += tellsValues(like.role) && evidence.compared == 0 ? pairs : 0u;
    result.ranks[rank].records += pairs;
    result.coverage.evidence.add(evidence);
    stages.add(like, evidence);
    count(like.microBatch, like.iteration, evidence, 0, unit);
}

void TraceComparer::State::noteDifference(const EvidenceSum &evidence)
{
    VerdictFacts &facts = result.facts;
    if (evidence.evidence != Evidence::Different)
        return;
    facts.bitsDiffer |= evidence.strongestDifferent > Strength::Metadata;
    facts.shapeOrDtypeDiffers |= evidence.layoutDiffers;
    facts.differenceStrength = std::max(facts.differenceStrength, evidence.strongestDifferent);
}

/// Pairs of one form: counted, and made where one of them is more than a count.
void TraceComparer::State::takeFormed(const TraceWalk::FormedEvent &event, std::size_t rank,
                                      Unit &unit)
{
    const bool mayDiffer = unit.first && unit.first->kind != DivergenceKind::Missing;
    const FormedTally::Use use = tally.take(event, mayDiffer);
    if (use == FormedTally::Use::Made) {
        const TraceRecord inA = toRecord(event.a), inB = toRecord(event.b);
        takeEvent({&inA, &inB, event.ordinal, false, false, event.afterSlip}, rank, unit);
        return;
    }
    unit.lone.meet(event.ordinal);
    unit.hasNoOrder = unit.hasNoOrder || !event.a.form->record.isPlaced;
    if (!unit.first && use == FormedTally::Use::Counted)
        rememberValues(event.a, unit);
}

/// What was counted since the last pair that was made.
void TraceComparer::State::takeTally(std::size_t rank, Unit &unit)
{
    if (tally.isEmpty())
        return;
    std::uint64_t equal = 0;
    for (const FormedTally::Sum &sum : tally.sums()) {
        result.coverage.artifacts += sum.artifacts;
        if (sum.pairs == 0)
            continue;
        TraceRecord like = *sum.like;
        like.iteration = unit.iteration;
        EvidenceSum all;
        all.add(sum.one, sum.pairs);
        countPairs(like, all, sum.pairs, rank, unit);
        noteDifference(all);
        result.ranks[rank].different += all.evidence == Evidence::Different ? sum.pairs : 0u;
        if (unit.first)
            continue;
        unit.now.evidence.add(all);
        unit.now.equal += sum.pairs;
        equal += all.evidence == Evidence::Equal ? sum.pairs : 0u;
    }
    if (equal == 0)
        return;
    RecordName &last = unit.now.last.emplace(nameOf(tally.lastEqual().form->record));
    last.iteration = tally.lastEqual().iteration;
    last.call = tally.lastEqual().call;
}

void TraceComparer::State::takePair(const TraceWalk::Event &event, std::size_t rank, Unit &unit)
{
    const TraceRecord &record = *event.a;
    if (isArtifact(record)) {
        ++result.coverage.artifacts;
        return;
    }
    const RecordEvidence evidence = evidenceOf(record, *event.b);
    result.coverage.artifacts += evidence.outputsTooEarly ? 1u : 0u;
    const EvidenceSum all = evidence.all();
    countPairs(record, all, 1, rank, unit);
    result.coverage.metadataOnlyDifferences +=
        all.metadataDiffers && all.evidence != Evidence::Different ? 1u : 0u;
    if (record.role == RecordRole::CollectiveBegin)
        unit.begun.insert_or_assign(record.group, evidence.inputs);
    links.see(record, evidence.inputs, rank, result.ranks[rank].coordinate);
    const bool reordered = event.reordered();
    result.coverage.moved += reordered ? 1u : 0u;
    result.coverage.unordered += event.moved && !reordered ? 1u : 0u;
    if (all.evidence == Evidence::Different || reordered) {
        const bool differs = all.evidence == Evidence::Different;
        result.ranks[rank].different += differs ? 1u : 0u;
        noteDifference(all);
        result.facts.orderDiffers |= reordered;
        if (!differs)
            result.facts.differenceStrength =
                std::max(result.facts.differenceStrength, Strength::Metadata);
        RankDivergence divergence;
        divergence.record = nameOf(record);
        divergence.record.placeA = record.place;
        divergence.record.placeB = event.b->place;
        divergence.kind = differs ? DivergenceKind::Value : DivergenceKind::Order;
        divergence.afterSlip = event.afterSlip;
        divergence.strength = differs ? all.strongestDifferent : Strength::Metadata;
        divergence.group = record.group;
        divergence.key = record.key;
        divergence.role = record.role;
        if (differs)
            divergence.classification = classOf(record, evidence, *event.b, unit);
        if (const std::string values =
                differs && !unit.first ? differingValues(record, *event.b) : std::string();
            !values.empty())
            divergence.classification.why += "; " + values;
        if (differs && !unit.first)
            divergence.leaves = leafPairs(record, *event.b);
        if (!differs)
            divergence.classification.why = "the records are equal, their order is not";
        propose(std::move(divergence), event.ordinal, unit);
        return;
    }
    if (unit.first)
        return;
    unit.now.evidence.add(all);
    ++unit.now.equal;
    if (all.evidence == Evidence::Equal)
        unit.now.last = nameOf(record);
    for (const auto *list : {&record.inputs, &record.outputs}) {
        for (const Observation &observation : *list) {
            if (observation.absence == Absence::Recorded)
                rememberValue(observation.dtype, observation.digest, unit);
        }
    }
}

void TraceComparer::State::rememberValues(const FormedRecord &formed, Unit &unit)
{
    const TraceRecord &like = formed.form->record;
    const auto at = [&](bool isOutput, std::size_t place) -> const Observation & {
        return (isOutput ? like.outputs : like.inputs)[place];
    };
    for (const RecordForm::Digest &own : formed.form->digests)
        rememberValue(at(own.isOutput, own.observation).dtype,
                      formed.digests.substr(own.begin, own.size), unit);
    for (const auto &[isOutput, place] : formed.form->stated)
        rememberValue(at(isOutput, place).dtype, at(isOutput, place).digest, unit);
}

void TraceComparer::State::rememberValue(std::string_view dtype, std::string_view digest,
                                         Unit &unit)
{
    if (unit.values.size() < MostValues)
        unit.values.insert(valueKey(dtype, digest));
}

/// `loss`: why the other side may have lost them; empty where it did not record them.
void TraceComparer::State::takeLone(const LoneRecords::Sum &lone, const std::string &loss,
                                    Unit &unit)
{
    const bool isLost = !loss.empty();
    const RecordName &record = lone.first;
    (lone.isA ? result.coverage.onlyA : result.coverage.onlyB) += lone.count;
    EvidenceSum lost;
    lost.notComparable = isLost ? lone.count : 0;
    if (isLost)
        stages.addLost(record, lone.count);
    else
        stages.addOneSided(record, lone.count);
    count(record.microBatch, record.iteration, lost, isLost ? 0 : lone.count, unit);
    unit.hasLost = unit.hasLost || isLost;
    result.facts.oneSidedComplete |= !isLost;
    result.facts.oneSidedIncomplete |= isLost;
    result.facts.differenceStrength =
        std::max(result.facts.differenceStrength, isLost ? Strength::None : Strength::Metadata);
    RankDivergence divergence;
    divergence.record = record;
    divergence.kind = isLost ? DivergenceKind::Missing : DivergenceKind::ControlFlow;
    divergence.role = lone.role;
    divergence.classification.why = std::string("it is recorded in ") + (lone.isA ? "A" : "B")
        + " alone" + (isLost ? ", and " + loss : std::string());
    if (!isLost && lone.isBehind)
        divergence.classification.why += ", behind the last record that met a partner";
    propose(std::move(divergence), lone.ordinal, unit);
}

/// Why the other side, which was read to its end, may have lost them; empty where it did not.
std::string TraceComparer::State::lossOf(const LoneRecords::Sum &lone,
                                         const TracePlan::Unit &planned,
                                         const TraceCertificate &other, const Unit &unit) const
{
    const std::string name = lone.isA ? "B" : "A";
    if (!lossless())
        return "records are known to be lost";
    if (other.lacksRecords())
        return name + "'s records of this step are not whole";
    // What the other side recorded instead, or later, shows that it had not ended.
    if (!lone.isBehind || !lone.isPlaced || unit.lone.hasBehind(!lone.isA) || other.hasEnd())
        return {};
    const TracePlan::Rank &rank = plan.ranks[planned.rank];
    const auto &segments = lone.isA ? rank.segmentsB : rank.segmentsA;
    const bool goesOn = segments.rbegin()->first > (lone.isA ? planned.ofB : planned.iteration);
    if (goesOn || (lone.isA ? b : a)->noticesCuts())
        return {};
    return name + "'s trace ends right before it, without a mark: whether " + name
        + " went on is not known";
}

/// What is on one side only is a difference where the other side is whole, as far as it has a proof
/// of that. `isWhole`: both were read to their ends.
void TraceComparer::State::settleLone(const TracePlan::Unit &planned,
                                      const TraceCertificate &certificateA,
                                      const TraceCertificate &certificateB, bool isWhole,
                                      Unit &unit)
{
    for (const LoneRecords::Sum &lone : unit.lone.sums()) {
        const TraceCertificate &other = lone.isA ? certificateB : certificateA;
        takeLone(lone,
                 lossless() && !isWhole ? "a side could not be read to its end"
                                        : lossOf(lone, planned, other, unit),
                 unit);
    }
}

/// Beside its stage, for its rank and its micro-batch.
void TraceComparer::State::count(std::optional<std::int64_t> microBatch,
                                 std::optional<std::int64_t> iteration, const EvidenceSum &evidence,
                                 std::uint64_t oneSided, Unit &unit)
{
    unit.evidence.add(evidence, oneSided);
    if (!microBatch)
        return;
    const std::pair key(*microBatch, iteration);
    const auto known = microBatches.find(key);
    if (known != microBatches.end())
        known->second.add(evidence, oneSided);
    else if (microBatches.size() < MostMicroBatches)
        microBatches[key].add(evidence, oneSided);
}

std::string TraceComparer::State::lostWords() const
{
    const bool both = !a->complete() && !b->complete();
    const std::string_view whose = both ? "both sides" : a->complete() ? "B" : "A";
    return "records of " + std::string(whose) + " are lost";
}

void TraceComparer::State::takeEvent(const TraceWalk::Event &event, std::size_t rank, Unit &unit)
{
    takeTally(rank, unit);
    if (event.opened) {
        if (!unit.first && unit.opened.size() < MostOpened)
            unit.opened.emplace(event.ordinal, unit.now);
    } else if (event.a && event.b) {
        unit.lone.meet(event.ordinal);
        unit.hasNoOrder = unit.hasNoOrder || !event.a->isPlaced || !event.b->isPlaced;
        takePair(event, rank, unit);
    } else if (const TraceRecord &record = event.a ? *event.a : *event.b; isArtifact(record)) {
        ++result.coverage.artifacts;
    } else {
        unit.lone.add(record, event.a != nullptr, event.ordinal);
    }
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
