// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/metric_findings.h"

#include "model/format.h"

namespace forkpoint {

namespace {

std::string ofKnownBits(const MetricComparison &metric)
{
    std::string text = metric.name + " first differs in its bits at step "
        + std::to_string(*metric.firstBitDifference);
    const auto printed = metric.firstPrintedDifference.find(4);
    if (printed == metric.firstPrintedDifference.end())
        return text + "; printed with 4 digits it never does";
    if (printed->second != *metric.firstBitDifference)
        text += "; printed with 4 digits only at step " + std::to_string(printed->second);
    return text;
}

Finding describe(const MetricComparison &metric, bool checkpointsDiffer)
{
    Finding finding{"metric-equal", Certainty::Is, Severity::Note, {}, {metric.name}};
    const std::string steps = counted(metric.commonSteps, "common step", "common steps");
    if (metric.firstBitDifference) {
        finding.id = "metric-parts";
        finding.text = ofKnownBits(metric);
    } else if (metric.firstProvenDifference) {
        finding.id = "metric-parts";
        finding.text = metric.name + " differs as printed from step "
            + std::to_string(*metric.firstProvenDifference)
            + "; its bits may part earlier, rounding hides them";
    } else if (metric.bitsKnown) {
        finding.text = metric.name + " is equal to the last bit at all " + steps;
        if (checkpointsDiffer)
            finding.text += ", although the checkpoints differ";
    } else {
        finding.id = "metric-alike";
        finding.text = metric.name + " reads alike at all " + steps
            + ", but it was rounded: whether its bits are equal is not known";
    }
    return finding;
}

} // namespace

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

} // namespace forkpoint
