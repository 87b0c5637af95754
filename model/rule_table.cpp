// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/rule_table.h"

#include <algorithm>

namespace forkpoint {

std::vector<RuleLine> ruleLines(std::string_view table)
{
    std::vector<RuleLine> lines;
    std::size_t number = 0;
    while (!table.empty()) {
        const auto end = std::min(table.find('\n'), table.size());
        const std::string_view line = table.substr(0, end);
        table.remove_prefix(std::min(end + 1, table.size()));
        ++number;
        const auto begin = line.find_first_not_of(" \t\r");
        if (begin != std::string_view::npos && line[begin] != '#')
            lines.push_back({line, number});
    }
    return lines;
}

std::string_view takeWord(std::string_view &line)
{
    const auto begin = std::min(line.find_first_not_of(" \t"), line.size());
    const auto end = std::min(line.find_first_of(" \t", begin), line.size());
    const std::string_view found = line.substr(begin, end - begin);
    line.remove_prefix(end);
    return found;
}

} // namespace forkpoint
