// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/open_side.h"

namespace forkpoint {

namespace {

Result<std::size_t> chooseStep(const Run &run, std::optional<Step> wanted)
{
    const std::vector<RunStep> &steps = run.steps();
    if (steps.empty())
        return Error{ErrorCode::NotFound, run.path(), {}, "holds no checkpoint"};
    if (!wanted)
        return newestStep(run);
    for (std::size_t i = steps.size(); i-- > 0;) {
        if (steps[i].step == wanted)
            return i;
    }
    return Error{ErrorCode::NotFound, run.path(), "step " + std::to_string(*wanted),
                 "is not among its steps"};
}

/// The newest of a series does not open: the others may.
Error otherwise(Error error, const Run &run, std::size_t index)
{
    const auto step = run.steps()[index].step;
    if (step && run.steps().size() > 1)
        error.text += "; this is step " + std::to_string(*step) + ", the newest of "
            + std::to_string(run.steps().size()) + ": --step N opens another";
    return error;
}

} // namespace

Result<ChosenCheckpoint> openCheckpoint(const std::filesystem::path &path,
                                        const OpenOptions &options, std::optional<Step> step,
                                        std::stop_token stop)
{
    FP_TRY(auto run, openRun(path, options, stop));
    return openCheckpoint(std::move(run), step, stop);
}

Result<ChosenCheckpoint> openCheckpoint(std::shared_ptr<const Run> run, std::optional<Step> step,
                                        std::stop_token stop)
{
    ChosenCheckpoint chosen;
    chosen.run = std::move(run);
    FP_TRY(chosen.index, chooseStep(*chosen.run, step));
    auto source = chosen.run->open(chosen.index, stop);
    if (!source && !step && chosen.run->isSeries() && !stop.stop_requested())
        return otherwise(std::move(source).error(), *chosen.run, chosen.index);
    FP_TRY(chosen.source, std::move(source));
    return chosen;
}

} // namespace forkpoint
