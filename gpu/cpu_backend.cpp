// SPDX-License-Identifier: GPL-3.0-or-later
#include "gpu/cpu_backend.h"

#include "gpu/byte_policy.h"
#include "gpu/diff_unit.h"
#include "gpu/part_type.h"

#include <algorithm>
#include <cstring>

namespace forkpoint {

static_assert(kernels::BlockParts == BlockParts);
static_assert(kernels::NoPosition == NoIndex);

namespace {

using kernels::DiffRecord;
using kernels::HostTeam;

const std::uint8_t *address(ByteView bytes)
{
    return reinterpret_cast<const std::uint8_t *>(bytes.data());
}

bool blockDiffers(const DiffPiece &piece, const kernels::BlockView &view)
{
    const std::size_t bytes = (static_cast<std::size_t>(view.parts) * piece.partBits + 7) / 8;
    return std::memcmp(view.a, view.b, bytes) != 0;
}

/// What the definition says of a block.
template <class Policy, class Block>
void addDefined(const Policy &policy, const DiffPiece &piece, const kernels::BlockView &view,
                DiffUnit &unit, const Block &block)
{
    HostTeam team;
    DiffRecord found;
    if (blockDiffers(piece, view))
        kernels::locateDifferences(team, policy, view, piece.rule, found);
    const kernels::BlockSums sums = block(team, view, found);
    unit.add(view, found, sums);
}

/// |a| and |b| of a block whose figures a kernel has found.
template <class Policy>
void countMagnitudes(const Policy &policy, const kernels::BlockView &view, DiffUnit &unit)
{
    HostTeam team;
    for (int part = 0; part < view.parts; ++part) {
        const std::uint64_t a = policy.load(view.a, static_cast<std::size_t>(part));
        const std::uint64_t b = policy.load(view.b, static_cast<std::size_t>(part));
        if (policy.isFinite(a) && policy.isFinite(b))
            kernels::countMagnitudes(team, unit.bins(), policy.value(a), policy.value(b));
    }
}

/// What a kernel says of a full block, and what it leaves to the definition: tolerances, elements
/// of several parts, magnitudes. False: nothing was done.
template <class Policy>
bool addByKernel(BlockKernel kernel, const Policy &policy, const DiffPiece &piece,
                 const kernels::BlockView &view, DiffUnit &unit)
{
    DiffRecord found;
    kernels::BlockSums sums;
    if (!kernel(view, {unit.record(), unit.bins(), unit.scratch()}, found, sums))
        return false;
    if (found.different != 0 && (piece.partsPerElement > 1 || piece.rule.asked)) {
        HostTeam team;
        found.different = found.valueDifferent = 0;
        found.first = found.last = kernels::NoPosition;
        kernels::locateDifferences(team, policy, view, piece.rule, found);
    }
    if (piece.magnitudes)
        countMagnitudes(policy, view, unit);
    unit.add(view, found, sums);
    return true;
}

/// Runs addBlock on every block of the piece, types of 8 bits apart, which go by pairs of codes.
template <class Policy, class AddBlock>
void addParts(CountPairsKernel kernel, const Policy &policy, const DiffPiece &piece, DiffUnit &unit,
              const AddBlock &addBlock)
{
    // A power of two of blocks: whole subtrees of the sums, and short enough to be exact mostly.
    constexpr Index Stretch = 512 * BlockParts;
    constexpr bool IsByte =
        std::is_same_v<std::decay_t<decltype(policy.load)>, kernels::PlainParts<std::uint8_t>>;
    const bool byPairs = IsByte && kernel != nullptr && hasByteUnits(policy);
    const ByteMeaning meaning = byPairs ? byteMeaning(policy) : ByteMeaning();
    for (Index part = 0; part < piece.parts();) {
        const Index whole = (piece.parts() - part) / BlockParts * BlockParts;
        const Index stretch = std::min(Stretch, whole);
        if (byPairs && stretch > 0
            && addBytePairs(kernel, policy, meaning, piece, part, stretch, unit, Policy::isFloat)) {
            part += stretch;
            continue;
        }
        const Index end = stretch > 0 ? part + stretch : piece.parts();
        for (; part < end; part += BlockParts)
            addBlock(piece.block(part));
    }
}

BlockKernel blockKernel(const CpuKernels &fast, const kernels::Float64Parts &)
{
    return fast.float64;
}
BlockKernel blockKernel(const CpuKernels &fast, const kernels::Float32Parts &)
{
    return fast.float32;
}
BlockKernel blockKernel(const CpuKernels &fast, const kernels::BFloat16Parts &)
{
    return fast.bfloat16;
}
BlockKernel blockKernel(const CpuKernels &fast, const kernels::Float16Parts &)
{
    return fast.float16;
}
template <class Policy>
BlockKernel blockKernel(const CpuKernels &, const Policy &)
{
    return nullptr;
}

template <class Policy>
void diffParts(const CpuKernels &fast, const Policy &policy, const DiffPiece &piece,
               DiffStats &stats)
{
    DiffUnit unit(piece, counterLayout(policy, static_cast<int>(piece.partBits)), stats);
    addParts(fast.countPairs, policy, piece, unit, [&](const kernels::BlockView &view) {
        if constexpr (Policy::isFloat) {
            const BlockKernel kernel = blockKernel(fast, policy);
            if (kernel != nullptr && view.parts == kernels::BlockParts
                && addByKernel(kernel, policy, piece, view, unit))
                return;
        }
        addDefined(policy, piece, view, unit, [&](HostTeam &team, const auto &block, auto &found) {
            if constexpr (Policy::isFloat)
                return kernels::diffFloats(team, policy, block, unit.bins(), found);
            else
                return kernels::diffIntegers(team, policy, block, unit.bins(), found);
        });
    });
    unit.finish();
}

/// Elements without a numeric meaning: which differ, and nothing else.
void diffOpaque(const DiffPiece &piece, DiffStats &stats)
{
    const std::size_t size = piece.partBits / 8;
    stats.elements += piece.elements;
    for (Index i = 0; i < piece.elements && size > 0; ++i) {
        const std::size_t offset = static_cast<std::size_t>(i) * size;
        if (std::memcmp(piece.a.data() + offset, piece.b.data() + offset, size) == 0)
            continue;
        ++stats.differentElements;
        ++stats.valueDifferent;
        stats.beyondTolerance += piece.rule.asked;
        stats.lastIndex = piece.firstElement + i;
        if (stats.firstIndex == NoIndex)
            stats.firstIndex = stats.lastIndex;
    }
}

} // namespace

CpuBackend::CpuBackend() : CpuBackend(bestKernels()) {}

std::string CpuBackend::description() const
{
    return std::string("CPU, ") + m_kernels.name;
}

Digest128 CpuBackend::hash(ByteView data) const
{
    const kernels::Hash128 hash = m_kernels.hash(address(data), data.size());
    return {hash.high, hash.low};
}

void CpuBackend::hashLeaves(ByteView data, std::span<Digest128> leaves) const
{
    for (std::size_t i = 0; i < leaves.size(); ++i) {
        const std::size_t first = i * LeafBytes;
        leaves[i] =
            hash(data.subspan(first, std::min<std::size_t>(LeafBytes, data.size() - first)));
    }
}

void CpuBackend::diff(const DType &dtype, ByteView a, ByteView b, Index firstElement,
                      Index elements, const DiffOptions &options, DiffStats &stats) const
{
    const DiffPiece piece(dtype, a, b, firstElement, elements, options);
    const auto type = partType(dtype);
    const bool measured = type && kernels::withPolicy(*type, [&](const auto &policy) {
                              diffParts(m_kernels, policy, piece, stats);
                          });
    if (!measured)
        diffOpaque(piece, stats);
}

} // namespace forkpoint
