// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>

namespace forkpoint {

/// Whether a metric tells of the machine and not of the training: times, rates, memory. Such
/// metrics differ between equal runs; they are listed and decide nothing.
bool isBookkeepingMetric(std::string_view name);

/// The stage of the causal chain (trace_stage.h) that a metric speaks of, by its name: "batch",
/// "loss", "grad_norm", "scheduler", "scaler", or "metric", which is none of the chain.
std::string_view metricStage(std::string_view name);

/// The same where the number is what that stage computes, so that the metric is a link of the chain:
/// "loss", "grad_norm" or "scheduler". Empty for others: a count of tokens is no batch.
std::string_view stageOfMetric(std::string_view name);

} // namespace forkpoint
