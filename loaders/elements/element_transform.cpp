// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/elements/element_transform.h"

#include <algorithm>

namespace forkpoint {

namespace {

constexpr std::byte SignBit{0x80};

std::size_t partBytes(const DType &dtype)
{
    return dtype.bits / 8 / (dtype.kind == ElementKind::Complex ? 2 : 1);
}

void swapParts(MutableByteView bytes, std::size_t width)
{
    for (std::size_t i = 0; i + width <= bytes.size(); i += width)
        std::reverse(bytes.begin() + std::ptrdiff_t(i), bytes.begin() + std::ptrdiff_t(i + width));
}

void flipSigns(MutableByteView bytes, std::size_t first, std::size_t step)
{
    for (std::size_t i = first; i < bytes.size(); i += step)
        bytes[i] ^= SignBit;
}

/// 0 - x of a little-endian integer of any width.
void negateInteger(MutableByteView bytes)
{
    unsigned carry = 1;
    for (std::byte &byte : bytes) {
        const unsigned sum = std::to_integer<unsigned>(~byte) + carry;
        byte = std::byte(sum & 0xffu);
        carry = sum >> 8;
    }
}

} // namespace

void swapBytes(const DType &dtype, MutableByteView elements)
{
    if (dtype.kind == ElementKind::Opaque || dtype.bits % 8 != 0)
        return;
    if (const std::size_t width = partBytes(dtype); width > 1)
        swapParts(elements, width);
}

void conjugateElements(const DType &dtype, MutableByteView elements)
{
    if (dtype.kind != ElementKind::Complex)
        return;
    const std::size_t width = dtype.bits / 8;
    flipSigns(elements, width - 1, width);
}

void negateElements(const DType &dtype, MutableByteView elements)
{
    if (dtype.bits % 8 != 0)
        return;
    const std::size_t width = partBytes(dtype);
    if (dtype.isFloating()) {
        if (dtype.layout.hasSign)
            flipSigns(elements, width - 1, width);
        return;
    }
    if (dtype.kind != ElementKind::SignedInt && dtype.kind != ElementKind::UnsignedInt)
        return;
    for (std::size_t i = 0; i + width <= elements.size(); i += width)
        negateInteger(elements.subspan(i, width));
}

} // namespace forkpoint
