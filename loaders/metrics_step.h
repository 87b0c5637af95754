// SPDX-License-Identifier: GPL-3.0-or-later
// What the readers of metrics files agree about.
#pragma once

#include <array>
#include <limits>
#include <optional>
#include <string_view>

namespace forkpoint {

/// Names under which loggers write the step, the preferred first: most; HF and Lightning; Megatron;
/// wandb; Lightning through wandb.
constexpr std::array<std::string_view, 6> StepColumns = {
    "step", "global_step", "iteration", "iter", "_step", "trainer/global_step"};

/// NaN and infinities as Python, C and our own reports spell them.
inline std::optional<double> nonFiniteByName(std::string_view text)
{
    constexpr double Infinity = std::numeric_limits<double>::infinity();
    if (text == "NaN" || text == "nan")
        return std::numeric_limits<double>::quiet_NaN();
    if (text == "Infinity" || text == "inf")
        return Infinity;
    if (text == "-Infinity" || text == "-inf")
        return -Infinity;
    return std::nullopt;
}

} // namespace forkpoint
