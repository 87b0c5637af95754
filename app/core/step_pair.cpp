// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/step_pair.h"

#include "model/pairing/logical_sides.h"

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
    FP_TRY(OpenedPair opened, openWhatIsThere(inputs, step, stop));
    if (opened.errorA || opened.errorB)
        return opened.errorA ? *opened.errorA : *opened.errorB;
    return opened;
}

Result<OpenedPair> openWhatIsThere(const SessionInputs &inputs, std::optional<Step> step,
                                   const std::stop_token &stop)
{
    OpenedPair opened;
    const auto open = [&](const std::shared_ptr<const Run> &run,
                          std::shared_ptr<const TensorSource> &source,
                          std::optional<Error> &error) -> Status {
        if (!run)
            return {};
        auto result = openStep(*run, step, stop);
        if (result)
            source = std::move(*result);
        else if (result.error().code == ErrorCode::Cancelled || stop.stop_requested())
            return result.error();
        else
            error = std::move(result).error();
        return {};
    };
    FP_CHECK(open(inputs.a, opened.a, opened.errorA));
    FP_CHECK(open(inputs.b, opened.b, opened.errorB));
    LogicalSides sides =
        logicalSides(std::move(opened.a), std::move(opened.b), inputs.options.pairing);
    opened.a = std::move(sides.a);
    opened.b = std::move(sides.b);
    return opened;
}

} // namespace forkpoint
