// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace forkpoint {

/// What the name of a file of a DeepSpeed save says.
struct DeepspeedName
{
    enum class Kind { Model, Optimizer, Other };
    Kind kind = Kind::Other;
    std::int64_t modelRank = 0;           ///< mp_rank
    std::optional<std::int64_t> dataRank; ///< zero_pp_rank
};

/// "mp_rank_00_model_states.pt", "zero_pp_rank_1_mp_rank_00_model_states.pt",
/// "bf16_zero_pp_rank_1_mp_rank_00_optim_states.pt"; others of the kind (pipeline layers, experts)
/// are Other. Nothing for files of something else.
std::optional<DeepspeedName> parseDeepspeedName(std::string_view name);

} // namespace forkpoint
