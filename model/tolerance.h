// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>

#include "model/dtype.h"

namespace forkpoint {

/// When a differing element is still good enough, by the user's own word. There is no default: no
/// hidden epsilon. Symmetric in A and B. An element whose bits differ is within the tolerance if
/// |a - b| <= atol + rtol * max(|a|, |b|), or if its ULP distance is <= maxUlp, each where asked
/// for; two NaN are within; NaN or Inf against anything else is not. Arithmetic in float64.
/// It is for floats: counters, generator states and permutations are equal or they are not.
struct Tolerance
{
    std::optional<double> rtol, atol;
    std::optional<std::uint64_t> maxUlp;

    bool asked() const { return rtol || atol || maxUlp; }
};

/// Whether elements of these types may differ within a tolerance.
inline bool toleranceApplies(const DType &a, const DType &b)
{
    return a.isFloating() && b.isFloating();
}

} // namespace forkpoint
