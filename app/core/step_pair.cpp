// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/step_pair.h"

#include "model/logical_sides.h"

namespace forkpoint {

namespace {

Result<std::shared_ptr<const TensorSource>> openStep(const Run &run, std::optional<Step> step,
                                                     std::stop_token stop)
{
    const std::optional<std::size_t> position = positionOf(run, step);
    if (!position)
        return std::shared_ptr<const TensorSource>();
    return run.open(*position, std::move(stop));
}

} // namespace

Result<OpenedPair> openStepOfBoth(const SessionInputs &inputs, std::optional<Step> step,
                                  const std::stop_token &stop)
{
    OpenedPair opened;
    if (inputs.a) {
        FP_TRY(opened.a, openStep(*inputs.a, step, stop));
    }
    if (inputs.b) {
        FP_TRY(opened.b, openStep(*inputs.b, step, stop));
    }
    LogicalSides sides =
        logicalSides(std::move(opened.a), std::move(opened.b), inputs.options.pairing);
    return OpenedPair{std::move(sides.a), std::move(sides.b)};
}

} // namespace forkpoint
