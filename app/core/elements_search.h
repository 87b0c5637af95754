// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compare/element_reader.h"
#include "model/compare/verdict.h"
#include "model/pairing/pairing.h"
#include "model/progress.h"
#include "model/step_plan.h"

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

namespace forkpoint {

/// Which elements of which tensor.
struct ElementsRequest
{
    std::string tensor; ///< a logical name, or either side's own
    PairingOptions pairing;
    StepSelection steps;
    ElementQuery query;
};

/// The rows of one tensor at one step, or why there are none.
struct FoundElements
{
    std::optional<TensorPairRef> pair;
    std::optional<Step> stepA, stepB; ///< that `page` shows; nothing without numbers
    std::optional<ElementPage> page;
    std::optional<Error> error; ///< why `page` is absent, or which step could not be read
    Outcome outcome = Outcome::NotCompared; ///< what compare would say of this tensor alone
};

/// The first common step at which the tensor differs, else the last: the steps are those that
/// compare would look at.
FoundElements findElements(const Run &a, const Run &b, const ElementsRequest &request,
                           const std::function<void(const Progress &)> &progress,
                           std::stop_token stop = {});

} // namespace forkpoint
