// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/open_run.h"

#include "loaders/checkpoint_directory.h"
#include "loaders/dtype_override.h"
#include "loaders/file_source.h"
#include "loaders/format_probe.h"
#include "loaders/fpx_run.h"
#include "loaders/hf_index.h"
#include "loaders/keras_index.h"
#include "loaders/latest_pointer.h"
#include "loaders/metrics_files.h"
#include "loaders/open_trace.h"
#include "loaders/repeated_step.h"
#include "loaders/run_directory.h"
#include "loaders/step_name.h"
#include "loaders/trace_mapping.h"
#include "loaders/unread_text.h"

#include <algorithm>
#include <array>
#include <set>

namespace forkpoint {

namespace {

namespace fs = std::filesystem;

/// Folders in which trainers keep the checkpoints of a run, beside its logs.
constexpr std::array<std::string_view, 8> CheckpointFolders = {
    "checkpoints", "checkpoint", "ckpts", "ckpt", "models", "model", "weights", "save"};

/// Where a step is and how it is opened.
struct Place
{
    enum class Kind { File, Index, Directory, Values, Kept };
    Kind kind = Kind::File;
    fs::path directory; ///< that a file lies in, or the directory itself
    std::string name;   ///< of a file in it
    std::string prefix; ///< before names in diagnostics
    bool named = false; ///< the user named this very file: its links are followed
};

class OpenedRun final : public Run
{
public:
    OpenedRun(std::string path, OpenOptions options)
        : m_path(std::move(path)),
          m_options(std::move(options))
    {
    }

    const std::string &path() const override { return m_path; }
    const std::string &format() const override { return m_format; }
    const std::vector<RunStep> &steps() const override { return m_steps; }
    const std::vector<MetricSeries> &metrics() const override { return m_metrics; }
    std::shared_ptr<const Trace> trace() const override { return m_trace; }
    const Diagnostics &diagnostics() const override { return m_diagnostics; }
    bool complete() const override { return m_complete; }

    Result<std::shared_ptr<const TensorSource>> open(std::size_t index,
                                                     std::stop_token stop) const override
    {
        if (index >= m_places.size())
            return Error{ErrorCode::Usage, m_path, {}, "there is no checkpoint of that number"};
        if (m_places[index].kind == Place::Kind::Values)
            return m_values;
        if (m_places[index].kind == Place::Kind::Kept)
            return m_trace->kept(m_steps[index].step, std::move(stop));
        const Place &place = m_places[index];
        FP_CHECK(m_repeated.check(index, m_steps[index], place.directory, place.name, stop));
        auto loaded = load(place, std::move(stop));
        if (!loaded.ok())
            return std::move(loaded).error().inFile(m_steps[index].path);
        reportIdleOverrides(m_options.dtypes, loaded->builder);
        return std::shared_ptr<const TensorSource>(
            loaded->builder.build(std::move(loaded->format)));
    }

    void add(RunStep step, Place place)
    {
        m_steps.push_back(std::move(step));
        m_places.push_back(std::move(place));
    }

    /// In the order of the numbers; steps without one come first.
    void addKept(std::optional<Step> number)
    {
        RunStep step{number, m_path};
        step.isKept = true;
        const auto place = std::upper_bound(
            m_steps.begin(), m_steps.end(), number,
            [](std::optional<Step> wanted, const RunStep &each) { return wanted < each.step; });
        m_places.insert(m_places.begin() + (place - m_steps.begin()),
                        {Place::Kind::Kept, {}, {}, {}, false});
        m_steps.insert(place, std::move(step));
    }

    /// The steps were none: only what was said before them stays.
    void forgetSteps(const Diagnostics &before, bool complete)
    {
        m_steps.clear();
        m_places.clear();
        m_diagnostics = before;
        m_complete = complete;
    }

    std::string m_path;
    OpenOptions m_options;
    std::string m_format;
    std::vector<RunStep> m_steps;
    std::vector<Place> m_places;
    std::vector<MetricSeries> m_metrics;
    std::shared_ptr<const Trace> m_trace;
    std::shared_ptr<const TensorSource> m_values; ///< of metrics alone
    Diagnostics m_diagnostics;
    bool m_complete = true;

private:
    mutable RepeatedSteps m_repeated;

