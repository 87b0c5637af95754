// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/element.h"

#include <QString>

namespace forkpoint {

/// How the numbers of an element table are written.
enum class ValueFormat {
    Digits,   ///< as many digits as tell every value of the type apart: 9 for float32
    Shortest, ///< the fewest that read back to the same value
    HexFloat, ///< 0x1.8p-3: the exact value
    Bits,     ///< the stored bits, hexadecimal
};

/// Whose bits the last column shows; changed ones are marked in all of them.
enum class BitsOf { A, B, Xor };

/// One side of a row.
QString elementText(const DType &dtype, const ElementValue &value,
                    const std::vector<std::byte> &bits, ValueFormat format);

/// The bits in groups sign, exponent, mantissa.
QString bitsText(const DType &dtype, const ElementRow &row, BitsOf which);

} // namespace forkpoint
