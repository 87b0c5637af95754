// SPDX-License-Identifier: GPL-3.0-or-later
#include "gpu/cpu_backend.h"

#include "gpu/kernels/diff.h"
#include "gpu/kernels/xxh3.h"

#include <algorithm>
#include <cstring>
#include <vector>

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

kernels::ToleranceRule toRule(const Tolerance &tolerance)
{
    kernels::ToleranceRule rule;
    rule.asked = tolerance.asked();
    rule.byValue = tolerance.rtol || tolerance.atol;
    rule.relative = tolerance.rtol.value_or(0.0);
    rule.absolute = tolerance.atol.value_or(0.0);
    rule.byUlp = tolerance.maxUlp.has_value();
    rule.maxUlp = tolerance.maxUlp.value_or(0);
    return rule;
}

ScaledSum toScaled(const kernels::RangeSum &sum)
{
    return {sum.big, sum.mid, sum.small};
}

DiffSums toSums(const kernels::BlockSums &sums)
{
    return {toScaled(sums.absDifference), toScaled(sums.squaredDifference),
            toScaled(sums.productAB), toScaled(sums.squaredA), toScaled(sums.squaredB)};
}

/// What a piece of work is about, whatever its type.
struct Piece
{
    ByteView a, b;
    Index firstElement = 0;
    Index elements = 0;
    std::uint32_t partBits = 8;
    int partsPerElement = 1;
    kernels::ToleranceRule rule;
};

/// The counters of a piece, and their way into the model's histograms.
class HistogramSet
{
public:
    HistogramSet(int lowest, int highest)
        : m_lowest(lowest),
          m_bins(static_cast<std::size_t>(highest - lowest) + 2),
          m_counts(3 * m_bins + UlpBins)
    {
    }

    kernels::Histograms view()
    {
        std::uint64_t *start = m_counts.data();
        return {start, start + m_bins, start + 2 * m_bins, start + 3 * m_bins, m_lowest};
    }

    void addTo(DiffStats &stats) const
    {
        transfer(0, m_bins, m_lowest, stats.absA);
        transfer(m_bins, m_bins, m_lowest, stats.absB);
        transfer(2 * m_bins, m_bins, m_lowest, stats.absDifference);
        transfer(3 * m_bins, UlpBins, 0, stats.ulp);
    }

private:
    static constexpr std::size_t UlpBins = 65;

    void transfer(std::size_t start, std::size_t bins, int lowest, PowerHistogram &target) const
    {
        target.addZeros(m_counts[start]);
        for (std::size_t i = 1; i < bins; ++i)
            target.add(lowest + static_cast<int>(i) - 1, m_counts[start + i]);
    }

    int m_lowest;
    std::size_t m_bins;
    std::vector<std::uint64_t> m_counts;
};

void recordTo(const DiffRecord &record, const Piece &piece, DiffStats &stats)
{
    stats.elements = piece.elements;
    stats.differentElements = record.different;
    stats.firstIndex = record.first;
    stats.lastIndex = record.last;
    stats.valueDifferent = record.valueDifferent;
    stats.beyondTolerance = record.beyondTolerance;
    stats.finitePairs = record.finitePairs;
    stats.maxAbsIndex = record.maxAbsIndex;
    stats.maxUlp = record.maxUlp;
    stats.maxUlpIndex = record.maxUlpIndex;
    stats.nanA = record.nanA;
    stats.nanB = record.nanB;
    stats.infA = record.infA;
    stats.infB = record.infB;
    stats.nanPayloadOnly = record.nanPayloadOnly;
    stats.signedZeroOnly = record.signedZeroOnly;
    stats.signFlips = record.signFlips;
}

/// Runs `block` on every block of the piece.
template <class Policy, class Block>
void forBlocks(const Policy &policy, const Piece &piece, DiffRecord &record, DiffStats &stats,
               const Block &block)
{
    const Index parts = piece.elements * static_cast<Index>(piece.partsPerElement);
    HostTeam team;
    for (Index first = 0; first < parts; first += BlockParts) {
        kernels::BlockView view;
        const std::size_t offset = static_cast<std::size_t>(first * piece.partBits / 8);
        view.a = address(piece.a) + offset;
        view.b = address(piece.b) + offset;
        view.parts = static_cast<int>(std::min(BlockParts, parts - first));
        view.partsPerElement = piece.partsPerElement;
        view.firstElement = piece.firstElement + first / static_cast<Index>(piece.partsPerElement);
        const std::size_t bytes = (static_cast<std::size_t>(view.parts) * piece.partBits + 7) / 8;
        if (std::memcmp(view.a, view.b, bytes) != 0)
            kernels::locateDifferences(team, policy, view, piece.rule, record);
        stats.sums.push(toSums(block(team, view)));
    }
}

