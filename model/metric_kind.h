// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>

namespace forkpoint {

/// Whether a metric tells of the machine and not of the training: times, rates, memory. Such
/// metrics differ between equal runs; they are listed and decide nothing.
bool isBookkeepingMetric(std::string_view name);

/// The stage of the causal chain that a metric speaks of, by its name: "batch", "loss", "grad_norm",
/// "scheduler", "scaler", or "metric".
std::string_view metricStage(std::string_view name);

/// The order of stages within one step: what is computed first comes first.
int orderOfStage(std::string_view stage);

} // namespace forkpoint
