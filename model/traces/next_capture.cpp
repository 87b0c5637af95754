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
    Entry,      ///< what enters a step, of the capture's stages
};

/// The switches of the tool that wrote the traces, and those of our own module, which serves any
/// loop. What enters a step no other tool records.
void addCommands(NextCapture &capture, const std::string &dialect, Level level)
{
    const std::string steps = span(capture.firstStep, capture.lastStep);
    const std::string ranks =
        capture.ranks.empty() ? "" : ", ranks=\"" + rankList(capture.ranks) + "\"";
    const bool operations = level == Level::Operations;
    const std::string stages =
        level == Level::Entry ? ", stages=(" + stageList(capture.stages) + ")" : "";
    capture.commands["forkpoint_capture"] = "Policy(select=Select(steps=\"" + steps + "\"" + ranks
        + stages + ")" + (operations ? ", inputs=True" : "") + ", payload=Select(steps=\"" + steps
        + "\"" + stages + "))";
    if (level == Level::Entry)
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
Level askForEntry(NextCapture &capture, const FirstDivergence &divergence)
{
    const std::int64_t step = capture.lastStep;
    const bool isAfterProof = !divergence.provenEqualName.empty();
    capture.stages = {"rng", "batch"};
    capture.firstStep =
        isAfterProof ? std::max<std::int64_t>(step - 1, 0) : std::min<std::int64_t>(step, 1);
    capture.why = "what enters step " + std::to_string(step) + " differs already ("
        + divergence.name
        + "), so its operations cannot show why: the samples of each batch, the position of the "
          "loader and the generators"
        + ", from step " + std::to_string(capture.firstStep) + " on, show where it begins";
    return Level::Entry;
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
        return askForEntry(capture, divergence);
    if (!compared.empty() && capture.firstStep == compared.front()
        && divergence.provenEqualName.empty() && capture.firstStep > 1) {
        // Never centred on where something was seen first: the cause may lie before it.
        capture.why = "the first record compared differs already: record from the first step on";
        capture.firstStep = 1;
        capture.lastStep = 2;
        return Level::Operations;
    }
    if (missing > 0) {
        capture.why = missingWords(missing) + ", and what made " + divergence.name
            + " differ may be on one of them: every operation of this one step, on all ranks of "
              "both runs, shows it";
    } else {
        capture.why = "everything before " + divergence.name
            + " is equal as far as recorded: every operation of this one step, on all ranks, shows "
              "which one made the difference";
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
