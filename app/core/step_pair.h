// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/session_jobs.h"

namespace forkpoint {

/// One step of both sides; null where a side lacks it, is not open, or could not be read.
struct OpenedPair
{
    std::shared_ptr<const TensorSource> a, b;
    std::optional<Error> errorA, errorB; ///< why a side could not be read
};

/// Fails where a side that has the step cannot be read.
Result<OpenedPair> openStepOfBoth(const SessionInputs &inputs, std::optional<Step> step,
                                  const std::stop_token &stop);

/// As openStepOfBoth(), with what can be read of them; fails only where it is stopped.
Result<OpenedPair> openWhatIsThere(const SessionInputs &inputs, std::optional<Step> step,
                                   const std::stop_token &stop);

} // namespace forkpoint
