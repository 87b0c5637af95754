// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/dtype.h"

#include <cstdint>
#include <optional>

namespace forkpoint {

// Single codes of the float formats, for tables and conversions. The statistics have their own,
// faster reading (gpu/kernels/element_codec.h); the tests hold the two against each other.

bool isNanCode(const FloatLayout &layout, std::uint64_t bits);
bool isInfinityCode(const FloatLayout &layout, std::uint64_t bits);

/// The exact value as float64; NaN and infinities as such.
double decodeFloat(const FloatLayout &layout, std::uint64_t bits);

/// The code of `value` rounded to nearest, ties to even; see roundsTo() for what is too large.
std::uint64_t encodeFloat(const FloatLayout &layout, double value);

/// Distance on the line of codes; nothing unless both are finite.
std::optional<std::uint64_t> ulpBetween(const FloatLayout &layout, std::uint64_t a,
                                        std::uint64_t b);

/// A code of `narrow` as the code of `wide` of the same value; see widenElements() for NaN.
std::uint64_t widenFloat(const FloatLayout &narrow, const FloatLayout &wide, std::uint64_t bits);

/// A code of `wide` rounded to `narrow`.
std::uint64_t roundFloat(const FloatLayout &wide, const FloatLayout &narrow, std::uint64_t bits);

} // namespace forkpoint
