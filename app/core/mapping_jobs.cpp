// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/mapping_jobs.h"

#include "app/core/mapping_preview.h"
#include "app/core/output_file.h"
#include "loaders/torch/pickle_text.h"

#include <charconv>

namespace forkpoint {

namespace {

/// Understands no line, and takes every file.
constexpr const char *NoSheet = "mapping 1\nfiles *\nkey name -\nset dtype float32\n";
constexpr const char *SheetName = "being written";

/// Of "line 12"; 0 where a place is another.
std::size_t lineOf(const std::string &place)
{
    constexpr std::string_view Word = "line ";
    std::size_t line = 0;
    if (place.starts_with(Word))
        std::from_chars(place.data() + Word.size(), place.data() + place.size(), line);
    return line;
}

MappingTrial::Line shown(const MappingPreview::Line &line)
{
    using Use = MappingTrial::Line::Use;
    MappingTrial::Line result;
    result.file = line.file;
    result.number = line.number;
    result.text = line.text;
    result.rule = line.rule;
    result.problem = line.problem;
    result.use = line.use == MappedLine::Use::Skipped ? Use::Skipped : Use::NotUnderstood;
    if (line.use != MappedLine::Use::Record)
        return result;
    const TraceRecord &record = line.record;
    const Observation &tensor = record.outputs.front();
    result.use = Use::Record;
    result.step = record.iteration;
    result.rank = line.rank;
    result.microBatch = record.microBatch;
    result.stage = record.stage;
    result.name = record.name;
    result.tensor = tensorText(tensor);
    if (tensor.absence == Absence::Recorded) {
        result.digestKind = toString(tensor.kind);
        result.digest = tensor.digest;
    }
    return result;
}

/// The lines as they are, none of them judged.
void showPlainLines(MappingTrial &trial, const std::string &path, const std::stop_token &stop)
{
    const auto none = MappingSheet::parse(NoSheet, SheetName);
    const auto preview = previewMapping(path, *none, TriedLines, stop);
    if (!preview.ok()) {
        trial.trouble = preview.error().message();
        return;
    }
    for (const MappingPreview::Line &line : preview->lines) {
        MappingTrial::Line &plain = trial.lines.emplace_back();
        plain.file = line.file;
        plain.number = line.number;
        plain.text = line.text;
    }
}

} // namespace

MappingTrial tryMapping(const std::string &path, const std::string &sheet,
                        const std::stop_token &stop)
{
    MappingTrial trial;
    for (const Error &error : MappingSheet::problems(sheet, SheetName))
        trial.problems.push_back({lineOf(error.place), error.text});
    if (!trial.problems.empty()) {
        showPlainLines(trial, path, stop);
        return trial;
    }
    const auto parsed = MappingSheet::parse(sheet, SheetName);
    const auto preview = previewMapping(path, *parsed, TriedLines, stop);
    if (!preview.ok()) {
        showPlainLines(trial, path, stop);
        trial.trouble = preview.error().message();
        return trial;
    }
    for (const MappingPreview::Line &line : preview->lines)
        trial.lines.push_back(shown(line));
    return trial;
}

JobBatch mappingTrialBatch(std::string path, std::string sheet,
                           Deliver<std::shared_ptr<const MappingTrial>> deliver)
{
    return [=, path = std::move(path), sheet = std::move(sheet),
            deliver = std::move(deliver)](JobControl &control) -> Result<Batch> {
        auto trial = std::make_shared<const MappingTrial>(tryMapping(path, sheet, control.stop()));
        control.post([deliver, trial] { deliver(trial); });
        return Batch::Done;
    };
}

JobBatch sheetTextBatch(std::string path, Deliver<std::shared_ptr<const std::string>> deliver)
{
    return [path = std::move(path),
            deliver = std::move(deliver)](JobControl &control) -> Result<Batch> {
        FP_TRY(std::string read, sheetText(path));
        if (!pickle::isUtf8(read))
            return Error{ErrorCode::Unsupported, path, {}, "must be UTF-8 to be edited"};
        control.post([deliver, text = std::make_shared<const std::string>(std::move(read))] {
            deliver(text);
        });
        return Batch::Done;
    };
}

JobBatch writeSheetBatch(std::vector<std::string> inputs, std::string path, std::string sheet,
                         Deliver<std::shared_ptr<const std::string>> deliver)
{
    return [inputs = std::move(inputs), path = std::move(path),
            text = std::make_shared<const std::string>(std::move(sheet)),
            deliver = std::move(deliver)](JobControl &control) -> Result<Batch> {
        FP_CHECK(checkOutput(path, inputs));
        FP_CHECK(writeTextFile(path, *text));
        control.post([deliver, text] { deliver(text); });
        return Batch::Done;
    };
}

} // namespace forkpoint
