// SPDX-License-Identifier: GPL-3.0-or-later
// Statistics of whole blocks of float64 whose numbers are neither huge nor tiny: then no square
// leaves the middle range of kernels::WideSum, and the sums are plain ones. Compiled for AVX2; no
// multiply-add here, because products of float64 are not exact.
#include "gpu/avx2_kernels.h"

#include <immintrin.h>

namespace forkpoint::avx2 {

namespace {

using kernels::BlockLanes;
using kernels::BlockParts;

constexpr int Rows = BlockParts / BlockLanes;
constexpr int VectorLanes = 4;

/// Numbers within 2^-398 and 2^398: their differences are 0 or within 2^-450 and 2^399, and products
/// of any two of these within 2^-900 and 2^900, the edges of the middle range.
constexpr int LargestPower = 398;
static_assert(2 * (LargestPower + 1) <= kernels::RangeEdge);
static_assert(2 * (LargestPower + 52) <= kernels::RangeEdge);

__m256d load(const std::uint8_t *data, int part)
{
    return _mm256_loadu_pd(reinterpret_cast<const double *>(data) + part);
}

__m256i sizeBits(__m256d value)
{
    return _mm256_and_si256(_mm256_castpd_si256(value), _mm256_set1_epi64x(0x7FFFFFFFFFFFFFFF));
}

/// All ones in the lanes that are not zero and outside the range; NaN and infinity are.
__m256i outside(__m256d value)
{
    constexpr long long Most = (1023LL + LargestPower) << 52;
    constexpr long long Least = (1023LL - LargestPower) << 52;
    const __m256i size = sizeBits(value);
    const __m256i large = _mm256_cmpgt_epi64(size, _mm256_set1_epi64x(Most));
    const __m256i small = _mm256_cmpgt_epi64(_mm256_set1_epi64x(Least), size);
    const __m256i zero = _mm256_cmpeq_epi64(size, _mm256_setzero_si256());
    return _mm256_or_si256(large, _mm256_andnot_si256(zero, small));
}

enum class Look { Equal, Different, Unusual };

Look lookAt(const kernels::BlockView &block)
{
    __m256i unusual = _mm256_setzero_si256(), changed = unusual;
    for (int part = 0; part < BlockParts; part += VectorLanes) {
        const __m256d a = load(block.a, part), b = load(block.b, part);
        unusual = _mm256_or_si256(unusual, _mm256_or_si256(outside(a), outside(b)));
        changed = _mm256_or_si256(changed,
                                  _mm256_xor_si256(_mm256_castpd_si256(a), _mm256_castpd_si256(b)));
    }
    if (_mm256_testz_si256(unusual, unusual) == 0)
        return Look::Unusual;
    return _mm256_testz_si256(changed, changed) != 0 ? Look::Equal : Look::Different;
}

/// Four lanes of each sum, row after row.
struct LaneVectors
{
    __m256d absDifference = _mm256_setzero_pd(), squaredDifference = absDifference,
            productAB = absDifference, squaredA = absDifference, squaredB = absDifference;
};

__m256d addProduct(__m256d sum, __m256d a, __m256d b)
{
    return _mm256_add_pd(sum, _mm256_mul_pd(a, b));
}

LaneVectors sumColumn(const kernels::BlockView &block, int lane)
{
    LaneVectors sums;
    for (int row = 0; row < Rows; ++row) {
        const int part = row * BlockLanes + lane;
        const __m256d a = load(block.a, part), b = load(block.b, part);
        const __m256d difference = _mm256_castsi256_pd(sizeBits(_mm256_sub_pd(a, b)));
        sums.absDifference = _mm256_add_pd(sums.absDifference, difference);
        sums.squaredDifference = addProduct(sums.squaredDifference, difference, difference);
        sums.productAB = addProduct(sums.productAB, a, b);
        sums.squaredA = addProduct(sums.squaredA, a, a);
        sums.squaredB = addProduct(sums.squaredB, b, b);
    }
    return sums;
}

/// The lanes folded 16, 8, 4, 2, 1.
kernels::RangeSum fold(double (&lanes)[BlockLanes])
{
    for (int half = BlockLanes / 2; half > 0; half /= 2) {
        for (int lane = 0; lane < half; ++lane)
            lanes[lane] = kernels::add(lanes[lane], lanes[lane + half]);
    }
    return {0.0, lanes[0], 0.0};
}

kernels::BlockSums sumsOf(const kernels::BlockView &block)
{
    double abs[BlockLanes], squared[BlockLanes], product[BlockLanes], a[BlockLanes], b[BlockLanes];
    for (int lane = 0; lane < BlockLanes; lane += VectorLanes) {
        const LaneVectors sums = sumColumn(block, lane);
        _mm256_storeu_pd(abs + lane, sums.absDifference);
        _mm256_storeu_pd(squared + lane, sums.squaredDifference);
        _mm256_storeu_pd(product + lane, sums.productAB);
        _mm256_storeu_pd(a + lane, sums.squaredA);
        _mm256_storeu_pd(b + lane, sums.squaredB);
    }
    return {fold(abs), fold(squared), fold(product), fold(a), fold(b)};
}

kernels::BlockSums sumsOfEqual(const kernels::BlockView &block)
{
    double squares[BlockLanes];
    for (int lane = 0; lane < BlockLanes; lane += VectorLanes) {
        __m256d sum = _mm256_setzero_pd();
        for (int row = 0; row < Rows; ++row) {
            const __m256d a = load(block.a, row * BlockLanes + lane);
            sum = addProduct(sum, a, a);
        }
        _mm256_storeu_pd(squares + lane, sum);
    }
    const kernels::RangeSum sum = fold(squares);
    return {{}, {}, sum, sum, sum};
}

/// Everything but the sums, of the parts that differ.
void takeFacts(const kernels::BlockView &block, const kernels::Histograms &bins,
               kernels::DiffRecord &record)
{
    const kernels::Float64 format;
    for (int part = 0; part < BlockParts; ++part) {
        const auto at = static_cast<std::size_t>(part) * sizeof(double);
        const auto a = kernels::loadRaw<std::uint64_t>(block.a + at);
        const auto b = kernels::loadRaw<std::uint64_t>(block.b + at);
        if (a == b)
            continue;
        const std::uint64_t index =
            block.firstElement + static_cast<std::uint64_t>(part >> (block.partsPerElement - 1));
        record.first = record.different == 0 ? index : record.first;
        record.last = index;
        ++record.different;
        const double x = kernels::doubleFromBits(a), y = kernels::doubleFromBits(b);
        const double difference = kernels::magnitude(kernels::add(x, -y));
        const std::uint64_t ulp = kernels::ulpDistance(format, a, b);
        record.signedZeroOnly += ulp == 0;
        record.signFlips += ((a ^ b) >> 63) & static_cast<std::uint64_t>(x != 0.0 && y != 0.0);
        if (ulp == 0)
            continue;
        kernels::keepPeak(record.maxAbsKey, record.maxAbsIndex, kernels::bitsFromDouble(difference),
                          index);
        kernels::keepPeak(record.maxUlp, record.maxUlpIndex, ulp, index);
        const int row = kernels::powerBin(bins.lowest, difference);
        bins.rows[row] = 1;
        ++bins.joint[row * kernels::UlpColumns + kernels::integerBin(ulp)];
    }
    record.valueDifferent = record.different - record.signedZeroOnly;
}

} // namespace

bool diffFloat64(const kernels::BlockView &block, const BlockContext &context,
                 kernels::DiffRecord &record, kernels::BlockSums &sums)
{
    const Look look = lookAt(block);
    if (look == Look::Unusual)
        return false;
    record.finitePairs = BlockParts;
    if (look == Look::Different)
        takeFacts(block, context.bins, record);
    // Where all pairs are equal as numbers, the first one has the largest distances: 0.
    if (record.maxAbsIndex == kernels::NoPosition)
        record.maxAbsIndex = record.maxUlpIndex = block.firstElement;
    sums = look == Look::Equal ? sumsOfEqual(block) : sumsOf(block);
    return true;
}

} // namespace forkpoint::avx2