    Result<LoadedFile> load(const Place &place, std::stop_token stop) const
    {
        switch (place.kind) {
        case Place::Kind::Directory:
            return loadDirectory(place.directory, place.prefix, m_options, std::move(stop));
        case Place::Kind::Index:
            return loadIndexFile(place.directory, place.name, place.prefix, m_options,
                                 std::move(stop));
        case Place::Kind::Values:
        case Place::Kind::Kept:
        case Place::Kind::File: break;
        }
        FP_TRY(auto file,
               place.named ? FileSource::open(place.directory / place.name, place.name)
                           : FileSource::openBeneath(place.directory, place.name,
                                                     place.prefix + place.name));
        return loadFile(std::move(file), m_options, std::move(stop));
    }
};

/// Takes over what was found; a log beside checkpoints is no part of them.
void addMetrics(FoundMetrics found, Severity mostSevere, OpenedRun &run)
{
    run.m_metrics = std::move(found.series);
    for (Diagnostic &diagnostic : found.diagnostics) {
        if (diagnostic.severity == Severity::Error)
            diagnostic.severity = mostSevere;
        run.m_diagnostics.push_back(std::move(diagnostic));
    }
}

/// A run without checkpoints: its one step holds what the files say beside the numbers.
void addMetricsAlone(FoundMetrics found, OpenedRun &run)
{
    run.m_format = found.format;
    run.m_complete = run.m_complete && found.complete;
    run.m_values = found.values.build(found.format);
    addMetrics(std::move(found), Severity::Error, run);
    RunStep step{std::nullopt, run.m_path};
    step.metricsOnly = true;
    run.add(std::move(step), {Place::Kind::Values, {}, {}, {}, false});
}

/// The folder of the newest checkpoint, relative to the directory; empty where steps are files.
std::string newestFolder(const fs::path &directory, const OpenedRun &run)
{
    if (run.m_places.empty() || run.m_places.back().kind != Place::Kind::Directory)
        return {};
    const std::string relative =
        run.m_places.back().directory.lexically_relative(directory).string();
    return relative == "." ? std::string() : relative;
}

/// The dialect of the sheet that the user gave; nullptr without one.
std::shared_ptr<const TraceDialect> mappingOf(const OpenedRun &run)
{
    return run.m_options.mapping ? mappingDialect(run.m_options.mapping) : nullptr;
}

/// Opens the trace that some files are; nothing to do where there is none, unless a sheet was given.
Status addTrace(TraceFiles files, OpenedRun &run, const std::stop_token &stop)
{
    if (!files.dialect && run.m_options.mapping)
        return Error{ErrorCode::NotFound,
                     {},
                     {},
                     "has no line that the sheet " + run.m_options.mapping->path() + " understands"
                         + files.whyNone()};
    if (!files.dialect)
        return {};
    FP_TRY(run.m_trace, indexTrace(std::move(files), stop));
    run.m_format = run.m_trace->dialect();
    const Diagnostics &said = run.m_trace->diagnostics();
    run.m_diagnostics.insert(run.m_diagnostics.end(), said.begin(), said.end());
    return {};
}

/// Steps of which the trace kept whole tensors, where no checkpoint has that number.
void addKeptSteps(OpenedRun &run)
{
    if (!run.m_trace)
        return;
    for (const std::optional<Step> iteration : run.m_trace->keptIterations()) {
        if (std::none_of(run.m_steps.begin(), run.m_steps.end(),
                         [&](const RunStep &step) { return step.step == iteration; }))
            run.addKept(iteration);
    }
}

/// Whether a step is a file of the trace or a folder with its files: no checkpoint.
bool isTraced(const Place &place, const fs::path &directory, const std::set<std::string> &traced)
{
    if (traced.empty())
        return false;
    if (place.kind != Place::Kind::Directory)
        return traced.count(place.prefix + place.name) > 0;
    const std::string folder = place.directory.lexically_relative(directory).string() + "/";
    const auto first = traced.lower_bound(folder);
    return first != traced.end() && first->starts_with(folder);
}

/// Whether a folder holds files of the trace and nothing else that could be a checkpoint.
bool holdsTraceAlone(const fs::path &directory, const std::string &name, const TraceFiles &trace,
                     const std::set<std::string> &traced)
{
    const std::string prefix = name + "/";
    const auto first = traced.lower_bound(prefix);
    if (first == traced.end() || !first->starts_with(prefix))
        return false;
    const auto listing = listDirectory(directory / name, name);
    return listing.ok() && listing->complete
        && std::all_of(
               listing->entries.begin(), listing->entries.end(), [&](const DirectoryEntry &entry) {
                   const bool isTrace = traced.count(prefix + entry.name) > 0
                       || entry.name.ends_with(".tmp") || trace.dialect->isPayload(entry.name);
                   return entry.kind == EntryKind::File && isTrace;
               });
}

/// Whether tensors of a trace's records lie among its files: then no checkpoint is sought there.
bool holdsPayloads(const DirectoryListing &listing, const TraceFiles &trace)
{
    return trace.dialect
        && std::any_of(
               listing.entries.begin(), listing.entries.end(),
               [&](const DirectoryEntry &entry) { return trace.dialect->isPayload(entry.name); });
}

/// What a directory has beside the folders of its trace.
DirectoryListing withoutTrace(const fs::path &directory, DirectoryListing listing,
                              const TraceFiles &trace, const std::set<std::string> &traced)
{
    std::erase_if(listing.entries, [&](const DirectoryEntry &entry) {
        return entry.kind == EntryKind::Directory
            && holdsTraceAlone(directory, entry.name, trace, traced);
    });
    return listing;
}

/// A number that a word calls a step; a bare one may count anything.
std::optional<Step> stepInName(const fs::path &path)
{
    const auto name = parseStepName(path.filename().string());
    return name && name->word != StepWord::Bare ? std::optional(name->step) : std::nullopt;
}

using OpenedPtr = std::shared_ptr<OpenedRun>;

Result<std::shared_ptr<const Run>> openFile(const fs::path &path, OpenedPtr run,
                                            const std::stop_token &stop)
{
    const std::string name = path.filename().string();
    FP_TRY(const auto file, FileSource::open(path, name));
    if (beginsAsFpx(*file))
        return openFpx(file, run->m_path);
    std::string whyNoTrace;
    if (!run->m_options.raw) {
        TraceFiles trace = traceFileAt(path, stop, mappingOf(*run));
        whyNoTrace = trace.whyNone();
        FP_CHECK(addTrace(std::move(trace), *run, stop));
        addKeptSteps(*run);
        if (run->m_trace)
            return std::shared_ptr<const Run>(std::move(run));
    }
    // "." where the user named a file of the working directory.
    const fs::path directory = path.has_parent_path() ? path.parent_path() : fs::path(".");
    Place place{Place::Kind::File, directory, name, {}, true};
    const FormatGuess guess = probeFormat(*file);
    run->m_format = guess.format;
    if (guess.confidence != Confidence::Yes && !run->m_options.raw && isHfIndex(*file)) {
        if (isKerasIndex(*file))
            FP_CHECK(readKerasIndex(*file));
        else
            FP_CHECK(readHfIndex(*file));
        place.kind = Place::Kind::Index;
        run->m_format = "sharded";
    } else if (auto found = guess.confidence == Confidence::Yes ? std::nullopt
                                                                : readMetricsFile(file, stop)) {
        addMetricsAlone(std::move(*found), *run);
        return std::shared_ptr<const Run>(std::move(run));
    } else if (guess.confidence == Confidence::No) {
        // Its error lists what each format expected.
        auto loaded = loadFile(file, run->m_options, stop);
        if (!loaded.ok()) {
            Error error = std::move(loaded).error();
            error.text += whyNoTrace + whyUnread(*file);
            return error;
        }
        run->m_format = loaded->format;
    }
    run->add({std::nullopt, run->m_path, true, stepInName(path)}, std::move(place));
    return std::shared_ptr<const Run>(std::move(run));
}

/// Takes the directory as a series or as one checkpoint; false where it is neither.
Result<bool> takeDirectory(const fs::path &directory, const DirectoryListing &listing,
                           const std::string &prefix, OpenedRun &run, const std::stop_token &stop)
{
    std::string interrupted;
    const bool isClaimed = claimDirectory({directory, prefix, listing}, interrupted) != nullptr;
    auto series = isClaimed ? std::nullopt : planSeries(directory, listing, prefix, stop);
    if (stop.stop_requested())
        return Error{ErrorCode::Cancelled, run.m_path, {}, "cancelled"};
    if (series) {
        run.m_format = series->format.empty() ? "series" : "series of " + std::move(series->format);
        for (SeriesEntry &entry : series->entries) {
            const std::string shown = prefix + entry.name;
            Place place{Place::Kind::File, directory, entry.name, prefix, false};
            if (entry.isDirectory)
                place = {Place::Kind::Directory, directory / entry.name, {}, shown + "/", false};
            RunStep step{entry.step, shown, entry.complete};
            step.unreadable = std::move(entry.unreadable);
            step.rivals = std::move(entry.rivals);
            run.add(std::move(step), std::move(place));
        }
        std::move(series->diagnostics.begin(), series->diagnostics.end(),
                  std::back_inserter(run.m_diagnostics));
        run.m_complete = run.m_complete && series->complete;
        return true;
    }
    FP_TRY(const DirectoryContents contents, examineDirectory(directory, prefix, false, stop));
    if (!contents.hasCheckpoint() && contents.foreign.empty())
        return false;
    run.m_format = contents.format();
    run.add({std::nullopt, run.m_path, true, stepInName(directory)},
            {Place::Kind::Directory, directory, {}, prefix, false});
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
    run.m_complete = false;
    run.m_diagnostics.push_back({Severity::Warning, "ignored", name, {}, std::move(text)});
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
            run.m_diagnostics.push_back(toDiagnostic(below.error(), Severity::Warning));
            continue;
        }
        FP_TRY(const bool taken, takeDirectory(directory / name, *below, prefix, run, stop));
        if (!taken)
            continue;
        run.m_complete = run.m_complete && below->complete;
        for (const std::string &other : names) {
            if (other != name && holdsCheckpoints(directory, other, run.m_options, stop))
                leaveOut(other, "holds checkpoints too, which are not opened", run);
        }
        run.m_diagnostics.push_back(
            {Severity::Note, "subfolder", name, {}, "the checkpoints lie in this folder"});
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

Result<std::shared_ptr<const Run>> openDirectory(const fs::path &path, OpenedPtr run,
                                                 const std::stop_token &stop)
{
    FP_TRY(const DirectoryListing listing, listDirectory(path, run->m_path));
    if (!listing.complete) {
        run->m_complete = false;
        run->m_diagnostics.push_back({Severity::Warning,
                                      std::string(toString(ErrorCode::Limit)),
                                      run->m_path,
                                      {},
                                      "may hold at most " + std::to_string(listing.entries.size())
                                          + " entries, the rest was not looked at"});
    }
    if (run->m_options.raw) {
        run->m_format = "files";
        run->add({std::nullopt, run->m_path, true}, {Place::Kind::Directory, path, {}, {}, false});
        return std::shared_ptr<const Run>(std::move(run));
    }
    TraceFiles traceFiles = findTraceFiles(path, stop, mappingOf(*run));
    const std::string whyNoTrace = traceFiles.whyNone();
    const std::set<std::string> traced = traceFiles.names();
    const Diagnostics before = run->m_diagnostics;
    bool taken = false;
    if (!holdsPayloads(listing, traceFiles)) {
        FP_TRY(
            taken,
            takeDirectory(path, withoutTrace(path, listing, traceFiles, traced), {}, *run, stop));
    }
    if (taken && std::any_of(run->m_places.begin(), run->m_places.end(), [&](const Place &place) {
            return isTraced(place, path, traced);
        })) {
        run->forgetSteps(before, listing.complete);
        taken = false;
    }
    if (!taken && traced.empty()) {
        FP_TRY(taken, takeFolderBelow(path, listing, *run, stop));
    }
    const std::string format = run->m_format;
    FP_CHECK(addTrace(std::move(traceFiles), *run, stop));
    if (taken)
        run->m_format = format;
    if (taken || run->m_trace) {
        addMetrics(findMetricsBeside(path, listing, newestFolder(path, *run), traced, stop),
                   Severity::Warning, *run);
    }
    const std::string noPrefix;
    for (Diagnostic &diagnostic : checkLatestPointers({path, noPrefix, listing}, run->m_steps)) {
        if (!taken && diagnostic.severity == Severity::Error) {
            return Error{diagnostic.code == "refused" ? ErrorCode::Refused : ErrorCode::Malformed,
                         std::move(diagnostic.file),
                         {},
                         std::move(diagnostic.text)};
        }
        run->m_diagnostics.push_back(std::move(diagnostic));
    }
    addKeptSteps(*run);
    if (taken || run->m_trace)
        return std::shared_ptr<const Run>(std::move(run));
    FP_TRY(FoundMetrics found, findMetricsAlone(path, listing, stop));
    if (!found.conflict.empty())
        return Error{ErrorCode::NotFound,
                     run->m_path,
                     {},
                     "holds logs of several runs, name one of them: " + found.conflict};
    if (found.empty())
        return nothingHere(path, run->m_path, listing, whyNoTrace, stop);
    addMetricsAlone(std::move(found), *run);
    return std::shared_ptr<const Run>(std::move(run));
}

} // namespace

Result<std::shared_ptr<const Run>> openRun(const std::filesystem::path &path,
                                           const OpenOptions &options, std::stop_token stop)
{
    auto run = std::make_shared<OpenedRun>(path.string(), options);
    FP_TRY(const bool directory, isDirectory(path, run->m_path));
    auto result = directory ? openDirectory(path, run, stop) : openFile(path, run, stop);
    if (!result.ok())
        return std::move(result).error().inFile(run->m_path);
    if (stop.stop_requested())
        return Error{ErrorCode::Cancelled, run->m_path, {}, "cancelled"};
    return result;
}

} // namespace forkpoint
