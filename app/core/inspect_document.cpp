// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/inspect_document.h"

#include "app/core/inspect_trace.h"
#include "app/core/metrics_listing.h"
#include "app/core/resume_text.h"
#include "app/core/run_on.h"
#include "model/format.h"
#include "model/pairing/optimizer_names.h"
#include "model/pairing/tied_tensors.h"
#include "model/resume/resume_facts.h"
#include "model/text/json_values.h"
#include "model/text/printable.h"
#include "model/text/value_text.h"

#include <algorithm>

namespace forkpoint {

namespace {

/// Masters and weights that are read to be held against each other.
constexpr std::uint64_t MasterBytes = std::uint64_t(256) << 20;
constexpr std::size_t ShownFacts = 200;

void writeTensor(JsonWriter &json, const TensorRef &tensor, const std::string &parameter,
                 const TensorDigests *digests)
{
    json.beginObject();
    json.key("name").text(tensor.name);
    if (!parameter.empty())
        json.key("parameter").text(parameter);
    writePath(json.key("path"), tensor.path);
    json.key("class").text(toString(tensor.stateClass));
    if (tensor.layoutKnown) {
        json.key("dtype").text(tensor.dtype.name);
        writeShape(json.key("shape"), tensor.shape);
        json.key("elements").number(tensor.elements);
        json.key("bytes").number(tensor.bytes);
    }
    if (tensor.globalShape)
        writeShape(json.key("global_shape"), *tensor.globalShape);
    if (digests) {
        for (const auto &[name, hex] : digests->byName)
            json.key(name).text(hex);
    }
    json.key("files").beginArray();
    for (const std::string &file : tensor.files)
        json.text(file);
    json.endArray();
    if (!tensor.note.empty())
        json.key("note").text(tensor.note);
    if (tensor.unreadable)
        json.key("unreadable").text(tensor.unreadable->message());
    json.endObject();
}

void writeValueRef(JsonWriter &json, const ValueRef &value)
{
    json.beginObject();
    json.key("name").text(value.name);
    writePath(json.key("path"), value.path);
    json.key("class").text(toString(value.stateClass));
    json.key("type").text(toString(value.value.type));
    writeValue(json, value.value, "value", "");
    json.endObject();
}

void writeSteps(JsonWriter &json, const ChosenCheckpoint &chosen)
{
    if (!chosen.run->isSeries())
        return;
    json.key("steps").beginArray();
    for (const RunStep &step : chosen.run->steps()) {
        if (step.step)
            json.number(*step.step);
    }
    json.endArray();
    if (const auto step = chosen.run->steps()[chosen.index].step)
        json.key("step").number(*step);
}

/// Why a step is not like the others; empty where it is.
std::string mark(const RunStep &step)
{
    if (!step.rivals.empty())
        return " (several entries)";
    return step.complete ? "" : step.isUnfinished() ? " (not finished)" : " (unreadable)";
}

std::string tensorLine(const TensorRef &tensor, const std::string &parameter,
                       const TensorDigests *digests)
{
    const std::string layout = tensor.layoutKnown ? printable(tensor.dtype.name) + " "
            + tensor.shape.toString() + "  " + byteSize(tensor.bytes)
                                                  : "type and shape unknown";
    std::string line = "  " + printable(tensor.name) + "  " + layout + "  "
        + std::string(toString(tensor.stateClass));
    if (digests) {
        for (const auto &[name, hex] : digests->byName)
            line += "  " + name + " " + hex;
    }
    if (!parameter.empty())
        line += "  (of " + printable(parameter) + ")";
    if (!tensor.note.empty())
        line += "  (" + printable(tensor.note) + ")";
    if (tensor.unreadable)
        line += "  UNREADABLE: " + printable(tensor.unreadable->message());
    return line + "\n";
}

} // namespace

bool InspectDocument::allRead() const
{
    const auto isError = [](const Diagnostic &diagnostic) {
        return diagnostic.severity == Severity::Error;
    };
    if (!chosen)
        return trace && std::none_of(diagnostics.begin(), diagnostics.end(), isError);
    const auto &tensors = chosen->source->catalog().tensors;
    return std::none_of(tensors.begin(), tensors.end(),
                        [](const TensorRef &tensor) { return tensor.unreadable.has_value(); })
        && std::none_of(digests.begin(), digests.end(),
                        [](const TensorDigests &digest) { return digest.error.has_value(); })
        && std::none_of(diagnostics.begin(), diagnostics.end(), isError);
}

bool InspectDocument::complete() const
{
    const bool checkpointComplete =
        !chosen || (chosen->source->catalog().complete && chosen->run->complete());
    return allRead() && checkpointComplete && (!trace || trace->complete());
}

InspectDocument inspect(const std::string &path, const OpenOptions &options,
                        std::optional<Step> step, const std::vector<std::string> &digests,
                        Executor &executor, std::stop_token stop,
                        const std::function<void(const Progress &)> &progress)
{
    InspectDocument document;
    document.path = path;
    auto run = runOn(executor, [&] { return openRun(path, options, stop); });
    if (run && (*run)->trace())
        document.trace = (*run)->trace();
    if (document.trace && (*run)->steps().empty()) {
        document.diagnostics = (*run)->diagnostics();
        return document;
    }
    auto chosen = run ? runOn(executor, [&] { return openCheckpoint(*run, step, stop); })
                      : Result<ChosenCheckpoint>(run.error());
    if (!chosen) {
        document.diagnostics.push_back(toDiagnostic(chosen.error(), Severity::Error));
        return document;
    }
    document.chosen = std::move(chosen).value();
    document.diagnostics = document.chosen->run->diagnostics();
    const Catalog &catalog = document.chosen->source->catalog();
    document.diagnostics.insert(document.diagnostics.end(), catalog.diagnostics.begin(),
                                catalog.diagnostics.end());
    document.resume = resumeFacts(*document.chosen->source, MasterBytes, stop);
    document.findings = catalog.findings;
    for (Finding &finding : tiedFindings(*document.chosen->source, TiedBytes, stop))
        document.findings.push_back(std::move(finding));
    for (Finding &finding : resumeFindings(document.resume, false))
        document.findings.push_back(std::move(finding));
    if (digests.empty())
        return document;
    document.digests = digestTensors(*document.chosen->source, digests, executor, stop, progress);
    for (std::size_t i = 0; i < document.digests.size(); ++i) {
        const auto &error = document.digests[i].error;
        if (error && !catalog.tensors[i].unreadable)
            document.diagnostics.push_back(toDiagnostic(*error, Severity::Error));
    }
    const TensorSource &source = *document.chosen->source;
    if (const Status status = runOn(executor, [&] { return source.unchanged(); }); !status)
        document.diagnostics.push_back(toDiagnostic(status.error(), Severity::Error));
    return document;
}

std::string inspectJson(const InspectDocument &document)
{
    JsonWriter json;
    json.beginObject();
    json.key("schema").text("forkpoint.inspect/1");
    json.key("path").text(document.path);
    if (document.chosen) {
        json.key("format").text(document.chosen->source->catalog().format);
        json.key("complete").boolean(document.complete());
        writeSteps(json, *document.chosen);
    } else {
        if (document.trace)
            json.key("format").text(document.trace->dialect());
        json.key("complete").boolean(document.complete());
        if (document.trace)
            writeTraceSteps(json, *document.trace);
    }
    if (document.trace)
        writeTrace(json, *document.trace);
    static const Catalog Nothing;
    const Catalog &catalog = document.chosen ? document.chosen->source->catalog() : Nothing;
    const std::vector<OptimizerNames> optimizers = optimizerNames(catalog);
    json.key("tensors").beginArray();
    for (std::size_t i = 0; i < catalog.tensors.size(); ++i)
        writeTensor(json, catalog.tensors[i], parameterOf(catalog.tensors[i].path, optimizers),
                    document.digests.empty() ? nullptr : &document.digests[i]);
    json.endArray();
    json.key("values").beginArray();
    for (const ValueRef &value : catalog.values)
        writeValueRef(json, value);
    json.endArray();
    if (document.chosen)
        writeMetricSeries(json, document.chosen->run->metrics());
    writeResume(json, document.resume, false);
    writeFindings(json, document.findings);
    writeDiagnostics(json, document.diagnostics);
    json.endObject();
    return json.take();
}

std::string inspectText(const InspectDocument &document)
{
    const std::string traced = document.trace ? traceText(*document.trace) : std::string();
    if (!document.chosen && document.trace)
        return printable(document.path) + ": " + document.trace->dialect()
            + (document.complete() ? "" : ", INCOMPLETE") + "\n" + traced;
    if (!document.chosen)
        return printable(document.path) + ": could not be opened\n";
    const Catalog &catalog = document.chosen->source->catalog();
    const Run &run = *document.chosen->run;
    std::uint64_t bytes = 0;
    for (const TensorRef &tensor : catalog.tensors)
        bytes += tensor.bytes;
    std::string text = printable(document.path) + ": " + run.format() + ", "
        + counted(catalog.tensors.size(), "tensor", "tensors") + " (" + byteSize(bytes) + "), "
        + counted(catalog.values.size(), "value", "values")
        + (document.complete() ? "" : ", INCOMPLETE") + "\n";
    if (run.isSeries()) {
        text += "steps:";
        for (const RunStep &step : run.steps())
            text += (step.step ? " " + std::to_string(*step.step) : std::string(" ?")) + mark(step);
        if (const auto shown = run.steps()[document.chosen->index].step)
            text += "; shown: " + std::to_string(*shown);
        text += "\n";
    }
    const std::vector<OptimizerNames> optimizers = optimizerNames(catalog);
    text += "tensors:\n";
    for (std::size_t i = 0; i < catalog.tensors.size(); ++i)
        text += tensorLine(catalog.tensors[i], parameterOf(catalog.tensors[i].path, optimizers),
                           document.digests.empty() ? nullptr : &document.digests[i]);
    text += "values:\n";
    for (const ValueRef &value : catalog.values)
        text += "  " + printable(value.name) + " = " + printable(shownValue(value.value)) + "  "
            + std::string(toString(value.stateClass)) + "\n";
    text += metricSeriesText(run.metrics());
    text += resumeText(document.resume, false, ShownFacts);
    for (const Finding &finding : document.findings)
        text += "finding: " + printable(finding.text) + "\n";
    return text + traced;
}

} // namespace forkpoint
