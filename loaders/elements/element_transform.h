// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/bytes.h"
#include "model/dtype.h"

namespace forkpoint {

/// Widest element that has a byte order or a sign: complex128.
constexpr std::size_t MaxTransformedWidth = 16;

// All work in place on whole elements. Opaque types are left as they are.

/// Reverses the bytes of each element, of each part of a complex one.
void swapBytes(const DType &dtype, MutableByteView elements);
/// Resolves torch's conjugate bit: flips the sign of every imaginary part (NaN payloads stay).
void conjugateElements(const DType &dtype, MutableByteView elements);
/// Resolves torch's negative bit: flips the sign of floats and of both complex parts; two's
/// complement of integers.
void negateElements(const DType &dtype, MutableByteView elements);

} // namespace forkpoint
