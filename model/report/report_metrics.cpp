// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/format.h"
#include "model/report/report_document.h"
#include "model/report/report_evidence.h"

#include <algorithm>

namespace forkpoint {

namespace {

constexpr std::size_t PlottedMetrics = 3;

std::string metricText(const MetricComparison &metric, int digits)
{
    const auto found = metric.firstPrintedDifference.find(digits);
    if (found != metric.firstPrintedDifference.end())
        return std::to_string(found->second);
    if (metric.commonSteps == 0)
        return "not compared";
    return metric.bitsKnown ? "never" : "not seen";
}

std::string bitText(const MetricComparison &metric)
{
    if (metric.firstBitDifference)
        return "step " + std::to_string(*metric.firstBitDifference);
    if (metric.commonSteps == 0)
        return "not compared";
    if (metric.bitsKnown)
        return "never";
    return metric.firstProvenDifference
        ? "at or before step " + std::to_string(*metric.firstProvenDifference)
        : "not known";
}

ReportTone toneOf(const MetricComparison &metric)
{
    if (metric.firstProvenDifference)
        return ReportTone::Different;
    const bool areEqual = metric.bitsKnown && metric.commonSteps > 0 && metric.unmet.count == 0;
    return areEqual ? ReportTone::Equal : ReportTone::Unknown;
}

ReportTable metricsTable(const std::vector<MetricComparison> &metrics)
{
    ReportTable table;
    table.columns = {{"metric", false},
                     {"common steps", true},
                     {"steps that differ", true},
                     {"first bit difference", true},
                     {"first seen with 4 digits", true},
                     {"with 6 digits", true},
                     {"precision", false}};
    for (const MetricComparison &metric : metrics) {
        if (++table.total > ReportRows)
            continue;
        table.rows.push_back(
            {verbatim(metric.name), numberCell(metric.commonSteps),
             plainCell(grouped(metric.differentSteps), toneOf(metric)), plainCell(bitText(metric)),
             plainCell(metricText(metric, 4)), plainCell(metricText(metric, 6)),
             plainCell(metric.bitsKnown ? "every bit known" : "printed numbers only",
                       metric.bitsKnown ? ReportTone::Plain : ReportTone::Unknown)});
    }
    return table;
}

/// "2 of 7 metrics are drawn"; nothing where all are.
std::string othersText(const std::vector<const MetricComparison *> &metrics, std::size_t drawn)
{
    if (drawn == metrics.size())
        return {};
    std::uint64_t different = 0;
    for (std::size_t i = drawn; i < metrics.size(); ++i)
        different += metrics[i]->firstProvenDifference ? 1u : 0u;
    return counted(metrics.size() - drawn, "other metric is", "other metrics are")
        + " not drawn: " + grouped(different) + " of them "
        + (different == 1 ? "differs" : "differ") + " at some step.";
}

/// "A from 5.03 to 3.2 over 48 steps"
std::string spanText(const char *side, const MetricCurve &curve)
{
    const std::vector<MetricPoint> &points = curve.series.points;
    return std::string("; ") + side + " goes from " + significant(points.front().value, 6)
        + " at step " + std::to_string(points.front().step) + " to "
        + significant(points.back().value, 6) + " at step " + std::to_string(points.back().step)
        + (curve.notFinite > 0
               ? ", " + counted(curve.notFinite, "of its numbers is", "of its numbers are")
                   + " NaN or infinite"
               : std::string())
        + (curve.logged > points.size() ? ", drawn by " + grouped(points.size()) + " of "
                   + grouped(curve.logged) + " numbers"
                                        : std::string());
}

} // namespace

ReportSection metricsSection(const RunComparison &comparison, const ReportEvidence *evidence)
{
    ReportSection section{"metrics", "Logged metrics", {}};
    const std::vector<const MetricComparison *> metrics = mostTellingFirst(comparison.metrics);
    std::size_t drawn = 0;
    for (const MetricComparison *metric : metrics) {
        const MetricCurves *curves = evidence ? evidence->curvesNamed(metric->name) : nullptr;
        // The curves of two equal logs tell something too; without them there is nothing to draw.
        if (drawn == PlottedMetrics || (!curves && !metric->firstProvenDifference))
            break;
        section.blocks.emplace_back(MetricPlot{*metric, curves ? *curves : MetricCurves()});
        ++drawn;
    }
    if (const std::string text = othersText(metrics, drawn); !text.empty())
        section.blocks.emplace_back(ReportText{text, {}});
    section.blocks.emplace_back(metricsTable(comparison.metrics));
    return section;
}

std::string describe(const MetricPlot &plot)
{
    const MetricComparison &metric = plot.metric;
    std::string text = metric.name + ": differs at " + grouped(metric.differentSteps) + " of "
        + counted(metric.commonSteps, "common step", "common steps");
    if (metric.firstProvenDifference)
        text += ", first at step " + std::to_string(*metric.firstProvenDifference);
    for (const auto &[side, curve] :
         {std::pair{"A", &plot.curves.a}, std::pair{"B", &plot.curves.b}}) {
        if (!curve->series.points.empty())
            text += spanText(side, *curve);
    }
    std::optional<double> least, largest;
    for (const MetricDifference &entry : metric.differences) {
        if (!entry.least)
            continue;
        least = std::min(least.value_or(*entry.least), *entry.least);
        largest = std::max(largest.value_or(*entry.largest), *entry.largest);
    }
    if (least)
        text += "; B\u2212A from " + significant(*least, 3) + " to " + significant(*largest, 3);
    return text + ".";
}

} // namespace forkpoint
