// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace forkpoint {

struct NonFiniteWord
{
    std::string_view word;
    double value = 0;
};

/// What Python's json.dumps writes for floats that JSON has no word for, without quotes.
inline constexpr std::array<NonFiniteWord, 3> NonFiniteWords = {{
    {"NaN", std::numeric_limits<double>::quiet_NaN()},
    {"-Infinity", -std::numeric_limits<double>::infinity()},
    {"Infinity", std::numeric_limits<double>::infinity()},
}};

/// A text in whose place of each such word stands a number of as many characters, so that a parser of
/// JSON takes it and its errors name the right byte.
struct FiniteText
{
    struct Replaced
    {
        std::size_t end = 0; ///< of the word
        double value = 0;
    };
    std::string text;
    std::vector<Replaced> replaced; ///< rising
};

/// Nothing where there is no such word outside quotes.
std::optional<FiniteText> withFiniteNumbers(std::string_view text);

} // namespace forkpoint
