// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/report_json.h"

#include "model/json_values.h"
#include "model/json_writer.h"

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

void optionalNumber(JsonWriter &json, std::string_view name, std::optional<double> value)
{
    if (value)
        json.key(name).number(*value);
}

void writeMaxima(JsonWriter &json, const DiffStats &stats, const DType &dtype)
{
    if (stats.maxAbsIndex != NoIndex) {
        json.key("max_abs");
        if (dtype.isFloating())
            json.number(stats.maxAbs);
        else
            json.number(stats.maxAbsInteger);
        json.key("max_abs_index").number(stats.maxAbsIndex);
    }
    if (dtype.isFloating() && stats.maxUlpIndex != NoIndex) {
        json.key("max_ulp").number(stats.maxUlp);
        json.key("max_ulp_index").number(stats.maxUlpIndex);
    }
}

void writeStats(JsonWriter &json, const TensorRow &row, const ReportOptions &options)
{
    const DiffStats &stats = *row.stats;
    const DType &dtype =
        row.comparedAs.empty() || row.comparedAs == row.dtypeA.name ? row.dtypeA : row.dtypeB;
    json.key("different_elements").number(stats.differentElements);
    if (dtype.kind != ElementKind::Opaque)
        json.key("finite_pairs").number(stats.finitePairs);
    if (stats.differentElements > 0) {
        json.key("first_index").number(stats.firstIndex);
        json.key("last_index").number(stats.lastIndex);
    }
    if (dtype.kind == ElementKind::Opaque)
        return;
    writeMaxima(json, stats, dtype);
    optionalNumber(json, "mean_abs", stats.meanAbs());
    optionalNumber(json, "rms", stats.rms());
    optionalNumber(json, "rms_a", stats.rmsA());
    optionalNumber(json, "rms_b", stats.rmsB());
    optionalNumber(json, "cosine", stats.cosine());
    if (dtype.isFloating()) {
        json.key("nan_a").number(stats.nanA);
        json.key("nan_b").number(stats.nanB);
        json.key("inf_a").number(stats.infA);
        json.key("inf_b").number(stats.infB);
        json.key("nan_payload_only").number(stats.nanPayloadOnly);
        json.key("signed_zero_only").number(stats.signedZeroOnly);
        json.key("sign_flips").number(stats.signFlips);
    }
    if (!options.histograms)
        return;
    json.key("histogram").beginObject();
    writeHistogram(json, "abs_a", stats.absA);
    writeHistogram(json, "abs_b", stats.absB);
    writeHistogram(json, "abs_difference", stats.absDifference);
    if (dtype.isFloating())
        writeHistogram(json, "ulp", stats.ulp);
    json.endObject();
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
    json.key("status").text(toString(row.status));
    if (!row.reason.empty())
        json.key("reason").text(row.reason);
    if (row.a) {
        json.key("dtype_a").text(row.dtypeA.name);
        writeShape(json.key("shape_a"), row.shapeA);
    }
    if (row.b) {
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
    json.key("elements").number(row.elements);
    if (row.stats)
        writeStats(json, row, options);
    else if (row.status == ItemStatus::Identical)
        json.key("different_elements").number(std::uint64_t(0));
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
    json.key("status").text(toString(row.status));
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
        json.key("lane").text("checkpoint");
        json.key("status").text(toString(mark.status));
        if (mark.status == StepStatus::Identical || mark.status == StepStatus::Different) {
            json.key("proof").text("read");
            json.key("different").number(mark.different);
        }
        if (!mark.reason.empty())
            json.key("reason").text(mark.reason);
        json.endObject();
    }
    json.endArray();
}

void writeDivergence(JsonWriter &json, const std::optional<FirstDivergence> &divergence)
{
    json.key("first_divergence");
    if (!divergence) {
        json.null();
        return;
    }
    json.beginObject();
    if (divergence->step)
        json.key("step").number(*divergence->step);
    json.key("stage").text(divergence->stage);
    json.key("name").text(divergence->name);
    json.key("kind").text(divergence->kind);
    if (divergence->provenEqualStep || !divergence->provenEqualName.empty()) {
        json.key("after").beginObject();
        if (divergence->provenEqualStep)
            json.key("step").number(*divergence->provenEqualStep);
        if (!divergence->provenEqualName.empty())
            json.key("name").text(divergence->provenEqualName);
        json.endObject();
    }
    json.key("proven_equal_before").boolean(divergence->provenEqualBefore);
    json.key("sentence").text(divergence->sentence);
    json.endObject();
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
        json.key("bits_known").boolean(metric.bitsKnown);
        json.endObject();
    }
    json.endArray();
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
    writeMetrics(json, comparison.metrics);
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
