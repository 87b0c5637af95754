// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/session_jobs.h"

namespace forkpoint {

/// One step of both sides; null where a side lacks it or is not open.
struct OpenedPair
{
    std::shared_ptr<const TensorSource> a, b;
};

Result<OpenedPair> openStepOfBoth(const SessionInputs &inputs, std::optional<Step> step,
                                  const std::stop_token &stop);

} // namespace forkpoint
