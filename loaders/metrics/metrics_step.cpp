// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/metrics/metrics_step.h"

#include "model/metrics/printed_decimal.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string>

namespace forkpoint {

namespace {

constexpr std::array<std::string_view, 6> Names = {"step", "global_step", "iteration",
                                                   "iter", "_step",       "trainer/global_step"};

} // namespace

std::optional<std::int64_t> wholeStep(std::string_view text)
{
    constexpr double Exact = 9007199254740992.0; // 2^53
    std::int64_t step = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), step);
    if (error == std::errc() && end == text.data() + text.size())
        return step;
    const auto number = parseDecimal(text);
    if (!number || !(std::fabs(number->value) <= Exact)
        || number->value != std::trunc(number->value))
        return std::nullopt;
    return std::int64_t(number->value);
}

std::optional<std::size_t> stepPreference(std::string_view name)
{
    const auto place = std::find(Names.begin(), Names.end(), name);
    if (place != Names.end())
        return std::size_t(place - Names.begin());
    std::string lower(name.substr(0, Names.back().size() + 1));
    for (char &c : lower)
        c = c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c;
    const auto alike = std::find(Names.begin(), Names.end(), lower);
    return alike == Names.end() ? std::nullopt
                                : std::optional(Names.size() + std::size_t(alike - Names.begin()));
}

} // namespace forkpoint
