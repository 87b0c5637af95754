// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/open_run.h"

#include "loaders/checkpoint_directory.h"
#include "loaders/format_probe.h"
#include "loaders/hdf5/keras_index.h"
#include "loaders/open_directory.h"
#include "loaders/opened_run.h"
#include "loaders/results/fpx_run.h"
#include "loaders/sharded/hf_index.h"
#include "loaders/storage/file_source.h"
#include "loaders/text/unread_text.h"

namespace forkpoint {

namespace {

namespace fs = std::filesystem;

Result<std::shared_ptr<const Run>> openFile(const fs::path &path, std::shared_ptr<OpenedRun> run,
                                            const std::stop_token &stop)
{
    const std::string name = path.filename().string();
    FP_TRY(const auto file, FileSource::open(path, name));
    if (beginsAsFpx(*file))
        return openFpx(file, run->path());
    std::string whyNoTrace;
    if (!run->options().raw) {
        TraceFiles trace = traceFileAt(path, stop, run->mapping());
        whyNoTrace = trace.whyNone();
        FP_CHECK(run->addTrace(std::move(trace), stop));
        run->addKeptSteps();
        if (run->trace())
            return std::shared_ptr<const Run>(std::move(run));
    }
    // "." where the user named a file of the working directory.
    const fs::path directory = path.has_parent_path() ? path.parent_path() : fs::path(".");
    StepPlace place{StepPlace::Kind::File, directory, name, {}, true};
    const FormatGuess guess = probeFormat(*file);
    run->setFormat(std::string(guess.format));
    if (guess.confidence != Confidence::Yes && !run->options().raw && isHfIndex(*file)) {
        if (isKerasIndex(*file))
            FP_CHECK(readKerasIndex(*file));
        else
            FP_CHECK(readHfIndex(*file));
        place.kind = StepPlace::Kind::IndexFile;
        run->setFormat("sharded");
    } else if (auto found = guess.confidence == Confidence::Yes ? std::nullopt
                                                                : readMetricsFile(file, stop)) {
        run->addMetricsAlone(std::move(*found));
        return std::shared_ptr<const Run>(std::move(run));
    } else if (guess.confidence == Confidence::No) {
        // Its error lists what each format expected.
        auto loaded = loadFile(file, run->options(), stop);
        if (!loaded.ok()) {
            Error error = std::move(loaded).error();
            error.text += whyNoTrace + whyUnread(*file);
            return error;
        }
        run->setFormat(loaded->format);
    }
    run->add({std::nullopt, run->path(), true, stepInName(path)}, std::move(place));
    return std::shared_ptr<const Run>(std::move(run));
}

} // namespace

Result<std::shared_ptr<const Run>> openRun(const std::filesystem::path &path,
                                           const OpenOptions &options, std::stop_token stop)
{
    auto run = std::make_shared<OpenedRun>(path.string(), options);
    FP_TRY(const bool directory, isDirectory(path, run->path()));
    auto result = directory ? openDirectory(path, run, stop) : openFile(path, run, stop);
    if (!result.ok())
        return std::move(result).error().inFile(run->path());
    if (stop.stop_requested())
        return Error{ErrorCode::Cancelled, run->path(), {}, "cancelled"};
    return result;
}

} // namespace forkpoint
