// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/compare/element_difference.h"

namespace forkpoint {

std::optional<std::string> wideDifference(const ElementRow &row)
{
    constexpr std::uint64_t MostNegative = std::uint64_t(1) << 63;
    std::uint64_t size = 0; // of a - b, where that is positive
    const Scalar &a = row.a.real, &b = row.b.real;
    if (const auto *x = std::get_if<std::int64_t>(&a)) {
        const auto *y = std::get_if<std::int64_t>(&b);
        size = y && *y < *x ? std::uint64_t(*x) - std::uint64_t(*y) : 0;
    } else if (const auto *u = std::get_if<std::uint64_t>(&a)) {
        const auto *v = std::get_if<std::uint64_t>(&b);
        size = v && *v < *u ? *u - *v : 0;
    }
    return size > MostNegative ? std::optional("-" + std::to_string(size)) : std::nullopt;
}

} // namespace forkpoint
