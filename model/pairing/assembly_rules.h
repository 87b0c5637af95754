// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace forkpoint {

/// How the parts of tensor-parallel ranks make a whole.
struct AssemblyRule
{
    enum class How { Axis0, Axis1, Gated, Same };
    How how = How::Same;
    std::string pattern, reason;
    std::string layer, next; ///< Gated: "linear_fc1" and what it feeds, "linear_fc2"
};

/// The table resources/rules/rank_assembly.txt: "how  pattern  reason", '#' begins a comment.
Result<std::vector<AssemblyRule>> parseAssemblyRules(std::string_view text);
/// The first rule of the embedded table for a name; nullptr where none matches.
const AssemblyRule *assemblyRuleFor(std::string_view name);

/// "decoder.layers.3.x" as "decoder.layers.", 3, "x".
struct NumberedName
{
    std::string before, after;
    std::int64_t number = 0;

    std::string with(std::int64_t other) const;
};

/// By the number behind the key `word`, "layers." for example; nothing where there is none.
std::optional<NumberedName> numberedBehind(std::string_view name, std::string_view word);

/// "decoder.layers.x", a stack of layers, with the number of one: "decoder.layers.3.x"; empty where
/// the name has a number there, or no layers.
std::string withLayer(std::string_view name, std::uint64_t layer);

} // namespace forkpoint
