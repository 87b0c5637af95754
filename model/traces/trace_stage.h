// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/state_class.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace forkpoint {

/// Links of the causal chain within a step, in causal order: "restored", "optimizer", "rng",
/// "scheduler", "batch", "forward", "loss", "backward", "grad", "grad_norm", "update", "weight".
/// What a trace calls otherwise keeps its word and stands behind them.
std::size_t causalPlace(std::string_view stage);

/// Whether a stage is a link of the chain.
bool isInChain(std::string_view stage);

/// The chain's word for what tools call "fwd", "data", "param": the same word where it has none.
std::string stageByWord(std::string_view word);

/// The class of state that a stage speaks of; Unknown for what is computed on the way (activations,
/// the loss, gradients, the update).
StateClass stateClassOfStage(std::string_view stage);

} // namespace forkpoint
