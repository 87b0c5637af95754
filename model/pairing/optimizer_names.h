// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/catalog.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace forkpoint {

/// Whose state the numbers of one optimizer are: "optimizer.state.3.exp_avg" of "layers.0.weight".
struct OptimizerNames
{
    KeyPath root;      ///< of the optimizer: "optimizer"
    std::string model; ///< what stands before the parameters' names: "model."
    std::map<std::int64_t, std::string> parameters; ///< by number, without `model`
    std::string reason;                             ///< "by order, shape and count"
};

/// The optimizers of a catalogue whose numbers are those of parameters beyond doubt: where the groups
/// name them, or where one file holds the model in its order beside the optimizer, and order, shapes
/// and counts allow one assignment only. Groups take parameters in the model's order, each its own.
std::vector<OptimizerNames> optimizerNames(const Catalog &catalog);

/// Number and what follows of a path below `root`.state: {3, "exp_avg"}; nothing for others.
struct NumberedState
{
    std::int64_t number = 0;
    std::string slot;
};
std::optional<NumberedState> numberedState(const KeyPath &path, const KeyPath &root);

/// The parameter of a tensor's state, with the model's prefix; empty where it is not clear.
std::string parameterOf(const KeyPath &path, const std::vector<OptimizerNames> &optimizers);

} // namespace forkpoint
