// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/results/report_reader.h"

#include "loaders/limits.h"
#include "loaders/results/report_evidence_reader.h"
#include "loaders/results/report_rows.h"
#include "loaders/results/report_trace.h"
#include "loaders/text/json_fields.h"
#include "model/compare/comparison_verdict.h"

#include <map>

namespace forkpoint {

namespace {

Verdict verdictOf(const JsonFields &fields)
{
    Verdict verdict;
    verdict.outcome =
        fields.wordOf("outcome",
                      {Outcome::NotCompared, Outcome::Identical, Outcome::WithinTolerance,
                       Outcome::Different, Outcome::Undecided});
    verdict.strength = strengthOf(fields);
    verdict.sentence = fields.text("sentence");
    if (const std::string head = sentenceHead(verdict.outcome); !verdict.sentence.starts_with(head))
        fields.problem("sentence", "expected one that begins with '" + head + "'");
    verdict.reason = fields.textOr("reason");
    if (const auto coverage = fields.objectIf("coverage")) {
        verdict.coverage.tensorsCompared = coverage->count("tensors_compared");
        verdict.coverage.tensorsTotal = coverage->count("tensors_total");
        verdict.coverage.bytesCompared = coverage->count("bytes_compared");
        verdict.coverage.bytesTotal = coverage->count("bytes_total");
        verdict.coverage.stepsUnread = coverage->countIf("steps_unread").value_or(0);
        verdict.coverage.stepsUnfinished = coverage->countIf("steps_unfinished").value_or(0);
        verdict.coverage.stepsInferred = coverage->countIf("steps_inferred").value_or(0);
        verdict.coverage.stepsOneSided = coverage->countIf("steps_one_sided").value_or(0);
        verdict.coverage.recordsCompared = coverage->countIf("records_compared").value_or(0);
        verdict.coverage.recordsTotal = coverage->countIf("records_total").value_or(0);
        verdict.coverage.metricsCompared = coverage->countIf("metrics_compared").value_or(0);
        verdict.coverage.metricsTotal = coverage->countIf("metrics_total").value_or(0);
    }
    return verdict;
}

StepMark stepOf(const JsonFields &fields)
{
    StepMark mark;
    mark.step = fields.integer("step");
    mark.status =
        fields.wordOf("status",
                      {StepStatus::Undecided, StepStatus::Identical, StepStatus::Different,
                       StepStatus::OnlyInA, StepStatus::OnlyInB, StepStatus::Pending});
    mark.inferred = fields.textOr("proof") == "inferred";
    mark.different = fields.countIf("different").value_or(0);
    mark.reason = fields.textOr("reason");
    if (fields.has("lane"))
        mark.lane = fields.wordOf("lane", {StepLane::Checkpoint, StepLane::Trace});
    return mark;
}

MetricDifference differenceOf(const JsonFields &fields)
{
    MetricDifference entry;
    entry.first = fields.integer("step");
    entry.last = fields.integerIf("to").value_or(entry.first);
    entry.steps = fields.countIf("steps").value_or(1);
    entry.different = fields.count("different");
    entry.least = fields.realIf("least");
    entry.largest = fields.realIf("largest");
    if (entry.least.has_value() != entry.largest.has_value() || entry.last < entry.first)
        fields.problem("step", "expected a range and both of its ends");
    return entry;
}

MetricComparison metricOf(const JsonFields &fields, JsonProblem &problem)
{
    MetricComparison metric;
    metric.name = fields.text("name");
    metric.commonSteps = fields.count("common_steps");
    metric.differentSteps = fields.countIf("different_steps").value_or(0);
    metric.firstBitDifference = fields.integerIf("first_bit_difference");
    if (const auto printed = fields.objectIf("first_printed_difference")) {
        for (const JsonValue &member : printed->members()) {
            const auto digits = smallNumber(member.key());
            const auto step = integerOf(member);
            if (digits && step)
                metric.firstPrintedDifference.emplace(*digits, *step);
            else
                printed->problem(member.key(), "expected a number of digits and a step");
        }
    }
    metric.firstProvenDifference = metric.firstBitDifference
        ? metric.firstBitDifference
        : fields.integerIf("first_proven_difference");
    metric.context = fields.flagIf("context").value_or(false);
    metric.oneSidedSteps = fields.countIf("one_sided_steps").value_or(0);
    metric.unmet.count = fields.countIf("unmet_steps").value_or(0);
    metric.bitsKnown = fields.flagIf("bits_known").value_or(true);
    for (const JsonValue &value : fields.arrayIf("differences"))
        metric.differences.push_back(
            differenceOf(JsonFields(value, fields.place() + ".differences", problem)));
    return metric;
}

ResumeFact resumeFactOf(const JsonFields &fields)
{
    ResumeFact fact;
    fact.state = fields.text("state");
    fact.name = fields.textOr("name");
    fact.a = fields.textOr("a");
    fact.b = fields.textOr("b");
    fact.equal = fields.flagIf("equal");
    fact.relation = fields.textOr("relation");
    fact.checkA = {fields.flagIf("consistent_a"), fields.textOr("check_a")};
    fact.checkB = {fields.flagIf("consistent_b"), fields.textOr("check_b")};
    return fact;
}

Finding findingOf(const JsonFields &fields)
{
    Finding finding;
    finding.id = fields.text("id");
    finding.certainty = fields.wordOf("certainty", {Certainty::ConsistentWith, Certainty::Is});
    finding.severity =
        fields.wordOf("severity", {Severity::Error, Severity::Warning, Severity::Note});
    finding.text = fields.text("text");
    finding.where = fields.textsIf("where");
    return finding;
}

Diagnostic diagnosticOf(const JsonFields &fields)
{
    Diagnostic diagnostic;
    diagnostic.severity =
        fields.wordOf("severity", {Severity::Error, Severity::Warning, Severity::Note});
    diagnostic.code = fields.textOr("code");
    diagnostic.file = fields.textOr("file");
    diagnostic.place = fields.textOr("place");
    diagnostic.text = fields.text("text");
    return diagnostic;
}

void readSide(const JsonFields &root, std::string_view key, std::string &path, std::string &format)
{
    if (const auto side = root.objectIf(key)) {
        path = side->textOr("path");
        format = side->textOr("format");
    }
}

/// Reads every element of the array `key` by `read`.
template <class Read>
void forEachObject(const JsonFields &root, std::string_view key, JsonProblem &problem, Read read)
{
    std::size_t number = 0;
    for (const JsonValue &value : root.arrayIf(key)) {
        if (problem.error)
            return;
        read(JsonFields(value, std::string(key) + "[" + std::to_string(number++) + "]", problem));
    }
}

bool alike(const StatusCounts &left, const StatusCounts &right)
{
    return left.identical == right.identical && left.different == right.different
        && left.onlyInA == right.onlyInA && left.onlyInB == right.onlyInB
        && left.notCompared == right.notCompared;
}

void readOutcomes(const JsonFields &root, CheckpointComparison &shown, JsonProblem &problem)
{
    const auto classes = root.objectIf("by_class");
    if (!classes)
        return;
    std::map<StateClass, ClassSummary> recorded;
    for (const JsonValue &member : classes->members()) {
        const JsonFields fields(member, "by_class." + std::string(member.key()), problem);
        const auto stateClass = stateClassByName(member.key());
        if (!stateClass) {
            fields.problem("", "is not a class of this version");
            return;
        }
        ClassSummary &summary = recorded[*stateClass];
        summary.outcome =
            fields.wordOf("outcome",
                          {Outcome::NotCompared, Outcome::Identical, Outcome::WithinTolerance,
                           Outcome::Different, Outcome::Undecided});
        summary.counts = countsOf(fields);
    }
    for (auto &[stateClass, summary] : shown.byClass) {
        const auto found = recorded.find(stateClass);
        if (found == recorded.end() || !alike(found->second.counts, summary.counts)) {
            classes->problem(toString(stateClass), "expected the counts that its rows give");
            return;
        }
        summary.outcome = found->second.outcome;
    }
    if (recorded.size() != shown.byClass.size())
        root.problem("by_class", "expected the classes of its rows and no others");
}

/// Counts and outcome must be those of the rows: a report that contradicts itself says nothing.
void checkAgainstRows(const JsonFields &root, RunComparison &comparison, JsonProblem &problem)
{
    CheckpointComparison &shown = comparison.shown;
    const Verdict verdict = comparison.verdict;
    summarise(shown, ComparisonContext{});
    if (const auto counts = root.objectIf("counts");
        counts && !alike(countsOf(*counts), shown.counts))
        root.problem("counts", "expected the counts that its rows give");
    readOutcomes(root, shown, problem);
    const bool equal =
        verdict.outcome == Outcome::Identical || verdict.outcome == Outcome::WithinTolerance;
    if (equal && (shown.facts.bitsDiffer || shown.facts.shapeOrDtypeDiffers))
        root.problem("verdict",
                     "says '" + std::string(toString(verdict.outcome))
                         + "', but an item of state differs");
    if (comparison.steps.empty())
        shown.verdict = verdict;
}

void readRequest(const JsonFields &root, ReportOptions &options)
{
    if (const auto request = root.objectIf("request")) {
        options.request.command = request->textOr("command");
        options.request.elements = request->textOr("elements");
        options.request.limits = request->textsIf("limits");
    }
    if (const auto environment = root.objectIf("environment")) {
        for (const JsonValue &member : environment->members())
            options.environment.emplace_back(member.key(), environment->textOr(member.key()));
    }
}

} // namespace

Result<RecordedReport> readReport(std::string_view json)
{
    FP_TRY(const JsonDocument document, JsonDocument::parse(json));
    JsonProblem problem;
    const JsonFields root(document.root(), "", problem);
    if (const std::string schema = root.text("schema"); schema != "forkpoint.report/1")
        root.problem("schema", "expected forkpoint.report/1, got '" + schema + "'");
    RecordedReport report;
    RunComparison &comparison = report.comparison;
    CheckpointComparison &shown = comparison.shown;
    comparison.verdict = verdictOf(root.object("verdict"));
    readSide(root, "a", comparison.pathA, comparison.formatA);
    readSide(root, "b", comparison.pathB, comparison.formatB);
    comparison.shownStep = root.integerIf("step");
    forEachObject(root, "tensors", problem, [&](const JsonFields &fields) {
        shown.tensors.push_back(tensorRowOf(fields, report.options.histograms));
    });
    forEachObject(root, "values", problem,
                  [&](const JsonFields &fields) { shown.values.push_back(valueRowOf(fields)); });
    forEachObject(root, "steps", problem,
                  [&](const JsonFields &fields) { comparison.steps.push_back(stepOf(fields)); });
    comparison.seriesA = comparison.seriesB = !comparison.steps.empty();
    const auto divergence = root.find("first_divergence");
    if (divergence && divergence->kind() != JsonValue::Kind::Null)
        comparison.firstDivergence =
            divergenceOf(JsonFields(*divergence, "first_divergence", problem), problem);
    forEachObject(root, "chain", problem, [&](const JsonFields &fields) {
        comparison.chain.push_back(chainLinkOf(fields));
    });
    forEachObject(root, "ranks", problem, [&](const JsonFields &fields) {
        comparison.ranks.push_back(rankSummaryOf(fields));
    });
    if (const auto capture = root.objectIf("next_capture"))
        comparison.nextCapture = nextCaptureOf(*capture);
    forEachObject(root, "metrics", problem, [&](const JsonFields &fields) {
        comparison.metrics.push_back(metricOf(fields, problem));
    });
    forEachObject(root, "resume", problem,
                  [&](const JsonFields &fields) { shown.resume.push_back(resumeFactOf(fields)); });
    forEachObject(root, "findings", problem, [&](const JsonFields &fields) {
        comparison.findings.push_back(findingOf(fields));
    });
    forEachObject(root, "diagnostics", problem, [&](const JsonFields &fields) {
        comparison.diagnostics.push_back(diagnosticOf(fields));
    });
    readRequest(root, report.options);
    report.options.evidence = reportEvidenceOf(root, problem);
    numberPositions(shown);
    if (!problem.error)
        checkAgainstRows(root, comparison, problem);
    if (problem.error)
        return *problem.error;
    shown.findings = comparison.findings;
    shown.diagnostics = comparison.diagnostics;
    shown.finished = comparison.finished = true;
    return report;
}

Result<RecordedReport> readReport(const ByteSource &source)
{
    FP_TRY(const std::vector<std::byte> bytes,
           readAll(source, 0, source.size(), limits::JsonBytes));
    auto report =
        readReport(std::string_view(reinterpret_cast<const char *>(bytes.data()), bytes.size()));
    if (!report)
        return Error(report.error()).inFile(source.name());
    FP_CHECK(source.unchanged());
    return report;
}

} // namespace forkpoint
