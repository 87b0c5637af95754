// SPDX-License-Identifier: GPL-3.0-or-later
#include "gpu/cpu_backend.h"

#include "gpu/byte_policy.h"
#include "gpu/diff_unit.h"

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

kernels::RuntimeFormat toFormat(const FloatLayout &layout)
{
    static_assert(int(SpecialValues::ScaleNan) == int(kernels::Special::ScaleNan));
    static_assert(int(SpecialValues::Fnuz) == int(kernels::Special::Fnuz));
    return {layout.exponentBits, layout.mantissaBits, layout.bias,
            static_cast<kernels::Special>(layout.special), layout.hasSign};
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
              bool isFloat, const AddBlock &addBlock)
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
            && addBytePairs(kernel, policy, meaning, piece, part, stretch, unit, isFloat)) {
            part += stretch;
            continue;
        }
        const Index end = stretch > 0 ? part + stretch : piece.parts();
        for (; part < end; part += BlockParts)
            addBlock(piece.block(part));
    }
}

template <class Policy>
void diffFloatParts(const CpuKernels &fast, BlockKernel kernel, const Policy &policy,
                    const DiffPiece &piece, DiffStats &stats)
{
    DiffUnit unit(piece, {kernels::lowestPower(policy.format), kernels::powerLimit(policy.format)},
                  stats);
    addParts(fast.countPairs, policy, piece, unit, true, [&](const kernels::BlockView &view) {
        if (kernel != nullptr && view.parts == kernels::BlockParts
            && addByKernel(kernel, policy, piece, view, unit))
            return;
        addDefined(policy, piece, view, unit, [&](HostTeam &team, const auto &block, auto &found) {
            return kernels::diffFloats(team, policy, block, unit.bins(), found);
        });
    });
    unit.finish();
}

template <class Parts>
void diffIntegerParts(const CpuKernels &fast, const DType &dtype, const Parts &load,
                      const DiffPiece &piece, DiffStats &stats)
{
    const kernels::IntegerPolicy<Parts> policy{load, static_cast<int>(dtype.bits),
                                               dtype.kind == ElementKind::SignedInt,
                                               dtype.kind == ElementKind::Bool};
    DiffUnit unit(piece, {0, 64, false}, stats);
    addParts(fast.countPairs, policy, piece, unit, false, [&](const kernels::BlockView &view) {
        addDefined(policy, piece, view, unit, [&](HostTeam &team, const auto &block, auto &found) {
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

/// Calls use(loader) with how parts of that width lie in memory; false for a width nobody has.
template <class Use>
bool withParts(std::uint32_t bits, const Use &use)
{
    switch (bits) {
    case 64: use(kernels::PlainParts<std::uint64_t>()); return true;
    case 32: use(kernels::PlainParts<std::uint32_t>()); return true;
    case 16: use(kernels::PlainParts<std::uint16_t>()); return true;
    case 8: use(kernels::PlainParts<std::uint8_t>()); return true;
    default: break;
    }
    if (bits == 0 || bits > 8)
        return false;
    use(kernels::PackedParts{static_cast<int>(bits)});
    return true;
}

template <class Format, class Raw>
void diffStatic(const CpuKernels &fast, BlockKernel kernel, const DiffPiece &piece,
                DiffStats &stats)
{
    const kernels::FloatPolicy<Format, kernels::PlainParts<Raw>> policy{};
    diffFloatParts(fast, kernel, policy, piece, stats);
}

bool matches(const FloatLayout &layout, int exponent, int mantissa, int bias, SpecialValues special)
{
    return layout.exponentBits == exponent && layout.mantissaBits == mantissa && layout.bias == bias
        && layout.special == special && layout.hasSign;
}

bool diffFloatType(const CpuKernels &fast, const FloatLayout &layout, const DiffPiece &piece,
                   DiffStats &stats)
{
    using enum SpecialValues;
    if (matches(layout, 11, 52, 1023, Ieee)) {
        diffFloatParts(fast, fast.float64,
                       kernels::Float64Policy<kernels::PlainParts<std::uint64_t>>{}, piece, stats);
        return true;
    }
    if (layout.exponentBits + layout.mantissaBits > 32)
        return false;
    if (matches(layout, 8, 23, 127, Ieee))
        diffStatic<kernels::Float32, std::uint32_t>(fast, fast.float32, piece, stats);
    else if (matches(layout, 8, 7, 127, Ieee))
        diffStatic<kernels::BFloat16, std::uint16_t>(fast, fast.bfloat16, piece, stats);
    else if (matches(layout, 5, 10, 15, Ieee))
        diffStatic<kernels::Float16, std::uint16_t>(fast, fast.float16, piece, stats);
    else
        return withParts(piece.partBits, [&](const auto &load) {
            using Parts = std::decay_t<decltype(load)>;
            diffFloatParts(
                fast, nullptr,
                kernels::FloatPolicy<kernels::RuntimeFormat, Parts>{toFormat(layout), load}, piece,
                stats);
        });
    return true;
}

bool diffNumbers(const CpuKernels &fast, const DType &dtype, const DiffPiece &piece,
                 DiffStats &stats)
{
    if (dtype.isFloating())
        return diffFloatType(fast, dtype.layout, piece, stats);
    return dtype.isInteger() && withParts(piece.partBits, [&](const auto &load) {
               diffIntegerParts(fast, dtype, load, piece, stats);
           });
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
    if (!diffNumbers(m_kernels, dtype, piece, stats))
        diffOpaque(piece, stats);
}

} // namespace forkpoint
