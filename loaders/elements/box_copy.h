// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/storage/byte_source.h"
#include "model/dtype.h"

#include <cstdint>
#include <vector>

namespace forkpoint {

/// A box of elements to be copied from where strides say to where a row-major window has them.
struct BoxCopy
{
    struct Loop
    {
        std::uint64_t count = 0;
        std::int64_t sourceStride = 0; ///< in elements; 0 repeats, negative walks backwards
        std::int64_t targetStride = 0; ///< in elements
    };
    std::uint64_t width = 1;  ///< bytes of an element
    std::vector<Loop> loops;  ///< any order
    std::uint64_t source = 0; ///< byte of the source that is the first element
    std::uint64_t target = 0; ///< byte of `out` that is the first element
    MutableByteView out;
};

/// Copies; elements are byte-swapped as `swapped` says, unless it is nullptr. Reads neighbouring
/// runs together as long as the gaps between them are cheaper to read than to skip, through a
/// buffer of constant size, and walks the source in ascending order of its strides.
Status copyBox(const BoxCopy &copy, const ByteSource &source, const DType *swapped);

} // namespace forkpoint
