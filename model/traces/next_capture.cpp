// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/format.h"
#include "model/traces/stage_table.h"
#include "model/traces/trace_divergence.h"

#include <algorithm>

namespace forkpoint {

namespace {

std::string span(std::int64_t first, std::int64_t last)
{
    return first == last ? std::to_string(first)
                         : std::to_string(first) + "-" + std::to_string(last);
}

std::string rankList(const std::vector<std::int64_t> &ranks)
{
    std::string text;
    for (const std::int64_t rank : ranks)
        text += (text.empty() ? "" : ",") + std::to_string(rank);
    return text;
}

std::string stageList(const std::vector<std::string> &stages)
{
    std::string text;
    for (const std::string &stage : stages)
        text += "\"" + stage + "\", ";
    return text;
}

enum class Level {
    Boundaries, ///< tensors at the boundaries of stages
    Operations, ///< every operation
    Bytes,      ///< the operations again, of which the tool itself has recorded what it can
    Entry,      ///< what enters a step, of the capture's stages
};

/// The switches of the tool that wrote the traces, and those of our own module, which serves any
/// loop. What enters a step no other tool records.
void addCommands(NextCapture &capture, const std::string &dialect, Level level)
{
    const std::string steps = span(capture.firstStep, capture.lastStep);
    const std::string ranks =
        capture.ranks.empty() ? "" : ", ranks=\"" + rankList(capture.ranks) + "\"";
    const bool operations = level == Level::Operations || level == Level::Bytes;
    const std::string stages =
        level == Level::Entry ? ", stages=(" + stageList(capture.stages) + ")" : "";
    capture.commands["forkpoint_capture"] = "Policy(select=Select(steps=\"" + steps + "\"" + ranks
        + stages + ")" + (operations ? ", inputs=True" : "") + ", payload=Select(steps=\"" + steps
        + "\"" + stages + "))";
    if (level == Level::Entry || level == Level::Bytes)
        return;
    if (dialect == "megatron-rank-trace") {
        capture.commands[dialect] = "--determinism-trace-dir DIR --determinism-trace-mode full "
                                    "--determinism-trace-iterations "
            + steps
            + (capture.ranks.empty() ? ""
                                     : " --determinism-trace-ranks " + rankList(capture.ranks));
    } else if (dialect == "megatron-bridge" || dialect == "megatron-sketch") {
        capture.commands[dialect] = "DET_TRACE_OUT_DIR=DIR DET_TRACE_ITERS=" + steps
            + (operations ? " DET_TRACE_OPS=1" : "");
        if (operations && dialect == "megatron-sketch")
            capture.commands[dialect] += " DET_TRACE_GEMM=1 DET_TRACE_GRADS=1";
    } else if (dialect == "megatron-typed") {
        capture.commands[dialect] =
            "rank_spec=" + (capture.ranks.empty() ? std::string("all") : rankList(capture.ranks))
            + " start_iteration=" + std::to_string(capture.firstStep) + " end_iteration="
            + std::to_string(capture.lastStep) + " detail=" + (operations ? "op" : "semantic");
    }
}

/// Ranks of the job that are not in both traces.
std::uint64_t ranksMissing(const TraceCoverage &coverage)
{
    const std::uint64_t known = coverage.ranksCompared + coverage.ranksOnlyA + coverage.ranksOnlyB;
    return std::max(coverage.worldSize.value_or(known), known) - coverage.ranksCompared;
}

std::string missingWords(std::uint64_t ranks)
{
    return counted(ranks, "rank was", "ranks were") + " not traced on both sides";
}

/// Nothing differs, and yet nothing is proven.
Level askForProof(NextCapture &capture, const TraceComparison &trace, const Verdict &verdict)
{
    const auto &compared = trace.coverage.iterationsCompared;
    capture.firstStep = compared.empty() ? 1 : compared.front();
    // Two steps, where there is a second one.
    const bool alone = !compared.empty() && compared.back() == capture.firstStep;
    capture.lastStep = capture.firstStep + (alone ? 0 : 1);
    const std::uint64_t missing = ranksMissing(trace.coverage);
    const bool isWeak = !doubtOf(trace.coverage.evidence).empty();
    if (missing > 0)
        capture.why = "no difference was seen, but " + missingWords(missing)
            + ": the same iterations of all ranks in both runs"
            + (isWeak ? ", with digests of all bytes or the tensors, decide it" : " decide it");
    else
        capture.why = "no difference was seen, by evidence that cannot say equal (" + verdict.reason
            + "): the same iterations with digests of all bytes, or the tensors, decide it";
    return Level::Boundaries;
}

/// What enters a step differs: no operation of it made that.
Level askForEntry(NextCapture &capture, const FirstDivergence &divergence, bool hasStepZero)
{
    const std::int64_t step = capture.lastStep;
    const bool isAfterProof = !divergence.provenEqualName.empty();
    capture.stages = {"rng", "batch"};
    // Where nothing was recorded as step 0 the steps are taken to begin with 1.
    const std::int64_t lowest = hasStepZero ? 0 : std::min<std::int64_t>(step, 1);
    capture.firstStep = isAfterProof ? std::max(step - 1, lowest) : lowest;
    capture.why = "what enters step " + std::to_string(step) + " differs already ("
        + divergence.name
        + "), so its operations cannot show why: the samples of each batch, the position of the "
          "loader and the generators"
        + ", from step " + std::to_string(capture.firstStep) + " on, show where it begins"
        + (capture.firstStep == step
               ? "; at the first step it is what was seeded, restored or drawn before the loop"
               : "");
    return Level::Entry;
}

bool updatesWeights(const std::string &stage)
{
    return stage == "optimizer" || stage == "scheduler" || stage == "update" || stage == "weight";
}

/// Whether a stage of a step was recorded and no difference was seen there.
bool isAlike(const TraceComparison &trace, std::int64_t step, std::string_view stage)
{
    return std::any_of(trace.stages.begin(), trace.stages.end(), [&](const StageSummary &summary) {
        return summary.iteration == step && summary.stage == stage && summary.oneSided == 0
            && summary.evidence.compared > 0 && summary.evidence.different == 0;
    });
}

/// Whether everything that was recorded of a stage of a step is proven equal.
bool isProvenEqual(const TraceComparison &trace, std::int64_t step, const std::string &stage)
{
    LinkSum sum;
    for (const StageSummary &summary : trace.stages) {
        if (summary.iteration == step && summary.stage == stage)
            sum.add(summary.evidence, summary.oneSided);
    }
    return sum.link(step, stage).status == LinkStatus::Equal;
}

/// The optimizer's step differs first, and no gradient that was recorded before it does: no operation
/// of the passes made that.
Level askForUpdate(NextCapture &capture, const TraceComparison &trace,
                   const FirstDivergence &divergence)
{
    const std::int64_t step = capture.lastStep;
    const bool sawSettings = isAlike(trace, step, "scheduler");
    const bool sawState = isAlike(trace, step, "update") || isAlike(trace, step, "optimizer");
    capture.firstStep = std::max<std::int64_t>(step - 1, std::min<std::int64_t>(step, 1));
    capture.stages = {"scheduler", "grad", "update", "weight"};
    capture.why =
        divergence.name + " differs first, after gradients in which no difference was seen";
    if (divergence.stage == "scheduler")
        capture.why += ": it is a setting of the optimizer; compare what sets it (configuration, "
                       "schedule, what a resumed run restored) before another recording";
    else if (sawSettings && sawState && divergence.stage == "weight")
        capture.why +=
            ", and so are the settings and the state of the optimizer as recorded: the "
            "weights right before the update, and its arithmetic (fused, foreach, clipping), "
            "remain; the bytes of both show them";
    else
        capture.why +=
            ": the optimizer's state (moments, step count, master weights; a resumed run "
            "may have begun without it)"
            + std::string(sawSettings ? "" : " and its settings (learning rate, betas, eps, decay)")
            + " before and after the update decide it";
    return Level::Entry;
}

/// Every operation was recorded at the fork, with its inputs, and still none is the origin.
Level askBeyondOperations(NextCapture &capture, const FirstDivergence &divergence)
{
    capture.why = "the operations of this step are recorded already, and " + divergence.name
        + (divergence.divergenceClass == "receiver" ? " only received the difference"
                                                    : " cannot be judged by what was recorded")
        + ": ";
    if (!divergence.probe.empty())
        capture.why += divergence.probe;
    else if (divergence.divergenceClass == "receiver")
        capture.why +=
            "what remains is the order in which values were taken up (streams, hooks, "
            "the order in which gradients are summed) and what no record covers: the bytes "
            "of inputs and outputs show which values were exchanged";
    else
        capture.why += "the bytes of its inputs and outputs, or a stronger digest, decide it";
    return Level::Bytes;
}

/// All inputs of a module were recorded, by digests that tell, and no difference was seen in them.
Level askForState(NextCapture &capture, const TraceComparison &trace,
                  const FirstDivergence &divergence)
{
    const std::int64_t step = capture.lastStep;
    const std::string &name = divergence.name;
    // Of which modules they are is not known here.
    const bool areWeightsEqual = isProvenEqual(trace, step - 1, "weight");
    capture.stages = {"rng", "forward", "weight"};
    capture.firstStep = std::max<std::int64_t>(step - 1, std::min<std::int64_t>(step, 1));
    capture.why = "the inputs of " + name + " are recorded already"
        + (areWeightsEqual ? "; its weights, unless they are among those recorded after step "
                   + std::to_string(step - 1)
                   + ", which are equal, its buffers and the states of the generators right before "
                     "it remain, and then what it does inside"
                           : "; " + divergence.probe)
        + " (in the loop or the module: capture.tensor(\"rng\", \"before " + name
        + "\", torch.get_rng_state()), on a GPU torch.cuda.get_rng_state())";
    return Level::Entry;
}

/// Whether the first difference is at the level of operations, with the inputs of each.
bool sawOperations(const RankDivergence &first, const std::string &dialect)
{
    const bool isCall = first.role == RecordRole::Op || first.role == RecordRole::Kernel;
    // The sketch writes modules and products alike; its operations are named "aten:...".
    const bool isEvery = dialect != "megatron-sketch" || first.record.name.starts_with("aten");
    return isCall && isEvery && !first.classification.probe.starts_with("record the inputs of");
}

/// A module that draws random numbers, by its name, of which no inputs were recorded.
bool mayDraw(const std::string &name)
{
    return name.find("drop") != std::string::npos || name.find("Drop") != std::string::npos;
}

bool entersStep(const std::string &stage)
{
    return stage == "rng" || stage == "batch";
}

/// What differs first is known: what made it is the question.
Level askForCause(NextCapture &capture, const TraceComparison &trace,
                  const FirstDivergence &divergence)
{
    const auto &compared = trace.coverage.iterationsCompared;
    const std::uint64_t missing = ranksMissing(trace.coverage);
    if (divergence.kind == toString(DivergenceKind::Missing)) {
        capture.why = "records of this step are lost on one side: the step, recorded to its end by "
                      "both runs, tells whether anything differs";
        return Level::Boundaries;
    }
    if (divergence.divergenceClass == "origin") {
        capture.why = divergence.name
            + " is an origin by its digests: bytes of its inputs and "
              "outputs at this step confirm it and show the elements";
        if (divergence.rank)
            capture.ranks.push_back(*divergence.rank);
        return Level::Operations;
    }
    if (entersStep(divergence.stage))
        return askForEntry(capture, divergence, !compared.empty() && compared.front() == 0);
    if (!compared.empty() && capture.firstStep == compared.front()
        && divergence.provenEqualName.empty() && capture.firstStep > 1) {
        // Never centred on where something was seen first: the cause may lie before it.
        capture.why = "the first record compared differs already: record from the first step on";
        capture.firstStep = 1;
        capture.lastStep = 2;
        return Level::Operations;
    }
    // A checkpoint may have parted earlier: then it is not the record that is spoken of.
    const bool isRecord =
        trace.firstRank && trace.ranks[*trace.firstRank].first->record.name == divergence.name;
    if (missing == 0 && divergence.kind == toString(DivergenceKind::Value) && isRecord) {
        const RankDivergence &first = *trace.ranks[*trace.firstRank].first;
        if (updatesWeights(divergence.stage) && isAlike(trace, capture.lastStep, "grad"))
            return askForUpdate(capture, trace, divergence);
        // Inputs of a module that leave it open whether they are equal are asked for first.
        if (first.role == RecordRole::Tensor && divergence.probe.starts_with("record the weights"))
            return askForState(capture, trace, divergence);
        if (sawOperations(first, trace.dialectA))
            return askBeyondOperations(capture, divergence);
    }
    if (missing > 0) {
        capture.why = missingWords(missing) + ", and what made " + divergence.name
            + " differ may be on one of them: every operation of this one step, on all ranks of "
              "both runs, shows it";
    } else {
        capture.why =
            (divergence.provenEqualName.empty()
                 ? "nothing recorded vouches for what came before " + divergence.name
                 : "everything before " + divergence.name + " is equal as far as recorded")
            + ": every operation of this one step, on all ranks, shows which one made the "
              "difference";
        if (mayDraw(divergence.name))
            capture.why +=
                "; by its name it draws random numbers: the state of the generator right "
                "before it, as capture.tensor(\"rng\", \"before "
                + divergence.name + "\", torch.get_rng_state()), tells whether that differs";
    }
    if (!divergence.probe.empty())
        capture.why += "; " + divergence.probe;
    return Level::Operations;
}

} // namespace

std::optional<NextCapture> nextCapture(const TraceComparison &trace,
                                       const std::optional<FirstDivergence> &divergence,
                                       const Verdict &verdict)
{
    if (verdict.outcome == Outcome::Identical || !trace.refusal.empty())
        return std::nullopt;
    NextCapture capture;
    if (!divergence) {
        const Level level = askForProof(capture, trace, verdict);
        addCommands(capture, trace.dialectA, level);
        return capture;
    }
    capture.firstStep = capture.lastStep = divergence->step.value_or(1);
    if (divergence->stage != UnknownStage)
        capture.stages.push_back(divergence->stage);
    const Level level = askForCause(capture, trace, *divergence);
    addCommands(capture, trace.dialectA, level);
    return capture;
}

} // namespace forkpoint