template <class Policy>
void diffFloatParts(const Policy &policy, const Piece &piece, DiffStats &stats)
{
    HistogramSet histograms(kernels::lowestPower(policy.format),
                            kernels::powerLimit(policy.format));
    const kernels::Histograms bins = histograms.view();
    DiffRecord record;
    forBlocks(policy, piece, record, stats, [&](HostTeam &team, const kernels::BlockView &view) {
        return kernels::diffFloats(team, policy, view, bins, record);
    });
    recordTo(record, piece, stats);
    stats.maxAbs = kernels::doubleFromBits(record.maxAbsKey);
    histograms.addTo(stats);
}

template <class Parts>
void diffIntegerParts(const DType &dtype, const Parts &load, const Piece &piece, DiffStats &stats)
{
    const kernels::IntegerPolicy<Parts> policy{load, static_cast<int>(dtype.bits),
                                               dtype.kind == ElementKind::SignedInt,
                                               dtype.kind == ElementKind::Bool};
    HistogramSet histograms(0, 64);
    const kernels::Histograms bins = histograms.view();
    DiffRecord record;
    forBlocks(policy, piece, record, stats, [&](HostTeam &team, const kernels::BlockView &view) {
        return kernels::diffIntegers(team, policy, view, bins, record);
    });
    recordTo(record, piece, stats);
    stats.maxAbsInteger = record.maxAbsKey;
    stats.maxAbs = static_cast<double>(record.maxAbsKey);
    histograms.addTo(stats);
}

/// Elements without a numeric meaning: which differ, and nothing else.
void diffOpaque(const Piece &piece, DiffStats &stats)
{
    const std::size_t size = piece.partBits / 8;
    DiffRecord record;
    for (Index i = 0; i < piece.elements && size > 0; ++i) {
        const std::size_t offset = static_cast<std::size_t>(i) * size;
        if (std::memcmp(piece.a.data() + offset, piece.b.data() + offset, size) == 0)
            continue;
        ++record.different;
        record.last = piece.firstElement + i;
        if (record.first == NoIndex)
            record.first = record.last;
    }
    record.valueDifferent = record.different;
    record.beyondTolerance = piece.rule.asked ? record.different : 0;
    recordTo(record, piece, stats);
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
void diffStatic(const Piece &piece, DiffStats &stats)
{
    const kernels::FloatPolicy<Format, kernels::PlainParts<Raw>> policy{};
    diffFloatParts(policy, piece, stats);
}

bool matches(const FloatLayout &layout, int exponent, int mantissa, int bias, SpecialValues special)
{
    return layout.exponentBits == exponent && layout.mantissaBits == mantissa && layout.bias == bias
        && layout.special == special && layout.hasSign;
}

bool diffFloatType(const FloatLayout &layout, const Piece &piece, DiffStats &stats)
{
    using enum SpecialValues;
    if (matches(layout, 11, 52, 1023, Ieee)) {
        diffFloatParts(kernels::Float64Policy<kernels::PlainParts<std::uint64_t>>{}, piece, stats);
        return true;
    }
    if (layout.exponentBits + layout.mantissaBits > 32)
        return false;
    if (matches(layout, 8, 23, 127, Ieee))
        diffStatic<kernels::Float32, std::uint32_t>(piece, stats);
    else if (matches(layout, 8, 7, 127, Ieee))
        diffStatic<kernels::BFloat16, std::uint16_t>(piece, stats);
    else if (matches(layout, 5, 10, 15, Ieee))
        diffStatic<kernels::Float16, std::uint16_t>(piece, stats);
    else
        return withParts(piece.partBits, [&](const auto &load) {
            using Parts = std::decay_t<decltype(load)>;
            diffFloatParts(
                kernels::FloatPolicy<kernels::RuntimeFormat, Parts>{toFormat(layout), load}, piece,
                stats);
        });
    return true;
}

bool diffNumbers(const DType &dtype, const Piece &piece, DiffStats &stats)
{
    if (dtype.isFloating())
        return diffFloatType(dtype.layout, piece, stats);
    return dtype.isInteger() && withParts(piece.partBits, [&](const auto &load) {
               diffIntegerParts(dtype, load, piece, stats);
           });
}

} // namespace

std::string CpuBackend::description() const
{
    return "CPU, scalar";
}

Digest128 CpuBackend::hash(ByteView data) const
{
    kernels::HostHashTeam team;
    const kernels::Hash128 hash = kernels::xxh3(team, address(data), data.size());
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
                      Index elements, const Tolerance &tolerance, DiffStats &stats) const
{
    const bool complex = dtype.kind == ElementKind::Complex;
    const Piece piece{a,
                      b,
                      firstElement,
                      elements,
                      complex ? dtype.bits / 2 : dtype.bits,
                      complex ? 2 : 1,
                      toRule(tolerance)};
    if (!diffNumbers(dtype, piece, stats))
        diffOpaque(piece, stats);
}

} // namespace forkpoint
