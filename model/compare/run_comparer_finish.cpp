// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/compare/fork_words.h"
#include "model/compare/run_comparer_state.h"
#include "model/compare/run_conclusions.h"
#include "model/compare/unordered_items.h"
#include "model/format.h"
#include "model/metrics/metric_findings.h"
#include "model/metrics/metric_kind.h"
#include "model/metrics/metric_shift.h"
#include "model/resume/resume_facts.h"
#include "model/traces/trace_divergence.h"

#include <algorithm>
#include <iterator>

namespace forkpoint {

namespace {

std::vector<MetricSeries> selected(const std::vector<MetricSeries> &all,
                                   const PairingOptions &options)
{
    std::vector<MetricSeries> result;
    std::copy_if(all.begin(), all.end(), std::back_inserter(result),
                 [&](const MetricSeries &series) { return passesGlobs(series.name, options); });
    return result;
}

} // namespace

/// What the ends prove of the steps between that were not read. That is no equality of bytes.
void RunComparer::State::infer()
{
    if (!bisection)
        return;
    const std::vector<StepBisection::Answer> inferred = bisection->inferred();
    bool anyEqual = false;
    for (std::size_t i = 0; i < common.size(); ++i) {
        StepMark *mark = markOf(plan.steps[common[i]].step);
        if (!mark || mark->status != StepStatus::Pending)
            continue;
        const StepBisection::Answer answer = inferred[i];
        mark->inferred = true;
        ++facts.coverage.stepsInferred;
        mark->status = answer == StepBisection::Answer::Equal ? StepStatus::Identical
            : answer == StepBisection::Answer::Different      ? StepStatus::Different
                                                              : StepStatus::Undecided;
        mark->reason = "not read: between steps that were";
        anyEqual |= mark->status != StepStatus::Different;
    }
    facts.incomplete |= anyEqual;
}

void RunComparer::State::describeDivergence()
{
    if (!result.firstDivergence)
        return;
    FirstDivergence &divergence = *result.firstDivergence;
    divergence.step = result.shownStep;
    divergence.provenEqualStep.reset();
    const auto later = divergence.step ? equal.lower_bound(*divergence.step) : equal.end();
    if (divergence.step && later != equal.begin())
        divergence.provenEqualStep = *std::prev(later);
    const bool firstOfOrder = divergence.provenEqualName.empty();
    divergence.provenEqualBefore =
        allEqual && (divergence.provenEqualStep.has_value() || (!firstOfOrder && series()));
    const std::string beside = unorderedBeside(result.shown, divergence);
    divergence.provenEqualBefore = divergence.provenEqualBefore && beside.empty();
    divergence.sentence =
        divergenceSentence(divergence,
                           {series(), plan.earlierLeftOut, plan.numberInB, beside.empty()})
        + beside + openBetween(divergence, result.steps);
    if (later != equal.end())
        divergence.sentence = metAgain(divergence, {later, equal.end()}, unequal);
}

/// Where metrics decide, --include and --exclude are about them too.
void RunComparer::State::selectMetrics()
{
    std::erase_if(result.shown.findings, [&](const Finding &finding) {
        return finding.id == "selection-idle"
            && std::any_of(result.metrics.begin(), result.metrics.end(),
                           [&](const MetricComparison &metric) {
                               return globMatches(finding.where.front(), metric.name);
                           });
    });
    std::erase_if(result.metrics, [&](const MetricComparison &metric) {
        return !passesGlobs(metric.name, options.pairing);
    });
}

void RunComparer::State::compareLogs(const std::vector<MetricSeries> &inA,
                                     const std::vector<MetricSeries> &inB)
{
    for (Finding &finding : metricFindings(result.metrics, hasCheckpoints() && parted))
        result.findings.push_back(std::move(finding));
    const auto takes = [&](std::string_view name) {
        return !plan.metricsAlone || passesGlobs(std::string(name), options.pairing);
    };
    if (!plan.numberInB) {
        if (auto lone = loneMetrics(inA, inB, result.metrics, takes))
            result.findings.push_back(*std::move(lone));
        if (auto shifted = shiftedMetrics(inA, inB, result.metrics))
            result.findings.push_back(*std::move(shifted));
    }
    if (!plan.metricsAlone)
        return;
    addFacts(facts,
             metricFacts(selected(inA, options.pairing), selected(inB, options.pairing),
                         result.metrics));
    // A checkpoint has no partner in a log.
    facts.oneSidedIncomplete |= plan.steps.empty();
    if (const MetricComparison *first = firstToPart(result.metrics))
        result.firstDivergence = divergenceOf(*first);
}

/// One chain over checkpoints and traces, and the earliest link that differs.
void RunComparer::State::joinEvidence()
{
    for (const MetricComparison &metric : result.metrics) {
        const std::string stage(stageOfMetric(metric.name));
        for (const MetricDifference &entry : metric.differences) {
            if (!stage.empty() && entry.steps == 1)
                chain.add(entry.first, stage, entry.different == 0,
                          metric.bitsKnown ? Strength::Bytes : Strength::Printed);
        }
    }
    if (series() || result.trace || !result.metrics.empty())
        result.chain = chain.links(); // of one pair of files the classes say as much
    if (result.trace)
        result.firstDivergence =
            earlier(std::move(result.firstDivergence), firstDivergenceIn(*result.trace));
    result.firstDivergence = withMetrics(std::move(result.firstDivergence), result.metrics);
    if (!result.trace)
        return;
    if (result.firstDivergence) {
        std::string holes;
        for (const std::string &stage : holesBefore(result.chain, *result.firstDivergence))
            holes += (holes.empty() ? "" : ", ") + stage;
        if (!holes.empty())
            result.firstDivergence->sentence +=
                " Not recorded before it in this step: " + holes + ".";
    }
    result.findings.insert(result.findings.end(), result.trace->findings.begin(),
                           result.trace->findings.end());
    result.nextCapture = nextCapture(*result.trace, result.firstDivergence, decide(facts));
}

void RunComparer::State::finish()
{
    if (!compared && !facts.refused && !facts.ambiguous && !plan.metricsAlone) {
        facts.refused = true;
        facts.refusedReason = "no step could be opened on both sides";
        for (const StepMark &mark : result.steps) {
            if (mark.status == StepStatus::Undecided && !mark.reason.empty()) {
                facts.refusedReason += "; " + mark.reason;
                break;
            }
        }
    }
    infer();
    if (parted)
        describeDivergence();
    // Metrics are aligned by equal numbers, which --step N:M does not ask for.
    std::vector<MetricSeries> cutA, cutB;
    if (plan.metricSteps) {
        cutA = withinSteps(a->metrics(), *plan.metricSteps);
        cutB = withinSteps(b->metrics(), *plan.metricSteps);
    }
    const std::vector<MetricSeries> &partA = plan.metricSteps ? cutA : a->metrics();
    const std::vector<MetricSeries> &partB = plan.metricSteps ? cutB : b->metrics();
    if (!plan.numberInB && !(plan.metricsAlone && facts.refused))
        result.metrics = compareMetrics(partA, partB, MetricMeetings(a->metrics(), b->metrics()));
    if (plan.metricsAlone)
        selectMetrics();
    joinEvidence();
    if (result.firstDivergence)
        result.firstDivergence->sentence += contradictionOfOneSide(result.shown.resume);
    compareLogs(partA, partB);
    for (Finding &finding : runConclusions(result))
        result.findings.push_back(std::move(finding));
    result.findings.insert(result.findings.begin(), result.shown.findings.begin(),
                           result.shown.findings.end());
    for (const auto &[side, run] : {std::pair{"A", a.get()}, std::pair{"B", b.get()}}) {
        for (const Diagnostic &diagnostic : run->diagnostics())
            result.diagnostics.push_back(ofSide(side, diagnostic));
    }
    result.diagnostics.insert(result.diagnostics.end(), result.shown.diagnostics.begin(),
                              result.shown.diagnostics.end());
    result.finished = true;
}

} // namespace forkpoint
