// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "gpu/cpu_kernels.h"
#include "gpu/kernels/device_work.h"
#include "model/compute_backend.h"

namespace forkpoint {

/// What a piece of work is about, whatever its type.
struct DiffPiece
{
    ByteView a, b;
    Index firstElement = 0;
    Index elements = 0;
    std::uint32_t partBits = 8;
    int partsPerElement = 1;
    Index leafElements = 0;
    bool magnitudes = true;
    kernels::ToleranceRule rule;

    DiffPiece(const DType &dtype, ByteView viewA, ByteView viewB, Index first, Index count,
              const DiffOptions &options);

    Index parts() const { return elements * static_cast<Index>(partsPerElement); }
    /// The block that begins at that part of the piece.
    kernels::BlockView block(Index firstPart) const { return view().block(firstPart); }
    kernels::PieceView view() const;
};

/// Collects the blocks of one piece and appends them to the statistics of the unit. The counters
/// are kept by the thread and cleared where they were used, so that small tensors cost little.
class DiffUnit
{
public:
    /// The layout says which counters the type has.
    DiffUnit(const DiffPiece &piece, const kernels::CounterLayout &layout, DiffStats &stats);
    DiffUnit(const DiffUnit &) = delete;
    DiffUnit &operator=(const DiffUnit &) = delete;

    /// What the blocks so far have found, and before them the unit.
    const kernels::DiffRecord &record() const { return m_record; }
    const kernels::Histograms &bins() const { return m_bins; }
    BlockScratch &scratch();

    void add(const kernels::BlockView &block, const kernels::DiffRecord &found,
             const kernels::BlockSums &sums);
    /// Whole blocks at once: `sums` is exact, so that the order of its blocks does not count.
    void addExact(Index blocks, const kernels::DiffRecord &found, const kernels::BlockSums &sums,
                  const std::vector<LeafFacts> &leaves);
    /// Counts of blocks whose counters were not those of bins(), in the layout.
    void addCounts(const std::uint64_t *counters);
    /// Appends; the unit is not used after.
    void finish();

private:
    void addToLeaf(const kernels::BlockView &block, const kernels::DiffRecord &found);
    void takeMagnitudes();
    void takeJoint();
    void takeScratchJoint(std::vector<JointHistogram::Cell> &cells);
    void takeCells(const std::vector<JointHistogram::Cell> &cells);

    const DiffPiece &m_piece;
    kernels::CounterLayout m_layout;
    DiffStats &m_stats;
    kernels::DiffRecord m_record;
    kernels::Histograms m_bins;
    std::uint64_t m_joint = 0; ///< pairs in cells of the joint histogram
    std::uint64_t m_finiteBefore = 0;
    bool m_usedScratch = false;
};

} // namespace forkpoint
