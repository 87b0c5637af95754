// SPDX-License-Identifier: GPL-3.0-or-later
// What the readers of metrics files agree about.
#pragma once

#include <array>
#include <string_view>

namespace forkpoint {

/// Names under which loggers write the step, the preferred first: most; HF and Lightning; Megatron;
/// wandb; Lightning through wandb.
constexpr std::array<std::string_view, 6> StepColumns = {
    "step", "global_step", "iteration", "iter", "_step", "trainer/global_step"};

} // namespace forkpoint
