// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/format.h"
#include "model/trace_divergence.h"

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

/// The switches of the tool that wrote the traces, and those of our own module, which serves any
/// loop. `operations`: every operation, not boundaries.
void addCommands(NextCapture &capture, const std::string &dialect, bool operations)
{
    const std::string steps = span(capture.firstStep, capture.lastStep);
    const std::string ranks =
        capture.ranks.empty() ? "" : ", ranks=\"" + rankList(capture.ranks) + "\"";
    capture.commands["forkpoint_capture"] = "Policy(select=Select(steps=\"" + steps + "\"" + ranks
        + ")" + (operations ? ", inputs=True" : "") + ", payload=Select(steps=\"" + steps + "\"))";
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

} // namespace

std::optional<NextCapture> nextCapture(const TraceComparison &trace,
                                       const std::optional<FirstDivergence> &divergence,
                                       const Verdict &verdict)
{
    if (verdict.outcome == Outcome::Identical || !trace.refusal.empty())
        return std::nullopt;
    NextCapture capture;
    const auto &compared = trace.coverage.iterationsCompared;
    if (!divergence) {
        capture.why = "no difference was seen, by evidence that cannot say equal (" + verdict.reason
            + "): the same iterations with digests of all bytes, or the tensors, "
              "decide it";
        capture.firstStep = compared.empty() ? 1 : compared.front();
        // Two steps, where there is a second one.
        const bool alone = !compared.empty() && compared.back() == capture.firstStep;
        capture.lastStep = capture.firstStep + (alone ? 0 : 1);
        addCommands(capture, trace.dialectA, false);
        return capture;
    }
    const std::int64_t step = divergence->step.value_or(1);
    capture.firstStep = capture.lastStep = step;
    if (divergence->stage != "unknown")
        capture.stages.push_back(divergence->stage);
    if (divergence->divergenceClass == "origin") {
        capture.why = divergence->name
            + " is an origin by its digests: bytes of its inputs and "
              "outputs at this step confirm it and show the elements";
        if (divergence->rank)
            capture.ranks.push_back(*divergence->rank);
    } else if (!compared.empty() && step == compared.front() && divergence->provenEqualName.empty()
               && step > 1) {
        // Never centred on where something was seen first: the cause may lie before it.
        capture.why = "the first record compared differs already: record from the first step on";
        capture.firstStep = 1;
        capture.lastStep = 2;
    } else {
        capture.why = "everything before " + divergence->name
            + " is equal as far as recorded: every operation of this one step, on all ranks, shows "
              "which one made the difference";
        if (!divergence->probe.empty())
            capture.why += "; " + divergence->probe;
    }
    addCommands(capture, trace.dialectA, true);
    return capture;
}

} // namespace forkpoint
