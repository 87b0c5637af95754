// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The passes over a block of float32, bfloat16 or float16: equality and squares, integers,
// differences. For translation units compiled with AVX2, FMA and F16C.
//
// The sums are those of kernels::diffFloats(): lane l of a block adds its parts in order. Products
// of two significands of at most 24 bits are exact in float64, so a fused multiply-add gives what
// multiplying and adding gives; the square of the difference is multiplied, then added.
#include "gpu/avx2_formats.h"
#include "gpu/cpu_kernels.h"

namespace forkpoint::avx2 {

namespace {

using kernels::BlockLanes;
using kernels::BlockParts;

constexpr int Rows = BlockParts / BlockLanes;         ///< of parts: one part for each lane
constexpr int RowGroups = BlockLanes / GroupParts;    ///< groups of a row
constexpr int DenseGroups = Rows * RowGroups * 3 / 8; ///< from here on the dense way is faster

/// The five sums, lane by lane.
struct LaneSums
{
    alignas(32) double absDifference[BlockLanes];
    alignas(32) double squaredDifference[BlockLanes];
    alignas(32) double productAB[BlockLanes];
    alignas(32) double squaredA[BlockLanes];
    alignas(32) double squaredB[BlockLanes];
};

/// What the finite pairs of a block are, beside sums and histogram.
struct PairFacts
{
    std::uint32_t equalBits = 0;    ///< parts
    std::uint32_t equalNumbers = 0; ///< equal as numbers: +0 and -0 too
    std::uint32_t flips = 0;
    std::uint32_t maxUlp = 0;
    double maxAbs = 0.0;
    bool finiteB = true;
};

template <class Lanes>
constexpr int PartBytes = sizeof(typename Lanes::Raw);

template <class Lanes>
inline const std::uint8_t *partAt(const std::uint8_t *data, int part)
{
    return data + part * PartBytes<Lanes>;
}

inline __m256d absolute(__m256d value)
{
    return _mm256_and_pd(value, _mm256_castsi256_pd(_mm256_set1_epi64x(0x7FFFFFFFFFFFFFFF)));
}

/// |a - b| of a group.
inline Group distanceOf(const Group &a, const Group &b)
{
    return {absolute(_mm256_sub_pd(a.low, b.low)), absolute(_mm256_sub_pd(a.high, b.high))};
}

inline double largestOf(__m256d values)
{
    alignas(32) double lanes[4];
    _mm256_store_pd(lanes, values);
    const double low = lanes[0] > lanes[1] ? lanes[0] : lanes[1];
    const double high = lanes[2] > lanes[3] ? lanes[2] : lanes[3];
    return low > high ? low : high;
}

/// The lane sums folded 16, 8, 4, 2, 1.
inline double foldLanes(const double *lanes)
{
    __m256d sums[4];
    for (int i = 0; i < 4; ++i)
        sums[i] = _mm256_add_pd(_mm256_load_pd(lanes + 4 * i), _mm256_load_pd(lanes + 4 * i + 16));
    const __m256d eight[2] = {_mm256_add_pd(sums[0], sums[2]), _mm256_add_pd(sums[1], sums[3])};
    const __m256d four = _mm256_add_pd(eight[0], eight[1]);
    const __m128d two = _mm_add_pd(_mm256_castpd256_pd128(four), _mm256_extractf128_pd(four, 1));
    return _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)));
}

inline bool allFinite(const double *squares)
{
    double sum = 0.0; // squares of at most 24 bits cannot overflow, and NaN and infinity stay
    for (int lane = 0; lane < BlockLanes; ++lane)
        sum += squares[lane];
    return sum < __builtin_inf();
}

// --- pass 1: equality, and the squares of A

