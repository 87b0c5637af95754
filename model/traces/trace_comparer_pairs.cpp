// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/format.h"
#include "model/traces/first_record.h"
#include "model/traces/trace_comparer_state.h"
#include "model/traces/trace_divergence.h"
#include "model/traces/trace_rules.h"
#include "model/traces/trace_stage.h"
#include "model/traces/trace_summary.h"

#include <algorithm>
#include <array>
#include <functional>

namespace forkpoint {

namespace {

/// Values remembered to tell where an input came from.
constexpr std::size_t MostValues = 1'000'000;
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

/// Whether the file of an iteration's last records holds those of a later one, and so was not cut in
/// between. Another file, of a dialect that begins one for each iteration, shows nothing of this one.
bool goesOn(const TraceStream &stream, const TracePlan::Segments &segments,
            std::optional<std::int64_t> iteration)
{
    const auto fileOf = [&](std::size_t segment) { return stream.segments[segment].begin.file; };
    const auto own = segments.find(iteration);
    return std::any_of(segments.upper_bound(iteration), segments.end(), [&](const auto &later) {
        return own == segments.end() || own->second.empty()
            || std::any_of(later.second.begin(), later.second.end(), [&](std::size_t segment) {
                   return fileOf(segment) == fileOf(own->second.back());
               });
    });
}

} // namespace

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

/// The earliest one counts; a value at the same place before a change of order.
void TraceComparer::State::propose(RankDivergence divergence, std::uint64_t ordinal,
                                   Unit &unit) const
{
    // A record that may have been lost is no difference: what is one comes before it.
    const auto isLost = [](const RankDivergence &each) {
        return each.kind == DivergenceKind::Missing;
    };
    const bool isLike = unit.first && isLost(*unit.first) == isLost(divergence);
    if (isLike && !comesBefore(divergence, ordinal, *unit.first, unit.firstOrdinal))
        return;
    if (unit.first && isLost(divergence) && !isLost(*unit.first))
        return;
    unit.first = std::move(divergence);
    unit.firstOrdinal = ordinal;
    if (!unit.first->isPlaced) {
        unit.atFirst = {}; // names that come before it in their list vouch for nothing
        return;
    }
    const auto opened = unit.opened.find(ordinal);
    unit.atFirst = opened == unit.opened.end() ? unit.now : opened->second;
}

/// Between what of the chain the first divergence of the unit stands.
void TraceComparer::State::notePlace(const TraceRecord &record, Unit &unit)
{
    if (!record.isPlaced || !isInChain(record.stage))
        return;
    const ChainPlace place = chainPlace(record.stage, record.microBatch);
    if (!unit.first)
        unit.lastPlace = place;
    else if (unit.first->isPlaced)
        closeSpan(unit.first->span, place);
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

/// A pair that differs in its values, or else in its place.
RankDivergence TraceComparer::State::divergenceOf(const TraceWalk::Event &event,
                                                  const RecordEvidence &evidence,
                                                  const EvidenceSum &all, const Unit &unit) const
{
    const TraceRecord &record = *event.a;
    const bool differs = all.evidence == Evidence::Different;
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
    divergence.isPlaced = record.isPlaced && event.b->isPlaced;
    // Of a late partner, the last place is one behind it.
    divergence.span =
        spanOf(record.stage, record.microBatch,
               divergence.isPlaced && !event.moved ? unit.lastPlace : std::optional<ChainPlace>());
    if (!differs) {
        divergence.classification.why = "the records are equal, their order is not";
        return divergence;
    }
    divergence.classification = classOf(record, evidence, *event.b, unit);
    if (unit.first)
        return divergence;
    if (const std::string values = differingValues(record, *event.b); !values.empty())
        divergence.classification.why += "; " + values;
    divergence.leaves = leafPairs(record, *event.b);
    return divergence;
}

void TraceComparer::State::takePair(const TraceWalk::Event &event, std::size_t rank, Unit &unit)
{
    const TraceRecord &record = *event.a;
    if (isArtifact(record)) {
        ++result.coverage.artifacts;
        return;
    }
    notePlace(record, unit);
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
        RankDivergence divergence = divergenceOf(event, evidence, all, unit);
        if (!divergence.isPlaced)
            unit.unordered[divergence.span.to].add(divergence.record, 1);
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
    divergence.isPlaced = lone.isPlaced;
    divergence.span = spanOf(record.stage, record.microBatch, {});
    if (!isLost && !lone.isPlaced)
        unit.unordered[divergence.span.to].add(record, lone.count);
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
    const bool isGoingOn = lone.isA
        ? goesOn(b->streams()[rank.b], rank.segmentsB, planned.ofB)
        : goesOn(a->streams()[rank.a], rank.segmentsA, planned.iteration);
    if (isGoingOn || (lone.isA ? b : a)->noticesCuts())
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
        const TraceCertificate &own = lone.isA ? certificateA : certificateB;
        const TraceCertificate &other = lone.isA ? certificateB : certificateA;
        std::string loss = lossOf(lone, planned, other, unit);
        if (lossless() && !isWhole)
            loss = "a side could not be read to its end";
        else if (loss.empty() && own.repeatsNumbers())
            loss = "sequence numbers of this step stand there twice: it may be a copy";
        takeLone(lone, loss, unit);
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

} // namespace forkpoint
