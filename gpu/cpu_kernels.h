// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "gpu/kernels/diff.h"
#include "gpu/kernels/xxh3.h"

namespace forkpoint {

// The instruction sets of the processor. What a figure is, gpu/kernels defines; a kernel here gives
// the same bits, faster, and only for what is worth it. Each set is one or more translation units
// with their own compiler flags, so nothing in them may be inline code of the standard library.

/// Pairs of one thread by power of |a - b| and of the ULP distance, for the kernels of whole blocks.
/// Eight counters a cell, one for each position in a group of eight, keep equal neighbours from
/// waiting for each other's stores. Row 0, column 0 is never read: see kernels::Histograms.
struct JointCounts
{
    static constexpr int LowestPower = -149; ///< of row 1: the least float32
    static constexpr int Rows = 280;
    static constexpr int ColumnBits = 6, CopyBits = 3;
    static constexpr int Copies = 1 << CopyBits;
    static constexpr int RowBits = ColumnBits + CopyBits;

    alignas(64) std::uint32_t counts[Rows << RowBits] = {};
    int firstRow = Rows, lastRow = 0; ///< the rows that count something; row 0 apart
};

/// What the kernels of whole blocks work in; one for each thread.
struct BlockScratch
{
    JointCounts joint;
    alignas(64) std::uint32_t ulpCells[kernels::BlockParts] = {};
    alignas(64) std::uint8_t finiteA[kernels::BlockParts * 4] = {};
    alignas(64) std::uint8_t finiteB[kernels::BlockParts * 4] = {};
    /// Most groups of the last differing block differed. A guess at how the next one looks: speed
    /// depends on it, results do not.
    bool dense = false;
};

/// Where the kernel of a block works.
struct BlockContext
{
    const kernels::DiffRecord &before; ///< indices of maxima are looked for only where they exceed
    const kernels::Histograms &bins;
    BlockScratch &scratch;
};

/// One full block of floats. Counts in `scratch.joint` or `bins.joint`, fills `record`, which is
/// empty, as locateDifferences() and diffFloats() would. False, and nothing done: not a block for
/// this kernel.
using BlockKernel = bool (*)(const kernels::BlockView &block, const BlockContext &context,
                             kernels::DiffRecord &record, kernels::BlockSums &sums);

using HashKernel = kernels::Hash128 (*)(const std::uint8_t *data, std::size_t size);

/// Adds to how often each pair of bytes (a | b << 8) occurs, to either of two tables.
using CountPairsKernel = void (*)(const std::uint8_t *a, const std::uint8_t *b, std::size_t size,
                                  std::uint16_t *even, std::uint16_t *odd);

struct CpuKernels
{
    const char *name; ///< "AVX2"
    HashKernel hash;
    // Null: as gpu/kernels defines it.
    BlockKernel float64, float32, bfloat16, float16;
    CountPairsKernel countPairs; ///< types of 8 bits, see byte_pairs.h
};

/// The definition itself, compiled for any processor.
const CpuKernels &portableKernels();
/// The fastest that this processor can run.
const CpuKernels &bestKernels();

#if defined(__x86_64__)
/// Only for processors with AVX2, FMA and F16C.
const CpuKernels &avx2Kernels();
#endif

} // namespace forkpoint