/// Bit r is set if row r differs. Fills sums.squaredA.
template <class Lanes>
std::uint64_t differingRows(const std::uint8_t *a, const std::uint8_t *b, LaneSums &sums)
{
    constexpr int RowBytes = BlockLanes * PartBytes<Lanes>;
    __m256d squares[2 * RowGroups];
    for (__m256d &square : squares)
        square = _mm256_setzero_pd();
    std::uint64_t rows = 0;
    for (int row = 0; row < Rows; ++row) {
        const std::uint8_t *x = a + row * RowBytes;
        const std::uint8_t *y = b + row * RowBytes;
        __m256i changed = _mm256_setzero_si256();
#pragma GCC unroll 4
        for (int byte = 0; byte < RowBytes; byte += 32)
            changed =
                _mm256_or_si256(changed, _mm256_xor_si256(loadBits(x + byte), loadBits(y + byte)));
        rows |= static_cast<std::uint64_t>(_mm256_testz_si256(changed, changed) == 0) << row;
#pragma GCC unroll 4
        for (int group = 0; group < RowGroups; ++group) {
            const Group value = Lanes::load(partAt<Lanes>(x, group * GroupParts));
            squares[2 * group] = _mm256_fmadd_pd(value.low, value.low, squares[2 * group]);
            squares[2 * group + 1] =
                _mm256_fmadd_pd(value.high, value.high, squares[2 * group + 1]);
        }
    }
    for (int i = 0; i < 2 * RowGroups; ++i)
        _mm256_store_pd(sums.squaredA + 4 * i, squares[i]);
    return rows;
}

// --- pass 2: integers

/// Running counts over the codes of a block.
template <class Lanes>
struct CodeCounts
{
    __m256i equalBits = _mm256_setzero_si256();
    __m256i equalNumbers = _mm256_setzero_si256();
    __m256i flips = _mm256_setzero_si256();
    __m256i maxUlp = _mm256_setzero_si256();
    __m256i largestB = _mm256_setzero_si256();

    /// Takes one vector of codes of each side; the ULP distances.
    __m256i add(__m256i a, __m256i b)
    {
        const __m256i mask = Lanes::set(Lanes::Magnitude);
        const __m256i sizeB = _mm256_and_si256(b, mask);
        const __m256i orderA = Lanes::signedBy(_mm256_and_si256(a, mask), a);
        const __m256i orderB = Lanes::signedBy(sizeB, b);
        const __m256i ulp = Lanes::distance(orderA, orderB);
        equalBits = Lanes::subtract(equalBits, Lanes::equal(a, b));
        equalNumbers = Lanes::subtract(equalNumbers, Lanes::equal(orderA, orderB));
        // Negative only where both are not zero and their signs differ.
        flips = Lanes::add(flips, Lanes::signBits(Lanes::signedBy(orderA, orderB)));
        maxUlp = Lanes::larger(maxUlp, ulp);
        largestB = Lanes::larger(largestB, sizeB);
        return ulp;
    }

    void addTo(PairFacts &facts) const
    {
        using Raw = typename Lanes::Raw;
        facts.equalBits += sumOfLanes<Raw>(equalBits);
        facts.equalNumbers += sumOfLanes<Raw>(equalNumbers);
        facts.flips += sumOfLanes<Raw>(flips);
        facts.maxUlp = largestLane<Raw>(maxUlp);
        facts.finiteB = largestLane<Raw>(largestB) < Lanes::Infinity;
    }
};

/// Counts over all codes, and for each part where its column of the histogram begins in a row.
template <class Lanes>
PairFacts compareCodes(const std::uint8_t *a, const std::uint8_t *b, void *ulpCells)
{
    CodeCounts<Lanes> counts;
    auto *cells = static_cast<std::uint8_t *>(ulpCells);
    for (int part = 0; part < BlockParts; part += Lanes::Parts) {
        const __m256i ulp =
            counts.add(loadBits(partAt<Lanes>(a, part)), loadBits(partAt<Lanes>(b, part)));
        const __m256i cell = Lanes::shiftedLeft(Lanes::bin(ulp), JointCounts::CopyBits);
        _mm256_store_si256(reinterpret_cast<__m256i *>(cells + part * PartBytes<Lanes>), cell);
    }
    PairFacts facts;
    counts.addTo(facts);
    return facts;
}

