// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/mapping_preview.h"

#include "loaders/storage/line_reader.h"
#include "loaders/storage/platform_directory.h"
#include "loaders/text/ascii.h"
#include "loaders/traces/open_trace.h"
#include "loaders/traces/trace_mapping.h"
#include "model/format.h"
#include "model/text/json_writer.h"
#include "model/text/printable.h"

#include <algorithm>

namespace forkpoint {

namespace {

/// Bytes of a line that are kept to be shown.
constexpr std::size_t ShownText = 200;

std::string_view useName(MappedLine::Use use)
{
    switch (use) {
    case MappedLine::Use::Record: return "record";
    case MappedLine::Use::Skipped: return "skipped";
    case MappedLine::Use::NotUnderstood: break;
    }
    return "not-understood";
}

MappingPreview::Line understand(const LineReader::Line &line, const MappingSheet &sheet,
                                const MappedTexts &ofFile)
{
    MappingPreview::Line shown;
    shown.number = line.number;
    shown.text = line.text.substr(0, ShownText);
    if (line.tooLong || !line.ended) {
        shown.problem = line.tooLong ? "is longer than a line may be" : "the last line is torn";
        return shown;
    }
    MappedLine taken = sheet.take(line.text, ofFile);
    shown.use = taken.use;
    shown.rule = taken.rule;
    shown.problem = taken.use == MappedLine::Use::Record
        ? fillRecord(taken.texts, shown.record, shown.rank)
        : std::move(taken.problem);
    if (!shown.problem.empty())
        shown.use = MappedLine::Use::NotUnderstood;
    return shown;
}

void writeRecord(JsonWriter &json, const MappingPreview::Line &line)
{
    const TraceRecord &record = line.record;
    const Observation &tensor = record.outputs.front();
    if (record.iteration)
        json.key("step").number(*record.iteration);
    if (line.rank)
        json.key("rank").number(*line.rank);
    if (record.microBatch)
        json.key("micro_batch").number(*record.microBatch);
    if (!record.stage.empty())
        json.key("stage").text(record.stage);
    json.key("name").text(record.name);
    if (record.callIsStated)
        json.key("call").number(record.call);
    if (tensor.absence == Absence::Recorded) {
        json.key("digest_kind").text(toString(tensor.kind));
        json.key("digest").text(tensor.digest);
    }
    if (!tensor.dtype.empty())
        json.key("dtype").text(tensor.dtype);
    if (!tensor.shape)
        return;
    json.key("shape").beginArray();
    for (const std::uint64_t dimension : *tensor.shape)
        json.number(dimension);
    json.endArray();
}

std::string recordText(const MappingPreview::Line &line)
{
    const TraceRecord &record = line.record;
    const Observation &tensor = record.outputs.front();
    std::string text;
    if (record.iteration)
        text += "step " + std::to_string(*record.iteration) + ", ";
    if (line.rank)
        text += "rank " + std::to_string(*line.rank) + ", ";
    if (record.microBatch)
        text += "micro-batch " + std::to_string(*record.microBatch) + ", ";
    if (!record.stage.empty())
        text += printable(record.stage) + ", ";
    text += printable(record.name);
    if (record.callIsStated)
        text += ", call " + std::to_string(record.call);
    text += tensor.absence == Absence::Recorded
        ? ": " + std::string(toString(tensor.kind)) + ' ' + printable(tensor.digest)
        : std::string(": no value");
    const std::string ofTensor = tensorText(tensor);
    return ofTensor.empty() ? text : text + ", " + ofTensor;
}

} // namespace

std::string tensorText(const Observation &tensor)
{
    std::string text = printable(tensor.dtype);
    if (!tensor.shape)
        return text;
    text += text.empty() ? "[" : " [";
    for (std::size_t i = 0; i < tensor.shape->size(); ++i)
        text += (i == 0 ? "" : ", ") + std::to_string((*tensor.shape)[i]);
    return text + ']';
}

std::size_t MappingPreview::count(MappedLine::Use use) const
{
    return std::size_t(std::count_if(lines.begin(), lines.end(),
                                     [&](const Line &line) { return line.use == use; }));
}

Result<MappingPreview> previewMapping(const std::filesystem::path &path,
                                      const std::shared_ptr<const MappingSheet> &sheet,
                                      std::size_t most, const std::stop_token &stop)
{
    const auto dialect = mappingDialect(sheet);
    FP_TRY(const bool isFolder, isDirectory(path, path.string()));
    const TraceFiles found =
        isFolder ? findTraceFiles(path, stop, dialect) : traceFileAt(path, stop, dialect);
    if (!found.dialect)
        return Error{ErrorCode::NotFound,
                     path.string(),
                     {},
                     "has no text to be read by the sheet " + sheet->path() + found.whyNone()};
    MappingPreview preview{path.string(), sheet->path(), {}};
    for (const TraceFile &file : found.files) {
        const MappedTexts ofFile = sheet->textsOfFile(file.name);
        LineReader lines(*file.source, limits::TraceLineBytes, stop);
        while (preview.lines.size() < most) {
            FP_TRY(const auto line, lines.next());
            if (!line)
                break;
            if (!line->tooLong && isBlank(line->text))
                continue;
            preview.lines.push_back(understand(*line, *sheet, ofFile));
            preview.lines.back().file = file.name;
        }
    }
    return preview;
}

std::string previewJson(const MappingPreview &preview)
{
    JsonWriter json;
    json.beginObject();
    json.key("schema").text("forkpoint.mapping/1");
    json.key("path").text(preview.path);
    json.key("mapping").text(preview.sheet);
    json.key("counts").beginObject();
    json.key("lines").number(std::uint64_t(preview.lines.size()));
    json.key("records").number(std::uint64_t(preview.count(MappedLine::Use::Record)));
    json.key("skipped").number(std::uint64_t(preview.count(MappedLine::Use::Skipped)));
    json.key("not_understood").number(std::uint64_t(preview.count(MappedLine::Use::NotUnderstood)));
    json.endObject();
    json.key("lines").beginArray();
    for (const MappingPreview::Line &line : preview.lines) {
        json.beginObject();
        json.key("file").text(line.file);
        json.key("line").number(line.number);
        json.key("text").text(line.text);
        json.key("use").text(useName(line.use));
        if (line.use == MappedLine::Use::Record)
            writeRecord(json, line);
        if (!line.problem.empty())
            json.key("problem").text(line.problem);
        json.endObject();
    }
    json.endArray();
    json.endObject();
    return json.take();
}

std::string previewText(const MappingPreview &preview)
{
    std::string text;
    for (const MappingPreview::Line &line : preview.lines) {
        text += printable(line.file) + ':' + std::to_string(line.number) + "  ";
        if (line.use == MappedLine::Use::Record)
            text += recordText(line);
        else if (line.use == MappedLine::Use::Skipped)
            text += "skipped: " + printable(line.text);
        else
            text += "NOT UNDERSTOOD, " + line.problem + ": " + printable(line.text);
        text += '\n';
    }
    return text + counted(preview.lines.size(), "line", "lines") + ": "
        + counted(preview.count(MappedLine::Use::Record), "record", "records") + ", "
        + std::to_string(preview.count(MappedLine::Use::Skipped)) + " skipped, "
        + std::to_string(preview.count(MappedLine::Use::NotUnderstood)) + " not understood\n";
}

} // namespace forkpoint
