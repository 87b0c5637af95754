// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace forkpoint {

/// A number as it was printed: mantissa x 10^exponent, rounded at its last place. It stands for
/// every value that prints so, an interval of half a unit to each side.
struct PrintedDecimal
{
    __extension__ using Mantissa = __int128;
    Mantissa mantissa = 0;     ///< at most KeptDigits digits
    std::int32_t exponent = 0; ///< of the last printed place
    bool negativeZero = false;
    bool exact = false; ///< no interval: NaN or an infinity
    bool cut = false;   ///< had more digits than are kept: the interval is a whole place each way

    /// A float64 has 15 decimal digits in any case; texts of as many were not rounded for people.
    static constexpr int FullDigits = 15;
    /// The mantissa keeps as many: every integer of 64 bits, every float64, two digits below 2^127,
    /// so that ten of its units fit too.
    static constexpr int KeptDigits = 36;
    bool operator==(const PrintedDecimal &) const = default;
};

/// A number in a text file, and how much of it the text tells.
struct DecimalText
{
    double value = 0; ///< the nearest float64
    PrintedDecimal printed;
    int significantDigits = 0; ///< trailing zeros included, leading ones not; 0 for NaN, infinities
    bool wholeNumber =
        false;           ///< digits alone, and a float64 holds them; "%.4g" may have rounded it
    bool lossy = false;  ///< digits alone, and a float64 does not hold them: `value` is another
    bool dyadic = false; ///< the text is the exact value of a float64
};

/// NaN and infinities as Python, C and our own reports spell them: "nan", "inf" or "infinity" in any
/// case, with or without a sign.
std::optional<double> nonFiniteByName(std::string_view text);

/// A whole text as a number: "5.0356", "1.991445E-03", "12", "-0.0", "nan", "-Infinity". Nothing
/// else: no hexadecimal, no white space, no separators; values beyond float64 are refused.
std::optional<DecimalText> parseDecimal(std::string_view text);

/// Whether a text that parseDecimal refuses is a decimal number all the same, as "1.5e400" is.
bool isDecimalBeyondFloat64(std::string_view text);

/// The smallest and largest float64 that are surely no further out than the interval's ends.
struct DecimalRange
{
    double low = 0, high = 0;
};
DecimalRange rangeOf(const PrintedDecimal &decimal);

/// That no value prints as both. Two texts of one last place that are not alike are so, because
/// rounding is a function; otherwise the intervals must not even touch. For finite numbers.
bool surelyDifferent(const PrintedDecimal &a, const PrintedDecimal &b);

} // namespace forkpoint
