// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/sharded/deepspeed_files.h"

#include "loaders/sharded/rank_part.h"

namespace forkpoint {

namespace {

/// Takes `word` and the number behind it off the front.
std::optional<std::int64_t> takeRank(std::string_view &name, std::string_view word)
{
    if (!name.starts_with(word))
        return std::nullopt;
    std::size_t at = word.size();
    const auto number = takeNumber(name, at);
    if (number)
        name.remove_prefix(at);
    return number;
}

} // namespace

std::optional<DeepspeedName> parseDeepspeedName(std::string_view name)
{
    constexpr std::string_view Model = "model_states.pt", Optimizer = "optim_states.pt";
    const bool isModel = name.ends_with(Model);
    if (!isModel && !name.ends_with(Optimizer))
        return std::nullopt;
    DeepspeedName result;
    for (const std::string_view precision : {"bf16_", "fp16_"}) {
        if (name.starts_with(precision))
            name.remove_prefix(precision.size());
    }
    result.dataRank = takeRank(name, "zero_pp_rank_");
    if (result.dataRank && name.starts_with('_'))
        name.remove_prefix(1);
    const auto modelRank = takeRank(name, "mp_rank_");
    if (!modelRank || !name.starts_with('_')
        || (name.substr(1) != Model && name.substr(1) != Optimizer))
        return result; // Other
    result.modelRank = *modelRank;
    result.kind = isModel ? DeepspeedName::Kind::Model : DeepspeedName::Kind::Optimizer;
    return result;
}

} // namespace forkpoint
