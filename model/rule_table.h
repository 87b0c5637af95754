// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace forkpoint {

/// A line of a table of rules (resources/rules), with its number in the table from 1.
struct RuleLine
{
    std::string_view text;
    std::size_t number = 0;
};

/// The lines that are rules: neither blank nor a comment, which begins with #. They refer to `table`.
std::vector<RuleLine> ruleLines(std::string_view table);

/// Takes the first word off a line; empty where there is none.
std::string_view takeWord(std::string_view &line);

} // namespace forkpoint
