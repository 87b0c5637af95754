// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/metrics/metrics_row.h"

#include <algorithm>
#include <array>

namespace forkpoint {

namespace {

constexpr std::array<std::string_view, 15> NumberNames = {
    "rank",    "global_rank", "world_rank", "process_index", "local_rank", "dp_rank",
    "tp_rank", "pp_rank",     "cp_rank",    "ep_rank",       "dp",         "tp",
    "pp",      "cp",          "ep"};

constexpr std::array<std::string_view, 12> TextNames = {"phase",  "split",   "mode",  "stage",
                                                        "subset", "dataset", "event", "type",
                                                        "kind",   "metric",  "name",  "tag"};

/// Longer texts are messages.
constexpr std::size_t MostLabelBytes = 64;

/// A CRC-32 has eight, but so have words and numbers.
constexpr std::size_t LeastDigestDigits = 16;

template <class Names>
bool holds(const Names &names, std::string_view name)
{
    return std::find(names.begin(), names.end(), name) != names.end();
}

} // namespace

bool RowLabel::isNumber(std::string_view name)
{
    return holds(NumberNames, name);
}

bool RowLabel::isText(std::string_view name, std::string_view value)
{
    return holds(TextNames, name) && !value.empty() && value.size() <= MostLabelBytes;
}

void RowLabel::add(std::string_view name, std::string_view value)
{
    m_values.insert_or_assign(std::string(name), std::string(value));
}

std::string RowLabel::text() const
{
    std::string text;
    for (const auto &[name, value] : m_values)
        text.append(text.empty() ? " [" : ", ").append(name).append(1, ' ').append(value);
    return text.empty() ? text : text + ']';
}

bool isDigestText(std::string_view text)
{
    return text.size() >= LeastDigestDigits && text.size() % 2 == 0
        && text.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
}

} // namespace forkpoint
