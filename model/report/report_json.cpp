// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/report/report_json.h"

#include "model/compare/row_stats.h"
#include "model/report/report_json_evidence.h"
#include "model/report/report_json_trace.h"
#include "model/text/json_values.h"
#include "model/text/json_writer.h"

namespace forkpoint {

namespace {

void writeVerdict(JsonWriter &json, const Verdict &verdict)
{
    json.key("verdict").beginObject();
    json.key("outcome").text(toString(verdict.outcome));
    json.key("strength").text(toString(verdict.strength));
    json.key("sentence").text(verdict.sentence);
    if (!verdict.reason.empty())
        json.key("reason").text(verdict.reason);
    json.key("coverage").beginObject();
    json.key("tensors_compared").number(verdict.coverage.tensorsCompared);
    json.key("tensors_total").number(verdict.coverage.tensorsTotal);
    json.key("bytes_compared").number(verdict.coverage.bytesCompared);
    json.key("bytes_total").number(verdict.coverage.bytesTotal);
    const auto steps = [&](std::string_view key, std::uint64_t count) {
        if (count > 0)
            json.key(key).number(count);
    };
    steps("steps_unread", verdict.coverage.stepsUnread);
    steps("steps_unfinished", verdict.coverage.stepsUnfinished);
    steps("steps_inferred", verdict.coverage.stepsInferred);
    steps("steps_one_sided", verdict.coverage.stepsOneSided);
    if (verdict.coverage.recordsTotal > 0) {
        json.key("records_compared").number(verdict.coverage.recordsCompared);
        json.key("records_total").number(verdict.coverage.recordsTotal);
    }
    if (verdict.coverage.metricsTotal > 0) {
        json.key("metrics_compared").number(verdict.coverage.metricsCompared);
        json.key("metrics_total").number(verdict.coverage.metricsTotal);
    }
    json.endObject();
    json.endObject();
}

void writeCounts(JsonWriter &json, const StatusCounts &counts)
{
    json.key("identical").number(counts.identical);
    json.key("different").number(counts.different);
    json.key("only_in_a").number(counts.onlyInA);
    json.key("only_in_b").number(counts.onlyInB);
    json.key("not_compared").number(counts.notCompared);
}

void writeByClass(JsonWriter &json, const CheckpointComparison &comparison)
{
    json.key("by_class").beginObject();
    for (const auto &[stateClass, summary] : comparison.byClass) {
        json.key(toString(stateClass)).beginObject();
        json.key("outcome").text(toString(summary.outcome));
        writeCounts(json, summary.counts);
        json.endObject();
    }
    json.endObject();
}

void writeHistogram(JsonWriter &json, std::string_view name, const PowerHistogram &histogram)
{
    json.key(name).beginObject();
    json.key("zero").number(histogram.zeros());
    for (const auto &[power, count] : histogram.bins())
        json.key(std::to_string(power)).number(count);
    json.endObject();
}

void writeHistograms(JsonWriter &json, const TensorRow &row)
{
    if (measuredType(row).kind == ElementKind::Opaque)
        return;
    json.key("histogram").beginObject();
    writeHistogram(json, "abs_a", row.stats->absA);
    writeHistogram(json, "abs_b", row.stats->absB);
    writeHistogram(json, "abs_difference", row.stats->absDifference);
    if (measuredType(row).isFloating())
        writeHistogram(json, "ulp", row.stats->ulp);
    json.endObject();
}

void writeStats(JsonWriter &json, const TensorRow &row, const ReportOptions &options)
{
    for (const auto &[name, number] : statsOf(row)) {
        json.key(name);
        std::visit([&](auto value) { json.number(value); }, number);
    }
    if (row.stats && options.histograms)
        writeHistograms(json, row);
}

void writeTensor(JsonWriter &json, const TensorRow &row, const ReportOptions &options)
{
    json.beginObject();
    json.key("name").text(row.name);
    if (row.a)
        json.key("name_a").text(row.nameA);
    if (row.b)
        json.key("name_b").text(row.nameB);
    json.key("class").text(toString(row.stateClass));
    if (row.pairedBy != PairedBy::Unpaired)
        json.key("paired_by").text(toString(row.pairedBy));
    if (!row.pairedReason.empty())
        json.key("paired_reason").text(row.pairedReason);
    if (!row.parameter.empty())
        json.key("parameter").text(row.parameter);
    if (row.ambiguous)
        json.key("ambiguous").boolean(true);
    if (row.notComparable)
        json.key("not_comparable").boolean(true);
    json.key("status").text(toString(row.status));
    if (!row.reason.empty())
        json.key("reason").text(row.reason);
    if (row.a && row.layoutKnownA) {
        json.key("dtype_a").text(row.dtypeA.name);
        writeShape(json.key("shape_a"), row.shapeA);
    }
    if (row.b && row.layoutKnownB) {
        json.key("dtype_b").text(row.dtypeB.name);
        writeShape(json.key("shape_b"), row.shapeB);
    }
    if (row.valueEqual)
        json.key("value_equal").boolean(*row.valueEqual);
    if (!row.comparedAs.empty())
        json.key("compared_as").text(row.comparedAs);
    if (row.withinTolerance)
        json.key("within_tolerance").boolean(true);
    if (row.stoppedEarly)
        json.key("stopped_early").boolean(true);
    if (row.partlyRead)
        json.key("partly_read").boolean(true);
    json.key("elements").number(row.elements);
    writeStats(json, row, options);
    if (row.firstPlaces && row.firstPlaces->a)
        writePlace(json, "first_place_a", *row.firstPlaces->a);
    if (row.firstPlaces && row.firstPlaces->b)
        writePlace(json, "first_place_b", *row.firstPlaces->b);
    if (row.fingerprintA)
        json.key("fingerprint_a").text(row.fingerprintA->tensor.toHex());
    if (row.fingerprintB)
        json.key("fingerprint_b").text(row.fingerprintB->tensor.toHex());
    json.endObject();
}

void writeValueRow(JsonWriter &json, const ValueRow &row)
{
    json.beginObject();
    json.key("name").text(row.name);
    json.key("class").text(toString(row.stateClass));
    if (row.valueA)
        json.key("type_a").text(toString(row.valueA->type));
    if (row.valueB)
        json.key("type_b").text(toString(row.valueB->type));
    if (row.valueA)
        writeValue(json, *row.valueA, "a", "_a");
    if (row.valueB)
        writeValue(json, *row.valueB, "b", "_b");
    if (row.notComparable)
        json.key("not_comparable").boolean(true);
    json.key("status").text(toString(row.status));
    if (!row.reason.empty())
        json.key("reason").text(row.reason);
    if (row.ambiguous)
        json.key("ambiguous").boolean(true);
    if (row.withinTolerance)
        json.key("within_tolerance").boolean(true);
    json.endObject();
}

void writeSteps(JsonWriter &json, const std::vector<StepMark> &steps)
{
    json.key("steps").beginArray();
    for (const StepMark &mark : steps) {
        json.beginObject();
        json.key("step").number(mark.step);
        json.key("lane").text(toString(mark.lane));
        json.key("status").text(toString(mark.status));
        if (mark.status == StepStatus::Identical || mark.status == StepStatus::Different) {
            json.key("proof").text(mark.inferred ? "inferred" : "read");
            if (!mark.inferred)
                json.key("different").number(mark.different);
        }
        if (!mark.reason.empty())
            json.key("reason").text(mark.reason);
        json.endObject();
    }
    json.endArray();
}

/// B - A step by step; the entry of several steps says which, how many, and its range.
void writeDifferences(JsonWriter &json, const std::vector<MetricDifference> &differences)
{
    json.key("differences").beginArray();
    for (const MetricDifference &entry : differences) {
        json.beginObject();
        json.key("step").number(entry.first);
        if (entry.steps > 1) {
            json.key("to").number(entry.last);
            json.key("steps").number(entry.steps);
        }
        json.key("different").number(entry.different);
        if (entry.least) {
            json.key("least").number(*entry.least);
            json.key("largest").number(*entry.largest);
        }
        json.endObject();
    }
    json.endArray();
}

void writeMetrics(JsonWriter &json, const std::vector<MetricComparison> &metrics)
{
    if (metrics.empty())
        return;
    json.key("metrics").beginArray();
    for (const MetricComparison &metric : metrics) {
        json.beginObject();
        json.key("name").text(metric.name);
        json.key("common_steps").number(metric.commonSteps);
        if (metric.firstBitDifference)
            json.key("first_bit_difference").number(*metric.firstBitDifference);
        json.key("first_printed_difference").beginObject();
        for (const auto &[digits, step] : metric.firstPrintedDifference)
            json.key(std::to_string(digits)).number(step);
        json.endObject();
        if (metric.firstProvenDifference && !metric.bitsKnown)
            json.key("first_proven_difference").number(*metric.firstProvenDifference);
        json.key("bits_known").boolean(metric.bitsKnown);
        if (metric.context)
            json.key("context").boolean(true);
        if (metric.oneSidedSteps > 0)
            json.key("one_sided_steps").number(metric.oneSidedSteps);
        if (metric.unmet.count > 0)
            json.key("unmet_steps").number(metric.unmet.count);
        json.key("different_steps").number(metric.differentSteps);
        writeDifferences(json, metric.differences);
        json.endObject();
    }
    json.endArray();
}

void writeRequest(JsonWriter &json, const ReportRequest &request)
{
    if (request.empty())
        return;
    json.key("request").beginObject();
    json.key("command").text(request.command);
    if (!request.elements.empty())
        json.key("elements").text(request.elements);
    json.key("limits").beginArray();
    for (const std::string &limit : request.limits)
        json.text(limit);
    json.endArray();
    json.endObject();
}

void writeSide(JsonWriter &json, std::string_view key, const std::string &path,
               const std::string &format)
{
    json.key(key).beginObject();
    json.key("path").text(path);
    if (!format.empty())
        json.key("format").text(format);
    json.endObject();
}

} // namespace

std::string reportJson(const RunComparison &comparison, const ReportOptions &options)
{
    const CheckpointComparison &shown = comparison.shown;
    JsonWriter json;
    json.beginObject();
    json.key("schema").text("forkpoint.report/1");
    writeVerdict(json, comparison.verdict);
    writeByClass(json, shown);
    writeSide(json, "a", comparison.pathA, comparison.formatA);
    writeSide(json, "b", comparison.pathB, comparison.formatB);
    writeRequest(json, options.request);
    if (comparison.shownStep)
        json.key("step").number(*comparison.shownStep);
    json.key("counts").beginObject();
    json.key("matched").number(shown.counts.matched());
    writeCounts(json, shown.counts);
    json.endObject();
    json.key("tensors").beginArray();
    for (const TensorRow &row : shown.tensors)
        writeTensor(json, row, options);
    json.endArray();
    json.key("values").beginArray();
    for (const ValueRow &row : shown.values)
        writeValueRow(json, row);
    json.endArray();
    if (!comparison.steps.empty())
        writeSteps(json, comparison.steps);
    writeDivergence(json, comparison.firstDivergence);
    writeChain(json, comparison.chain);
    writeRanks(json, comparison.ranks);
    writeMetrics(json, comparison.metrics);
    if (options.evidence)
        writeCurves(json, *options.evidence);
    writeResume(json, shown.resume, true);
    writeNextCapture(json, comparison.nextCapture);
    writeFindings(json, comparison.findings);
    writeDiagnostics(json, comparison.diagnostics);
    if (!options.environment.empty()) {
        json.key("environment").beginObject();
        for (const auto &[name, value] : options.environment)
            json.key(name).text(value);
        json.endObject();
    }
    json.endObject();
    return json.take();
}

} // namespace forkpoint
