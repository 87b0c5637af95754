// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/result.h"

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace forkpoint {

/// What a name says, whichever framework wrote it.
struct ParameterName
{
    std::string slot;    ///< what an optimizer holds of the parameter: "exp_avg"; empty: itself
    std::string bare;    ///< the parameter without wrappers and prefixes: "layers.3.mlp.up.weight"
    std::string meaning; ///< "layer.3.mlp.up.weight"; empty where no row of the table knows it
    std::string family;  ///< whose word it is: "llama"; empty with `meaning`
};

/// The table resources/rules/parameter_names.txt: how frameworks name one and the same thing.
class ParameterNames
{
public:
    static Result<ParameterNames> parse(std::string_view table);
    /// The embedded table.
    static const ParameterNames &instance();

    ParameterName read(std::string_view name) const;
    /// Of a meaning that some frameworks hold as one tensor: the meanings that others hold apart.
    std::vector<std::string> partsOf(std::string_view meaning) const;

private:
    struct Row
    {
        std::string family, meaning;
    };
    struct Slot
    {
        std::string before, after, name;
    };
    struct Leaf
    {
        std::string other;
        std::string within; ///< of a meaning that says this alone; empty: of any
    };
    using Rows = std::unordered_map<std::string, Row>;

    Status addLine(std::string_view kind, std::vector<std::string_view> words);

    std::vector<std::string> m_wrappers, m_prefixes;
    std::vector<Slot> m_slots;
    std::unordered_map<std::string, Leaf> m_leaves;
    Rows m_rows;                                                       ///< by pattern
    std::unordered_map<std::string, std::vector<std::string>> m_fused; ///< by meaning's pattern
};

} // namespace forkpoint
