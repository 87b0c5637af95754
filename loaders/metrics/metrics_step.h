// SPDX-License-Identifier: GPL-3.0-or-later
// What the readers of metrics files agree about: which member is the step, and which numbers are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace forkpoint {

/// A whole number as loggers write steps: digits, or a float without a fraction ("3.0", as pandas
/// writes an integer column with gaps), which is exact up to 2^53.
std::optional<std::int64_t> wholeStep(std::string_view text);

/// How likely a column or member of that name is the step, 0 the likeliest; nothing for other
/// names. "step" (most), "global_step" (HF, Lightning), "iteration" and "iter" (Megatron), "_step"
/// (wandb), "trainer/global_step" (Lightning through wandb), then the same in other letters ("Step"
/// of TensorBoard and of wandb's tables).
std::optional<std::size_t> stepPreference(std::string_view name);

} // namespace forkpoint
