// SPDX-License-Identifier: GPL-3.0-or-later
// Statistics of whole blocks of float32, bfloat16 and float16. Compiled for AVX2, FMA and F16C.
#include "gpu/avx2_float_passes.h"
#include "gpu/avx2_kernels.h"

namespace forkpoint::avx2 {

namespace {

// --- one block

/// Sums, facts and histogram of a block whose A is finite. False: something of B is not.
template <class Lanes>
bool addFinite(const std::uint8_t *a, const std::uint8_t *b, std::uint64_t rows,
               BlockScratch &scratch, LaneSums &sums, PairFacts &facts)
{
    const bool manyRows = __builtin_popcountll(rows) > Rows * 5 / 8;
    if (manyRows && (scratch.dense || mostGroupsDiffer<Lanes>(a, b))) {
        facts = compareCodes<Lanes>(a, b, scratch.ulpCells);
        if (!facts.finiteB)
            return false;
        facts.maxAbs = addDense<Lanes>(a, b, scratch.ulpCells, scratch.joint, sums);
        scratch.dense = facts.equalBits < static_cast<std::uint32_t>(BlockParts * 15 / 16);
        return true;
    }
    addProducts<Lanes>(a, b, sums);
    if (!allFinite(sums.squaredB))
        return false;
    facts = addSparse<Lanes>(a, b, rows, scratch.joint, sums);
    scratch.dense = false;
    return true;
}

kernels::BlockSums fold(const LaneSums &sums)
{
    return {{0.0, foldLanes(sums.absDifference), 0.0},
            {0.0, foldLanes(sums.squaredDifference), 0.0},
            {0.0, foldLanes(sums.productAB), 0.0},
            {0.0, foldLanes(sums.squaredA), 0.0},
            {0.0, foldLanes(sums.squaredB), 0.0}};
}

/// The codes of one part and what they are.
template <class Lanes>
struct PartCodes
{
    std::uint64_t a, b;

