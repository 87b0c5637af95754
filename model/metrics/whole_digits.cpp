// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/metrics/whole_digits.h"

#include <cstdint>

namespace forkpoint {

std::string wholeDigits(PrintedDecimal::Mantissa number)
{
    // Ten units of 36 digits are 10^37: their upper part fits into 64 bits only without a sign.
    constexpr std::uint64_t Half = 1'000'000'000'000'000'000;
    const std::string sign = number < 0 ? "-" : "";
    const PrintedDecimal::Mantissa size = number < 0 ? -number : number;
    const auto high = std::uint64_t(size / Half), low = std::uint64_t(size % Half);
    if (high == 0)
        return sign + std::to_string(low);
    const std::string rest = std::to_string(low);
    return sign + std::to_string(high) + std::string(18 - rest.size(), '0') + rest;
}

} // namespace forkpoint