// --- pass 3: differences

/// Rows of the histogram from the exponents of eight |a - b|: 0 of zero, else 1 + power - lowest.
inline __m256i jointRows(const Group &distance)
{
    const __m256i base = _mm256_set1_epi32(1023 + JointCounts::LowestPower - 1);
    const __m256 upper =
        _mm256_shuffle_ps(_mm256_castpd_ps(distance.low), _mm256_castpd_ps(distance.high), 0xDD);
    const __m256i ordered =
        _mm256_permute4x64_epi64(_mm256_castps_si256(upper), _MM_SHUFFLE(3, 1, 2, 0));
    const __m256i exponents = _mm256_srli_epi32(ordered, 20);
    return _mm256_sub_epi32(_mm256_max_epi32(exponents, base), base);
}

inline void countCells(std::uint32_t *counts, const std::uint32_t *cells)
{
#pragma GCC unroll 8
    for (int copy = 0; copy < JointCounts::Copies; ++copy)
        ++counts[cells[copy] + static_cast<std::uint32_t>(copy)];
}

/// Which rows of the histogram a block touches.
struct RowRange
{
    __m256i lowest = _mm256_set1_epi32(-1); ///< of row - 1, unsigned: zeros are not looked at
    __m256d largest = _mm256_setzero_pd();

    void add(__m256i rows, const Group &distance)
    {
        lowest = _mm256_min_epu32(lowest, _mm256_sub_epi32(rows, _mm256_set1_epi32(1)));
        largest = _mm256_max_pd(largest, _mm256_max_pd(distance.low, distance.high));
    }
    double addTo(JointCounts &joint) const
    {
        const double maxAbs = largestOf(largest);
        if (maxAbs == 0.0)
            return maxAbs;
        alignas(32) std::uint32_t rows[8];
        _mm256_store_si256(reinterpret_cast<__m256i *>(rows), lowest);
        std::uint32_t first = rows[0];
        for (const std::uint32_t row : rows)
            first = row < first ? row : first;
        const int firstRow = static_cast<int>(first) + 1;
        const int lastRow = kernels::powerOf(maxAbs) - JointCounts::LowestPower + 1;
        joint.firstRow = firstRow < joint.firstRow ? firstRow : joint.firstRow;
        joint.lastRow = lastRow > joint.lastRow ? lastRow : joint.lastRow;
        return maxAbs;
    }
};

