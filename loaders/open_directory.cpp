// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/open_directory.h"

#include "loaders/checkpoint_directory.h"
#include "loaders/latest_pointer.h"
#include "loaders/run_directory.h"
#include "loaders/step_name.h"
#include "loaders/text/unread_text.h"
#include "loaders/traces/traced_folders.h"

#include <algorithm>
#include <array>
#include <set>

namespace forkpoint {

namespace fs = std::filesystem;

namespace {

/// Folders in which trainers keep the checkpoints of a run, beside its logs.
constexpr std::array<std::string_view, 8> CheckpointFolders = {
    "checkpoints", "checkpoint", "ckpts", "ckpt", "models", "model", "weights", "save"};

/// The folder of the newest checkpoint, relative to the directory; empty where steps are files.
std::string newestFolder(const fs::path &directory, const OpenedRun &run)
{
    if (run.places().empty() || run.places().back().kind != StepPlace::Kind::Directory)
        return {};
    const std::string relative =
        run.places().back().directory.lexically_relative(directory).string();
    return relative == "." ? std::string() : relative;
}

/// Takes the directory as a series or as one checkpoint; false where it is neither.
Result<bool> takeDirectory(const fs::path &directory, const DirectoryListing &listing,
                           const std::string &prefix, OpenedRun &run, const std::stop_token &stop)
{
    std::string interrupted;
    const bool isClaimed = claimDirectory({directory, prefix, listing}, interrupted) != nullptr;
    auto series = isClaimed ? std::nullopt : planSeries(directory, listing, prefix, stop);
    if (stop.stop_requested())
        return Error{ErrorCode::Cancelled, run.path(), {}, "cancelled"};
    if (series) {
        run.setFormat(series->format.empty() ? "series" : "series of " + std::move(series->format));
        for (SeriesEntry &entry : series->entries) {
            const std::string shown = prefix + entry.name;
            StepPlace place{StepPlace::Kind::File, directory, entry.name, prefix, false};
            if (entry.isDirectory)
                place = {
                    StepPlace::Kind::Directory, directory / entry.name, {}, shown + "/", false};
            RunStep step{entry.step, shown, entry.complete};
            step.unreadable = std::move(entry.unreadable);
            step.rivals = std::move(entry.rivals);
            run.add(std::move(step), std::move(place));
        }
        run.tell(series->diagnostics);
        if (!series->complete)
            run.setIncomplete();
        return true;
    }
    FP_TRY(const DirectoryContents contents, examineDirectory(directory, prefix, false, stop));
    if (!contents.hasCheckpoint() && contents.foreign.empty())
        return false;
    run.setFormat(contents.format());
    run.add({std::nullopt, run.path(), true, stepInName(directory)},
            {StepPlace::Kind::Directory, directory, {}, prefix, false});
    return true;
}

/// The folders worth a look below a directory without checkpoints: the usual names, or the only one.
std::vector<std::string> foldersToTry(const DirectoryListing &listing)
{
    std::vector<std::string> all, usual;
    for (const DirectoryEntry &entry : listing.entries) {
        if (entry.kind != EntryKind::Directory || entry.name.starts_with('.'))
            continue;
        all.push_back(entry.name);
        if (std::find(CheckpointFolders.begin(), CheckpointFolders.end(), entry.name)
            != CheckpointFolders.end())
            usual.push_back(entry.name);
    }
    return usual.empty() && all.size() == 1 ? all : usual;
}

/// Something that may hold checkpoints is not opened: whoever compares must know.
void leaveOut(const std::string &name, std::string text, OpenedRun &run)
{
    run.setIncomplete();
    run.tell({Severity::Warning, "ignored", name, {}, std::move(text)});
}

bool holdsCheckpoints(const fs::path &directory, const std::string &name,
                      const OpenOptions &options, const std::stop_token &stop)
{
    const auto listing = listDirectory(directory / name, name);
    if (!listing.ok())
        return true; // who knows
    OpenedRun other(name, options);
    const auto taken = takeDirectory(directory / name, *listing, name + "/", other, stop);
    return !taken.ok() || *taken;
}

Result<bool> takeFolderBelow(const fs::path &directory, const DirectoryListing &listing,
                             OpenedRun &run, const std::stop_token &stop)
{
    const std::vector<std::string> names = foldersToTry(listing);
    for (const std::string &name : names) {
        const std::string prefix = name + "/";
        const auto below = listDirectory(directory / name, name);
        if (!below.ok()) {
            run.tell(toDiagnostic(below.error(), Severity::Warning));
            continue;
        }
        FP_TRY(const bool taken, takeDirectory(directory / name, *below, prefix, run, stop));
        if (!taken)
            continue;
        if (!below->complete)
            run.setIncomplete();
        for (const std::string &other : names) {
            if (other != name && holdsCheckpoints(directory, other, run.options(), stop))
                leaveOut(other, "holds checkpoints too, which are not opened", run);
        }
        run.tell({Severity::Note, "subfolder", name, {}, "the checkpoints lie in this folder"});
        return true;
    }
    return false;
}

Error nothingHere(const fs::path &directory, const std::string &path,
                  const DirectoryListing &listing, const std::string &whyNoTrace,
                  const std::stop_token &stop)
{
    std::string text = listing.entries.empty() ? "is an empty directory" : "holds no checkpoint";
    const auto contents = examineDirectory(directory, {}, false, stop);
    if (contents.ok()) {
        for (const Diagnostic &diagnostic : contents->diagnostics)
            text += "; " + diagnostic.text;
    }
    text += whyNoTrace + whyUnreadFiles(directory, listing);
    return {ErrorCode::NotFound, path, {}, std::move(text)};
}

} // namespace

std::optional<Step> stepInName(const fs::path &path)
{
    const auto name = parseStepName(path.filename().string());
    return name && name->word != StepWord::Bare ? std::optional(name->step) : std::nullopt;
}

Result<std::shared_ptr<const Run>>
openDirectory(const fs::path &path, std::shared_ptr<OpenedRun> run, const std::stop_token &stop)
{
    FP_TRY(const DirectoryListing listing, listDirectory(path, run->path()));
    if (!listing.complete) {
        run->setIncomplete();
        run->tell({Severity::Warning,
                   std::string(toString(ErrorCode::Limit)),
                   run->path(),
                   {},
                   "may hold at most " + std::to_string(listing.entries.size())
                       + " entries, the rest was not looked at"});
    }
    if (run->options().raw) {
        run->setFormat("files");
        run->add({std::nullopt, run->path(), true},
                 {StepPlace::Kind::Directory, path, {}, {}, false});
        return std::shared_ptr<const Run>(std::move(run));
    }
    TraceFiles traceFiles = findTraceFiles(path, stop, run->mapping());
    const std::string whyNoTrace = traceFiles.whyNone();
    const std::set<std::string> traced = traceFiles.names();
    const Diagnostics before = run->diagnostics();
    bool taken = false;
    if (!holdsPayloads(listing, traceFiles)) {
        FP_TRY(
            taken,
            takeDirectory(path, withoutTrace(path, listing, traceFiles, traced), {}, *run, stop));
    }
    if (taken
        && std::any_of(run->places().begin(), run->places().end(),
                       [&](const StepPlace &place) { return isTraced(place, path, traced); })) {
        run->forgetSteps(before, listing.complete);
        taken = false;
    }
    if (!taken && traced.empty()) {
        FP_TRY(taken, takeFolderBelow(path, listing, *run, stop));
    }
    const std::string format = run->format();
    FP_CHECK(run->addTrace(std::move(traceFiles), stop));
    if (taken)
        run->setFormat(format);
    if (taken || run->trace()) {
        run->addMetrics(findMetricsBeside(path, listing, newestFolder(path, *run), traced, stop));
    }
    const std::string noPrefix;
    for (Diagnostic &diagnostic : checkLatestPointers({path, noPrefix, listing}, run->steps())) {
        if (!taken && diagnostic.severity == Severity::Error) {
            return Error{diagnostic.code == "refused" ? ErrorCode::Refused : ErrorCode::Malformed,
                         std::move(diagnostic.file),
                         {},
                         std::move(diagnostic.text)};
        }
        run->tell(std::move(diagnostic));
    }
    run->addKeptSteps();
    if (taken || run->trace())
        return std::shared_ptr<const Run>(std::move(run));
    FP_TRY(FoundMetrics found, findMetricsAlone(path, listing, stop));
    if (!found.conflict.empty())
        return Error{ErrorCode::NotFound,
                     run->path(),
                     {},
                     "holds logs of several runs, name one of them: " + found.conflict};
    if (found.empty())
        return nothingHere(path, run->path(), listing, whyNoTrace, stop);
    run->addMetricsAlone(std::move(found));
    return std::shared_ptr<const Run>(std::move(run));
}

} // namespace forkpoint
