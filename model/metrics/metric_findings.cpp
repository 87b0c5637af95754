// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/metrics/metric_findings.h"

#include "model/format.h"
#include "model/metrics/metric_kind.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>

namespace forkpoint {

namespace {

/// Digits after the point that a printed log is taken to show.
constexpr int DigitsSeen = 4;

std::string ofKnownBits(const MetricComparison &metric)
{
    std::string text = metric.name + " first differs in its bits at step "
        + std::to_string(*metric.firstBitDifference);
    const auto printed = metric.firstPrintedDifference.find(DigitsSeen);
    if (printed == metric.firstPrintedDifference.end())
        return text + "; printed with " + std::to_string(DigitsSeen) + " digits it never does";
    if (printed->second != *metric.firstBitDifference)
        text += "; printed with " + std::to_string(DigitsSeen) + " digits only at step "
            + std::to_string(printed->second);
    return text;
}

/// Why numbers of one step are no pair: "mean of 1 step in A and of 5 in B".
std::string unmetText(const UnmetSteps &unmet)
{
    const std::string first = std::to_string(unmet.first);
    const std::string others = counted(unmet.count, "step", "steps");
    switch (unmet.why) {
    case MetricMeeting::UnlikeWindows:
        return "at step " + first + " it is a mean over "
            + counted(std::uint64_t(unmet.windowA), "step", "steps") + " in A and over "
            + grouped(std::uint64_t(unmet.windowB))
            + " in B, logged at unlike intervals: such numbers are not compared, at " + others;
    case MetricMeeting::OtherRows:
        return "row " + first
            + " has another epoch in A than in B, so that they are of unlike steps: such rows are "
              "not compared, "
            + grouped(unmet.count) + " in all";
    case MetricMeeting::UnknownRows:
        return "row " + first
            + " was counted, and no epoch tells that it is the same step in A and in B: such rows "
              "are not compared, "
            + grouped(unmet.count) + " in all";
    case MetricMeeting::Same: break;
    }
    return {};
}

Finding describe(const MetricComparison &metric, bool checkpointsDiffer)
{
    Finding finding{"metric-equal", Certainty::Is, Severity::Note, {}, {metric.name}};
    const std::string steps = metric.commonSteps == 1
        ? "the one common step"
        : "all " + grouped(metric.commonSteps) + " common steps";
    if (metric.commonSteps == 0) {
        finding.id = "metric-unmet";
        finding.text = metric.name + ": " + unmetText(metric.unmet);
        return finding;
    }
    if (metric.firstBitDifference) {
        finding.id = "metric-parts";
        finding.text = ofKnownBits(metric);
    } else if (metric.firstProvenDifference) {
        finding.id = "metric-parts";
        finding.text = metric.name + " differs as printed from step "
            + std::to_string(*metric.firstProvenDifference)
            + "; its bits may part earlier, where rounding hides them";
    } else if (metric.bitsKnown) {
        finding.text = metric.name + " is equal to the last bit at " + steps;
        if (checkpointsDiffer)
            finding.text += ", although the checkpoints differ";
    } else {
        finding.id = "metric-alike";
        finding.text = metric.name + " reads alike at " + steps
            + ", but may have been rounded: whether its bits are equal is not known";
    }
    if (metric.unmet.count > 0)
        finding.text += "; " + unmetText(metric.unmet);
    if (metric.firstNonFinite)
        finding.text += "; at step " + std::to_string(*metric.firstNonFinite) + " "
            + (metric.isNonFiniteInA ? "A" : "B") + " is NaN or infinite and "
            + (metric.isNonFiniteInA ? "B" : "A") + " is not (one side alone at "
            + counted(metric.nonFiniteSteps, "step", "steps") + ")";
    return finding;
}

/// Those that are no bookkeeping.
std::set<std::string_view> namesOf(const std::vector<MetricSeries> &all,
                                   const std::function<bool(std::string_view)> &takes)
{
    std::set<std::string_view> names;
    for (const MetricSeries &series : all) {
        if (!isBookkeepingMetric(series.name) && takes(series.name))
            names.insert(series.name);
    }
    return names;
}

void tellNames(const std::set<std::string_view> &names, std::string_view what, Finding &finding)
{
    constexpr std::size_t Shown = 8;
    std::size_t count = 0;
    for (const std::string_view name : names) {
        if (++count > Shown)
            break;
        finding.text +=
            count > 1 ? ", " : (finding.text.empty() ? "" : "; ") + std::string(what) + " ";
        finding.text += name;
        finding.where.emplace_back(name);
    }
    if (names.size() > Shown)
        finding.text += " and " + grouped(names.size() - Shown) + " more";
}

} // namespace

std::optional<Finding> loneMetrics(const std::vector<MetricSeries> &a,
                                   const std::vector<MetricSeries> &b,
                                   const std::vector<MetricComparison> &compared,
                                   const std::function<bool(std::string_view)> &takes)
{
    std::set<std::string_view> inA = namesOf(a, takes), inB = namesOf(b, takes), apart;
    std::set_intersection(inA.begin(), inA.end(), inB.begin(), inB.end(),
                          std::inserter(apart, apart.end()));
    for (const std::string_view name : apart) {
        inA.erase(name);
        inB.erase(name);
    }
    for (const MetricComparison &metric : compared)
        apart.erase(metric.name);
    Finding finding{"metric-alone", Certainty::Is, Severity::Note, {}, {}};
    tellNames(inA, "only A logs", finding);
    tellNames(inB, "only B logs", finding);
    tellNames(apart, "at no common step both log", finding);
    return finding.text.empty() ? std::nullopt : std::optional(std::move(finding));
}

std::vector<Finding> metricFindings(const std::vector<MetricComparison> &metrics,
                                    bool checkpointsDiffer)
{
    std::vector<Finding> findings;
    for (const MetricComparison &metric : metrics) {
        if (!metric.context)
            findings.push_back(describe(metric, checkpointsDiffer));
    }
    return findings;
}

std::optional<Finding> firstBitAgainstDigit(std::optional<std::int64_t> firstDivergence,
                                            const std::vector<MetricComparison> &metrics)
{
    const MetricComparison *visible = nullptr;
    std::vector<std::string> judged;
    for (const MetricComparison &metric : metrics) {
        if (metric.context)
            continue;
        // Of printed decimals that part there nobody knows the bits, which may part before.
        if (!metric.bitsKnown && firstDivergence && metric.firstProvenDifference == firstDivergence)
            return std::nullopt;
        if (!metric.bitsKnown)
            continue;
        judged.push_back(metric.name);
        const auto &printed = metric.firstPrintedDifference;
        if (!printed.contains(DigitsSeen))
            continue;
        if (!visible || printed.at(DigitsSeen) < visible->firstPrintedDifference.at(DigitsSeen))
            visible = &metric;
    }
    if (!firstDivergence || judged.empty())
        return std::nullopt;
    Finding finding{"bit-before-digit", Certainty::Is, Severity::Note, {}, std::move(judged)};
    const std::string bit =
        "the first differing bit is in step " + std::to_string(*firstDivergence);
    if (!visible) {
        finding.text = bit + "; of the metrics that both logged no digit of the first "
            + std::to_string(DigitsSeen) + " after the point ever shows it";
        return finding;
    }
    const std::int64_t digit = visible->firstPrintedDifference.at(DigitsSeen);
    finding.text = bit + ", the first visible digit (the first " + std::to_string(DigitsSeen)
        + " after the point) in step " + std::to_string(digit) + " of " + visible->name;
    if (digit > *firstDivergence)
        finding.text += ": a printed log shows the fork "
            + counted(std::uint64_t(digit) - std::uint64_t(*firstDivergence), "step", "steps")
            + " late";
    finding.where = {visible->name};
    return finding;
}

void tellOfLogs(Verdict &verdict, const std::vector<MetricComparison> &metrics)
{
    const bool isDecided =
        verdict.outcome == Outcome::Different || verdict.outcome == Outcome::NotCompared;
    const MetricComparison *first = isDecided ? nullptr : firstToPart(metrics);
    if (!first)
        return;
    if (verdict.sentence.ends_with('.'))
        verdict.sentence.pop_back();
    verdict.sentence += ", but logged numbers differ, first " + first->name + " at step "
        + std::to_string(*first->firstProvenDifference) + ".";
}

void tellOfSteps(Verdict &verdict, const StepRange &steps)
{
    if (verdict.outcome != Outcome::NotCompared)
        verdict.sentence += " This is of " + toText(steps) + " alone, as asked for.";
}

} // namespace forkpoint