/// All sums but those of squaredA, and the histogram; the largest |a - b|. Groups of one column
/// after the other, so that eight accumulators stay in registers. Cells are counted eight groups
/// after they were stored: reading them at once would wait for the store.
template <class Lanes>
double addDense(const std::uint8_t *a, const std::uint8_t *b, const void *ulpCells,
                JointCounts &joint, LaneSums &sums)
{
    constexpr int Delay = 8;
    alignas(32) std::uint32_t ring[2 * Delay][GroupParts] = {};
    RowRange range;
    for (int group = 0; group < RowGroups; ++group) {
        Group abs{_mm256_setzero_pd(), _mm256_setzero_pd()};
        Group squared = abs, product = abs, squaredB = abs;
        for (int row = 0; row < Rows; ++row) {
            const int part = row * BlockLanes + group * GroupParts;
            const Group x = Lanes::load(partAt<Lanes>(a, part));
            const Group y = Lanes::load(partAt<Lanes>(b, part));
            const Group distance = distanceOf(x, y);
            const __m256i rows = jointRows(distance);
            const __m256i cells = _mm256_add_epi32(_mm256_slli_epi32(rows, JointCounts::RowBits),
                                                   Lanes::widen(ulpCells, part));
            _mm256_store_si256(reinterpret_cast<__m256i *>(ring[row % (2 * Delay)]), cells);
            range.add(rows, distance);
            product.low = _mm256_fmadd_pd(x.low, y.low, product.low);
            product.high = _mm256_fmadd_pd(x.high, y.high, product.high);
            squaredB.low = _mm256_fmadd_pd(y.low, y.low, squaredB.low);
            squaredB.high = _mm256_fmadd_pd(y.high, y.high, squaredB.high);
            abs.low = _mm256_add_pd(abs.low, distance.low);
            abs.high = _mm256_add_pd(abs.high, distance.high);
            squared.low = _mm256_add_pd(squared.low, _mm256_mul_pd(distance.low, distance.low));
            squared.high = _mm256_add_pd(squared.high, _mm256_mul_pd(distance.high, distance.high));
            countCells(joint.counts, ring[(row + Delay) % (2 * Delay)]);
        }
        const int lane = group * GroupParts;
        _mm256_store_pd(sums.absDifference + lane, abs.low);
        _mm256_store_pd(sums.absDifference + lane + 4, abs.high);
        _mm256_store_pd(sums.squaredDifference + lane, squared.low);
        _mm256_store_pd(sums.squaredDifference + lane + 4, squared.high);
        _mm256_store_pd(sums.productAB + lane, product.low);
        _mm256_store_pd(sums.productAB + lane + 4, product.high);
        _mm256_store_pd(sums.squaredB + lane, squaredB.low);
        _mm256_store_pd(sums.squaredB + lane + 4, squaredB.high);
    }
    for (int late = 0; late < Delay; ++late)
        countCells(joint.counts, ring[(Rows + late + Delay) % (2 * Delay)]);
    return range.addTo(joint);
}

/// The sums of products alone.
template <class Lanes>
void addProducts(const std::uint8_t *a, const std::uint8_t *b, LaneSums &sums)
{
    for (int group = 0; group < RowGroups; ++group) {
        Group product{_mm256_setzero_pd(), _mm256_setzero_pd()};
        Group squaredB = product;
        for (int row = 0; row < Rows; ++row) {
            const int part = row * BlockLanes + group * GroupParts;
            const Group x = Lanes::load(partAt<Lanes>(a, part));
            const Group y = Lanes::load(partAt<Lanes>(b, part));
            product.low = _mm256_fmadd_pd(x.low, y.low, product.low);
            product.high = _mm256_fmadd_pd(x.high, y.high, product.high);
            squaredB.low = _mm256_fmadd_pd(y.low, y.low, squaredB.low);
            squaredB.high = _mm256_fmadd_pd(y.high, y.high, squaredB.high);
        }
        const int lane = group * GroupParts;
        _mm256_store_pd(sums.productAB + lane, product.low);
        _mm256_store_pd(sums.productAB + lane + 4, product.high);
        _mm256_store_pd(sums.squaredB + lane, squaredB.low);
        _mm256_store_pd(sums.squaredB + lane + 4, squaredB.high);
    }
}

/// Bit g is set if group g of the row differs.
template <class Lanes>
std::uint32_t differingGroups(const std::uint8_t *a, const std::uint8_t *b)
{
    constexpr int VectorGroups = Lanes::Parts / GroupParts;
    std::uint32_t groups = 0;
    for (int vector = 0; vector < RowGroups / VectorGroups; ++vector) {
        const int byte = 32 * vector;
        const __m256i equal = _mm256_cmpeq_epi8(loadBits(a + byte), loadBits(b + byte));
        const auto differs = ~static_cast<std::uint32_t>(_mm256_movemask_epi8(equal));
        constexpr int GroupBytes = 32 / VectorGroups;
        for (int group = 0; group < VectorGroups; ++group) {
            const std::uint32_t bytes =
                static_cast<std::uint32_t>((std::uint64_t(1) << GroupBytes) - 1)
                << (group * GroupBytes % 32);
            groups |= static_cast<std::uint32_t>((differs & bytes) != 0)
                << (vector * VectorGroups + group);
        }
    }
    return groups;
}

