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
    FP_TRY(chosen.source, chosen.run->open(chosen.index, stop));
    return chosen;
}

} // namespace forkpoint
