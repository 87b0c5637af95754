// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/traces/ruled_out.h"

#include "model/compare/run_comparison.h"
#include "model/metrics/metric_kind.h"
#include "model/traces/stage_table.h"
#include "model/traces/trace_stage.h"

#include <algorithm>
#include <set>

namespace forkpoint {

namespace {

bool isBefore(const ChainLink &link, const FirstDivergence &divergence)
{
    if (!link.step || !divergence.step)
        return false;
    if (*link.step != *divergence.step)
        return *link.step < *divergence.step;
    // A checkpoint's items stand side by side: they were there when the step had ended.
    const bool isRecord = !divergence.divergenceClass.empty() || divergence.microBatch;
    const std::size_t end = causalPlace(divergence.stage), unknown = causalPlace({});
    return isRecord && end < unknown && causalPlace(link.stage) < end;
}

std::string words(const ChainLink &link, const std::vector<std::string> &logged)
{
    std::string what = link.stage == UnknownStage ? "what has no known stage" : link.stage;
    for (std::size_t i = 0; i < logged.size(); ++i)
        what = (i == 0 ? "the logged " : what + " and ") + logged[i];
    return what + " of step " + std::to_string(*link.step) + " ("
        + std::string(toString(link.strength)) + ")";
}

void add(std::vector<Finding> &findings, const RecordName &record, Certainty certainty,
         const std::string &why)
{
    const bool known = std::any_of(findings.begin(), findings.end(), [&](const Finding &finding) {
        return finding.where.front() == record.name;
    });
    if (!known)
        findings.push_back({"ruled-out-operation",
                            certainty,
                            Severity::Note,
                            record.name + " is not to blame: " + why,
                            {record.name}});
}

} // namespace

std::vector<std::string> loggedAlone(const ChainLink &link,
                                     const std::vector<MetricComparison> &metrics)
{
    std::vector<std::string> names;
    for (const MetricComparison &metric : metrics) {
        const auto isOfStep = [&](const MetricDifference &entry) {
            return entry.steps == 1 && entry.first == link.step;
        };
        // What only reads alike is in no proven link: CausalChain leaves it out.
        if (metric.bitsKnown && stageOfMetric(metric.name) == link.stage
            && std::any_of(metric.differences.begin(), metric.differences.end(), isOfStep))
            names.push_back(metric.name);
    }
    if (names.size() != link.compared)
        names.clear();
    return names;
}

std::optional<Finding> ruledOutStages(const std::vector<ChainLink> &chain,
                                      const FirstDivergence &divergence,
                                      const std::vector<MetricComparison> &metrics)
{
    std::vector<const ChainLink *> links;
    for (const ChainLink &link : chain) {
        if (link.status == LinkStatus::Equal && isBefore(link, divergence))
            links.push_back(&link);
    }
    if (links.empty())
        return std::nullopt;
    // The latest steps tell most; earlier ones are in the chain.
    constexpr std::int64_t StepsNamed = 2;
    const std::int64_t last = *links.back()->step;
    Finding finding{"ruled-out", Certainty::Is, Severity::Note, {}, {}};
    std::size_t earlier = 0;
    for (const ChainLink *link : links) {
        if (last - *link->step >= StepsNamed) {
            ++earlier;
            continue;
        }
        const std::vector<std::string> logged = loggedAlone(*link, metrics);
        finding.text += (finding.text.empty() ? "" : ", ") + words(*link, logged);
        for (const std::string &place : logged.empty() ? std::vector{link->stage} : logged) {
            if (std::find(finding.where.begin(), finding.where.end(), place) == finding.where.end())
                finding.where.push_back(place);
        }
    }
    finding.text = "ruled out as where it began, being proven equal before it: " + finding.text
        + (earlier > 0 ? "; and every proven link of earlier steps" : "");
    return finding;
}

std::vector<Finding> ruledOutOperations(const TraceComparison &trace)
{
    std::vector<Finding> findings;
    for (const RankComparison &rank : trace.ranks) {
        if (!rank.first || rank.first->kind != DivergenceKind::Value)
            continue;
        const RankDivergence &first = *rank.first;
        if (first.classification.innocentCollective)
            add(findings, first.record, Certainty::ConsistentWith, first.classification.why);
        else if (first.role == RecordRole::Op && cannotVary(first.record.name))
            add(findings, first.record, Certainty::Is,
                "equal inputs give equal outputs of it on every machine");
    }
    return findings;
}

} // namespace forkpoint