/// Codes of a group in lanes of 32 bits, sign extended.
inline __m256i groupCodes(const std::uint8_t *data, std::uint32_t)
{
    return loadBits(data);
}
inline __m256i groupCodes(const std::uint8_t *data, std::uint16_t)
{
    return _mm256_cvtepi16_epi32(loadHalf(data));
}

/// A format's codes in wider lanes: what CodeCounts needs of the sparse way.
template <class Lanes>
struct WideCodes : Lanes32
{
    static constexpr std::uint32_t Magnitude = Lanes::Magnitude, Infinity = Lanes::Infinity;
};

inline void accumulate(double *lanes, const Group &terms)
{
    _mm256_store_pd(lanes, _mm256_add_pd(_mm256_load_pd(lanes), terms.low));
    _mm256_store_pd(lanes + 4, _mm256_add_pd(_mm256_load_pd(lanes + 4), terms.high));
}

/// The differences of the groups that differ. What is left out would add +0.0, which changes no sum.
template <class Lanes>
PairFacts addSparse(const std::uint8_t *a, const std::uint8_t *b, std::uint64_t rows,
                    JointCounts &joint, LaneSums &sums)
{
    using Raw = typename Lanes::Raw;
    for (int lane = 0; lane < BlockLanes; lane += 4) {
        _mm256_store_pd(sums.absDifference + lane, _mm256_setzero_pd());
        _mm256_store_pd(sums.squaredDifference + lane, _mm256_setzero_pd());
    }
    CodeCounts<WideCodes<Lanes>> counts;
    RowRange range;
    int skipped = BlockParts;
    for (; rows != 0; rows &= rows - 1) {
        const int first = __builtin_ctzll(rows) * BlockLanes;
        std::uint32_t groups =
            differingGroups<Lanes>(partAt<Lanes>(a, first), partAt<Lanes>(b, first));
        for (; groups != 0; groups &= groups - 1) {
            const int lane = __builtin_ctz(groups) * GroupParts;
            const std::uint8_t *x = partAt<Lanes>(a, first + lane);
            const std::uint8_t *y = partAt<Lanes>(b, first + lane);
            const __m256i ulp = counts.add(groupCodes(x, Raw(0)), groupCodes(y, Raw(0)));
            const Group distance = distanceOf(Lanes::load(x), Lanes::load(y));
            const __m256i histogramRows = jointRows(distance);
            alignas(32) std::uint32_t cells[GroupParts];
            _mm256_store_si256(
                reinterpret_cast<__m256i *>(cells),
                _mm256_add_epi32(_mm256_slli_epi32(histogramRows, JointCounts::RowBits),
                                 _mm256_slli_epi32(Lanes32::bin(ulp), JointCounts::CopyBits)));
            countCells(joint.counts, cells);
            range.add(histogramRows, distance);
            accumulate(sums.absDifference + lane, distance);
            accumulate(sums.squaredDifference + lane,
                       {_mm256_mul_pd(distance.low, distance.low),
                        _mm256_mul_pd(distance.high, distance.high)});
            skipped -= GroupParts;
        }
    }
    PairFacts facts;
    counts.addTo(facts);
    facts.equalBits += static_cast<std::uint32_t>(skipped);
    facts.equalNumbers += static_cast<std::uint32_t>(skipped);
    facts.maxAbs = range.addTo(joint);
    return facts;
}

template <class Lanes>
bool mostGroupsDiffer(const std::uint8_t *a, const std::uint8_t *b)
{
    int differing = 0;
    for (int row = 0; row < Rows; ++row)
        differing += __builtin_popcount(differingGroups<Lanes>(partAt<Lanes>(a, row * BlockLanes),
                                                               partAt<Lanes>(b, row * BlockLanes)));
    return differing > DenseGroups;
}

} // namespace

} // namespace forkpoint::avx2
