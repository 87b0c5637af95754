// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/compute_backend.h"

#include <algorithm>
#include <bit>

namespace forkpoint {

namespace {

constexpr std::uint64_t UnitBytes = 8U << 20;

} // namespace

void ComputeBackend::hashAndDiff(const PairPiece &piece, const DiffOptions &options,
                                 std::span<Digest128> leavesA, std::span<Digest128> leavesB,
                                 DiffStats &stats) const
{
    if (!leavesA.empty())
        hashLeaves(piece.a, leavesA);
    if (!leavesB.empty())
        hashLeaves(piece.b, leavesB);
    diff(piece.dtype, piece.a, piece.b, piece.firstElement, piece.elements, options, stats);
}

HostBuffer ComputeBackend::hostBuffer(std::size_t size) const
{
    return {new std::byte[size], [](std::byte *bytes) { delete[] bytes; }};
}

Index unitElements(const DType &dtype)
{
    const std::uint64_t bits = std::max<std::uint64_t>(dtype.bits, 1);
    if (dtype.kind == ElementKind::Opaque) // no sums, so no blocks
        return std::max<Index>(std::bit_floor(UnitBytes * 8 / bits), 1);
    const Index elementsPerBlock = dtype.kind == ElementKind::Complex ? BlockParts / 2 : BlockParts;
    const std::uint64_t blockBytes = std::max<std::uint64_t>(elementsPerBlock * bits / 8, 1);
    return elementsPerBlock * std::max<Index>(std::bit_floor(UnitBytes / blockBytes), 1);
}

Index leafElements(const DType &dtype)
{
    return std::bit_floor(LeafBytes * 8 / std::clamp<std::uint64_t>(dtype.bits, 1, LeafBytes * 8));
}

} // namespace forkpoint