    PartCodes(const kernels::BlockView &block, int part)
        : a(kernels::loadRaw<typename Lanes::Raw>(partAt<Lanes>(block.a, part))),
          b(kernels::loadRaw<typename Lanes::Raw>(partAt<Lanes>(block.b, part)))
    {
    }
    bool finite() const
    {
        return (a & Lanes::Magnitude) < Lanes::Infinity && (b & Lanes::Magnitude) < Lanes::Infinity;
    }
    std::uint64_t absKey() const
    {
        const typename Lanes::Format format;
        return kernels::bitsFromDouble(kernels::magnitude(
            kernels::add(kernels::valueOf(format, a), -kernels::valueOf(format, b))));
    }
    std::uint64_t ulp() const { return kernels::ulpDistance(typename Lanes::Format{}, a, b); }
};

/// The element of the first finite pair that `matches`.
template <class Lanes, class Matches>
std::uint64_t firstElement(const kernels::BlockView &block, Matches matches)
{
    for (int part = 0; part < BlockParts; ++part) {
        const PartCodes<Lanes> codes(block, part);
        if (codes.finite() && matches(codes))
            return block.firstElement
                + static_cast<std::uint64_t>(part >> (block.partsPerElement - 1));
    }
    return kernels::NoPosition;
}

/// Where the maxima are, if they exceed those of the blocks before.
template <class Lanes>
void locateMaxima(const kernels::BlockView &block, const kernels::DiffRecord &before,
                  kernels::DiffRecord &record)
{
    using Codes = PartCodes<Lanes>;
    if (before.maxAbsIndex == kernels::NoPosition || record.maxAbsKey > before.maxAbsKey)
        record.maxAbsIndex = firstElement<Lanes>(
            block, [&](const Codes &codes) { return codes.absKey() == record.maxAbsKey; });
    if (before.maxUlpIndex == kernels::NoPosition || record.maxUlp > before.maxUlp)
        record.maxUlpIndex = firstElement<Lanes>(
            block, [&](const Codes &codes) { return codes.ulp() == record.maxUlp; });
}

template <class Lanes>
void locateDifferences(const kernels::BlockView &block, kernels::DiffRecord &record)
{
    const auto differs = [&](int part) {
        const PartCodes<Lanes> codes(block, part);
        return codes.a != codes.b;
    };
    int first = 0, last = BlockParts - 1;
    while (!differs(first))
        ++first;
    while (!differs(last))
        --last;
    record.first = block.firstElement + static_cast<std::uint64_t>(first);
    record.last = block.firstElement + static_cast<std::uint64_t>(last);
}

void takeFacts(const PairFacts &facts, kernels::DiffRecord &record)
{
    record.different = BlockParts - facts.equalBits;
    record.signedZeroOnly = facts.equalNumbers - facts.equalBits;
    record.signFlips = facts.flips;
    record.valueDifferent = record.different - record.signedZeroOnly;
    record.maxAbsKey = kernels::bitsFromDouble(facts.maxAbs);
    record.maxUlp = facts.maxUlp;
}

/// Counts what is not finite and copies the block with 0 on both sides in place of each such pair.
template <class Lanes>
void takeOutNotFinite(const kernels::BlockView &block, BlockScratch &scratch,
                      kernels::DiffRecord &record)
{
    using Raw = typename Lanes::Raw;
    std::uint32_t nanA = 0, nanB = 0, infA = 0, infB = 0, payload = 0, finite = 0, different = 0;
    for (int part = 0; part < BlockParts; ++part) {
        const auto a = kernels::loadRaw<Raw>(partAt<Lanes>(block.a, part));
        const auto b = kernels::loadRaw<Raw>(partAt<Lanes>(block.b, part));
        const std::uint32_t sizeA = a & Lanes::Magnitude, sizeB = b & Lanes::Magnitude;
        const std::uint32_t isNanA = sizeA > Lanes::Infinity, isNanB = sizeB > Lanes::Infinity;
        const std::uint32_t differs = a != b;
        const std::uint32_t keep = (sizeA < Lanes::Infinity) & (sizeB < Lanes::Infinity);
        nanA += isNanA;
        nanB += isNanB;
        infA += sizeA == Lanes::Infinity;
        infB += sizeB == Lanes::Infinity;
        payload += isNanA & isNanB & differs;
        finite += keep;
        different += differs;
        const Raw mask = static_cast<Raw>(0U - keep);
        const Raw keptA = a & mask, keptB = b & mask;
        __builtin_memcpy(scratch.finiteA + part * PartBytes<Lanes>, &keptA, sizeof keptA);
        __builtin_memcpy(scratch.finiteB + part * PartBytes<Lanes>, &keptB, sizeof keptB);
    }
    record.nanA = nanA;
    record.nanB = nanB;
    record.infA = infA;
    record.infB = infB;
    record.nanPayloadOnly = payload;
    record.finitePairs = finite;
    record.different = different;
}

/// A block in which something is not finite.
template <class Lanes>
__attribute__((noinline)) kernels::BlockSums
diffSpecial(const kernels::BlockView &block, const kernels::DiffRecord &before,
            BlockScratch &scratch, kernels::DiffRecord &record)
{
    takeOutNotFinite<Lanes>(block, scratch, record);
    const std::uint64_t different = record.different;
    LaneSums sums;
    PairFacts facts;
    const std::uint64_t rows = differingRows<Lanes>(scratch.finiteA, scratch.finiteB, sums);
    addFinite<Lanes>(scratch.finiteA, scratch.finiteB, rows, scratch, sums, facts);
    takeFacts(facts, record);
    record.different = different;
    record.valueDifferent = different - record.signedZeroOnly - record.nanPayloadOnly;
    if (different != 0)
        locateDifferences<Lanes>(block, record);
    locateMaxima<Lanes>(block, before, record);
    return fold(sums);
}

template <class Lanes>
kernels::BlockSums diffBlock(const kernels::BlockView &block, const BlockContext &context,
                             kernels::DiffRecord &record)
{
    const kernels::DiffRecord &before = context.before;
    LaneSums sums;
    const std::uint64_t rows = differingRows<Lanes>(block.a, block.b, sums);
    if (!allFinite(sums.squaredA))
        return diffSpecial<Lanes>(block, before, context.scratch, record);
    record.finitePairs = BlockParts;
    if (rows == 0) {
        if (before.maxAbsIndex == kernels::NoPosition)
            record.maxAbsIndex = block.firstElement;
        if (before.maxUlpIndex == kernels::NoPosition)
            record.maxUlpIndex = block.firstElement;
        const kernels::RangeSum squares{0.0, foldLanes(sums.squaredA), 0.0};
        return {{}, {}, squares, squares, squares};
    }
    PairFacts facts;
    if (!addFinite<Lanes>(block.a, block.b, rows, context.scratch, sums, facts))
        return diffSpecial<Lanes>(block, before, context.scratch, record);
    takeFacts(facts, record);
    locateDifferences<Lanes>(block, record);
    locateMaxima<Lanes>(block, before, record);
    return fold(sums);
}

} // namespace

bool diffFloat32(const kernels::BlockView &block, const BlockContext &context,
                 kernels::DiffRecord &record, kernels::BlockSums &sums)
{
    sums = diffBlock<Float32Lanes>(block, context, record);
    return true;
}

bool diffBFloat16(const kernels::BlockView &block, const BlockContext &context,
                  kernels::DiffRecord &record, kernels::BlockSums &sums)
{
    sums = diffBlock<BFloat16Lanes>(block, context, record);
    return true;
}

bool diffFloat16(const kernels::BlockView &block, const BlockContext &context,
                 kernels::DiffRecord &record, kernels::BlockSums &sums)
{
    sums = diffBlock<Float16Lanes>(block, context, record);
    return true;
}

} // namespace forkpoint::avx2
