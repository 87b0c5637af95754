// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/metrics/printed_text.h"

#include "model/metrics/whole_digits.h"

namespace forkpoint {

std::string printedText(const PrintedDecimal &printed)
{
    constexpr int MostZeros = 6; // that a decimal is written with before it takes an exponent
    std::string digits = wholeDigits(printed.mantissa < 0 ? -printed.mantissa : printed.mantissa);
    const bool isNegative = printed.mantissa < 0 || printed.negativeZero;
    const int places = -printed.exponent, count = int(digits.size());
    if (printed.exponent > 0 || places > count + MostZeros) {
        digits += "e" + std::to_string(printed.exponent);
    } else if (places > 0) {
        if (count <= places)
            digits.insert(0, std::size_t(places + 1 - count), '0');
        digits.insert(digits.size() - std::size_t(places), ".");
    }
    return (isNegative ? "-" : "") + digits + (printed.cut ? "\u2026" : "");
}

} // namespace forkpoint
