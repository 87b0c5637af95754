// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/catalog.h"

#include <string>
#include <unordered_map>

namespace forkpoint {

/// Names under which numbered states of two optimizers meet, where equal numbers are no equal
/// parameters: a change of parameter groups renumbers them, and some writers use names instead.
struct StateNames
{
    struct Name
    {
        std::string logical; ///< "optimizer.state.layers.0.weight.exp_avg"
        std::string reason;  ///< "number 3 is layers.0.weight by order, shape and count"
    };
    std::unordered_map<TensorIndex, Name> a, b; ///< of the tensors that are to be renamed
};

StateNames stateNamesAcross(const Catalog &a, const Catalog &b);

} // namespace forkpoint
