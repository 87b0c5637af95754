// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/traces/trace_divergence.h"

#include "model/format.h"
#include "model/traces/first_record.h"
#include "model/traces/stage_table.h"
#include "model/traces/trace_stage.h"

#include <algorithm>
#include <map>

namespace forkpoint {

namespace {

/// `rivals`: what may come before it; then nothing is called the first.
std::string verbOf(const RankDivergence &first, const std::string &rivals)
{
    const std::string alone = std::string("only ") + (first.record.placeA ? "A" : "B") + " has";
    const bool isAlone =
        first.kind == DivergenceKind::ControlFlow || first.kind == DivergenceKind::Missing;
    if (!rivals.empty())
        return (isAlone ? " is one that " + alone : " differs")
            + ", and whether it is the first is not known: " + rivals;
    switch (first.kind) {
    case DivergenceKind::Value: return " differs first";
    case DivergenceKind::Order: return " is the first that comes in another order";
    case DivergenceKind::ControlFlow:
    case DivergenceKind::Missing: break;
    }
    return " is the first that " + alone;
}

std::string recordWords(const RecordName &record)
{
    std::string text = record.name + " (" + (record.stage.empty() ? "record" : record.stage);
    if (record.microBatch)
        text += ", micro-batch " + std::to_string(*record.microBatch);
    if (record.call > 0)
        text += ", number " + std::to_string(record.call);
    return text + ")";
}

std::string beforeWords(const RankDivergence &first)
{
    if (!first.after)
        return "nothing recorded before it can vouch for what came before";
    return "before it " + counted(first.equalBefore, "record is", "records are")
        + " equal on this rank, up to " + recordWords(*first.after)
        + (first.doubt.empty() ? "" : ", as far as is known: " + first.doubt);
}

/// Rule M4, where nothing but records without a partner differs: a line that was lost looks the same.
std::string loneWords(const RankDivergence &first, const TraceComparison &trace)
{
    const TraceCoverage &coverage = trace.coverage;
    if (first.kind != DivergenceKind::ControlFlow
        || coverage.evidence.different + coverage.moved > 0)
        return {};
    if (first.record.call > 0)
        return "; no record that both sides have differs, and this is one more of a name that both "
               "have: the step may stand there twice, as where a restarted run wrote on";
    const std::uint64_t lone = coverage.onlyA + coverage.onlyB;
    return "; no record that both sides have differs, so the "
        + std::string(lone == 1 ? "one" : grouped(lone))
        + " without a partner may as well have been "
        + "lost by the recorder of the other side: compare its lines before the configuration";
}

std::string sentenceOf(const RankComparison &rank, const TraceComparison &trace)
{
    const RankDivergence &first = *rank.first;
    std::string text;
    if (first.record.iteration && trace.coverage.iterationInB)
        text = "In A's step " + std::to_string(*first.record.iteration) + " against B's step "
            + std::to_string(*trace.coverage.iterationInB) + ", on ";
    else if (first.record.iteration)
        text = "In step " + std::to_string(*first.record.iteration) + ", on ";
    else
        text = "On ";
    const std::string rivals = rivalWords(trace);
    text += rank.coordinate.toText() + ", " + recordWords(first.record) + verbOf(first, rivals)
        + "; " + beforeWords(first) + ". ";
    if (first.kind == DivergenceKind::Value) {
        text += "It is " + std::string(toString(first.classification.divergenceClass)) + ": "
            + first.classification.why + "; evidence: "
            + (first.strength == Strength::Bytes ? "values that were recorded with all their digits"
                                                 : std::string(toString(first.strength)));
    } else {
        const std::string lone = loneWords(first, trace);
        text += (first.kind == DivergenceKind::Missing ? "What may be lost proves no difference: "
                     : lone.empty()                    ? "Look at the configuration first: "
                                                       : "It stands alone: ")
            + first.classification.why + lone;
    }
    for (const LeafDifference &each : first.where)
        text += "; " + leafWords(each);
    if (first.afterSlip)
        text += "; its number is shifted by records more or less before it";
    return text + ". Compared: " + coverageSentence(trace.coverage) + ".";
}

StepStatus statusOf(const EvidenceSum &evidence, std::uint64_t oneSided)
{
    if (evidence.different + oneSided > 0)
        return StepStatus::Different;
    return doubtOf(evidence).empty() ? StepStatus::Identical : StepStatus::Undecided;
}

} // namespace

std::optional<FirstDivergence> firstDivergenceIn(const TraceComparison &trace)
{
    if (!trace.firstRank)
        return std::nullopt;
    const RankComparison &rank = trace.ranks[*trace.firstRank];
    const RankDivergence &first = *rank.first;
    FirstDivergence divergence;
    divergence.step = first.record.iteration;
    divergence.stage = first.record.stage.empty() ? UnknownStage : first.record.stage;
    divergence.name = first.record.name;
    divergence.kind = toString(first.kind);
    divergence.microBatch = first.record.microBatch;
    divergence.rank = rank.coordinate.rank;
    if (!rank.coordinate.axes.empty())
        divergence.coordinate = rank.coordinate;
    divergence.call = first.record.call;
    divergence.divergenceClass = toString(first.classification.divergenceClass);
    divergence.probe = first.classification.probe;
    divergence.provenEqualBefore = first.doubt.empty() && rivalWords(trace).empty();
    if (first.after) {
        divergence.provenEqualStep = first.after->iteration;
        divergence.provenEqualName = first.after->name;
        divergence.provenEqualStage = first.after->stage;
    }
    divergence.where = first.where;
    divergence.sentence = sentenceOf(rank, trace);
    return divergence;
}

std::vector<RankSummary> summarizeRanks(const TraceComparison &trace)
{
    const auto source = [](const std::optional<TracePlace> &place,
                           const std::vector<std::string> &files) {
        if (!place || place->file >= files.size())
            return std::string();
        return files[place->file] + ": "
            + (place->line > 0 ? "line " + std::to_string(place->line) : place->toText());
    };
    std::vector<RankSummary> ranks;
    for (const RankComparison &rank : trace.ranks) {
        RankSummary summary{rank.coordinate, rank.records, rank.different, {}, {}, {}};
        if (rank.first) {
            const RecordName &record = rank.first->record;
            summary.first = RankSummary::First{record.iteration,
                                               record.microBatch,
                                               record.stage,
                                               record.name,
                                               std::string(toString(rank.first->kind)),
                                               record.call,
                                               rank.first->equalBefore,
                                               source(record.placeA, trace.filesA),
                                               source(record.placeB, trace.filesB)};
            summary.divergenceClass = toString(rank.first->classification.divergenceClass);
            summary.why = rank.first->classification.why;
        }
        ranks.push_back(std::move(summary));
    }
    for (const TraceCoordinate &lone : trace.ranksOnlyA)
        ranks.push_back({lone, 0, 0, {}, {}, "only in A: nothing of it is compared"});
    for (const TraceCoordinate &lone : trace.ranksOnlyB)
        ranks.push_back({lone, 0, 0, {}, {}, "only in B: nothing of it is compared"});
    return ranks;
}

std::vector<std::string> holesBefore(const std::vector<ChainLink> &chain,
                                     const FirstDivergence &divergence)
{
    std::vector<std::string> holes;
    if (!isInChain(divergence.stage))
        return holes; // nothing of the chain is known to come before it
    const std::size_t end = causalPlace(divergence.stage);
    const bool sameStep = divergence.provenEqualStep == divergence.step;
    const std::size_t begin = sameStep && !divergence.provenEqualStage.empty()
        ? causalPlace(divergence.provenEqualStage)
        : 0;
    for (const ChainLink &link : chain) {
        const std::size_t place = causalPlace(link.stage);
        if (link.step == divergence.step && link.status == LinkStatus::NotRecorded && place < end
            && place >= begin)
            holes.push_back(link.stage);
    }
    return holes;
}

std::vector<StepMark> stepMarks(const TraceComparison &trace)
{
    std::map<std::int64_t, std::pair<EvidenceSum, std::uint64_t>> sums;
    for (const StageSummary &stage : trace.stages) {
        if (!stage.iteration)
            continue;
        auto &[evidence, oneSided] = sums[*stage.iteration];
        evidence.add(stage.evidence);
        oneSided += stage.oneSided;
    }
    std::vector<StepMark> marks;
    for (const auto &[step, sum] : sums) {
        StepMark mark{step,
                      statusOf(sum.first, sum.second),
                      sum.first.different + sum.second,
                      {},
                      StepLane::Trace};
        if (mark.status == StepStatus::Undecided)
            mark.reason = "no difference seen; " + doubtOf(sum.first);
        marks.push_back(std::move(mark));
    }
    for (const std::int64_t step : trace.coverage.iterationsOnlyA)
        marks.push_back({step, StepStatus::OnlyInA, 0, {}, StepLane::Trace});
    for (const std::int64_t step : trace.coverage.iterationsOnlyB)
        marks.push_back({step, StepStatus::OnlyInB, 0, {}, StepLane::Trace});
    std::sort(marks.begin(), marks.end(),
              [](const StepMark &x, const StepMark &y) { return x.step < y.step; });
    return marks;
}

std::optional<FirstDivergence> earlier(std::optional<FirstDivergence> checkpoint,
                                       std::optional<FirstDivergence> trace)
{
    if (!checkpoint || !trace)
        return checkpoint ? checkpoint : trace;
    if (checkpoint->step && trace->step && *checkpoint->step < *trace->step)
        return checkpoint;
    const bool provesBefore = checkpoint->provenEqualStep && trace->step
        && *checkpoint->provenEqualStep < *trace->step
        && *checkpoint->provenEqualStep == *trace->step - 1;
    if (provesBefore)
        trace->sentence += " The checkpoints of step "
            + std::to_string(*checkpoint->provenEqualStep) + " are equal.";
    return trace;
}

} // namespace forkpoint
