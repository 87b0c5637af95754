// SPDX-License-Identifier: GPL-3.0-or-later
#include "gpu/diff_unit.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

namespace forkpoint {

namespace {

using kernels::CounterLayout;
using kernels::DiffRecord;

const std::uint8_t *address(ByteView bytes)
{
    return reinterpret_cast<const std::uint8_t *>(bytes.data());
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

/// The counters of one thread. Clean between two units.
struct ThreadCounters
{
    std::vector<std::uint64_t> absA, absB, absDifference, joint;
    std::vector<std::uint8_t> rows;
    std::unique_ptr<BlockScratch> scratch;

    void fit(const CounterLayout &layout)
    {
        const auto bins = static_cast<std::size_t>(layout.bins);
        if (absA.size() < bins) {
            absA.resize(bins);
            absB.resize(bins);
            absDifference.resize(bins);
            rows.resize(bins);
        }
        if (layout.isFloat() && joint.size() < bins * kernels::UlpColumns)
            joint.resize(bins * kernels::UlpColumns);
    }
};

ThreadCounters &threadCounters()
{
    static thread_local ThreadCounters counters;
    return counters;
}

/// Moves counters by power into a histogram and leaves zeros.
void drain(std::vector<std::uint64_t> &counts, const CounterLayout &layout, PowerHistogram &target)
{
    target.addZeros(std::exchange(counts[0], 0));
    for (int bin = 1; bin < layout.bins; ++bin)
        target.add(layout.lowest + bin - 1,
                   std::exchange(counts[static_cast<std::size_t>(bin)], 0));
}

/// What the unit has found so far, as a record that goes on.
DiffRecord recordOf(const DiffStats &stats, bool isFloat)
{
    DiffRecord record;
    record.different = stats.differentElements;
    record.first = stats.firstIndex;
    record.last = stats.lastIndex;
    record.valueDifferent = stats.valueDifferent;
    record.beyondTolerance = stats.beyondTolerance;
    record.finitePairs = stats.finitePairs;
    record.nanA = stats.nanA;
    record.nanB = stats.nanB;
    record.infA = stats.infA;
    record.infB = stats.infB;
    record.nanPayloadOnly = stats.nanPayloadOnly;
    record.signedZeroOnly = stats.signedZeroOnly;
    record.signFlips = stats.signFlips;
    record.maxAbsKey = isFloat ? kernels::bitsFromDouble(stats.maxAbs) : stats.maxAbsInteger;
    record.maxAbsIndex = stats.maxAbsIndex;
    record.maxUlp = stats.maxUlp;
    record.maxUlpIndex = stats.maxUlpIndex;
    return record;
}

void recordTo(const DiffRecord &record, bool isFloat, DiffStats &stats)
{
    stats.differentElements = record.different;
    stats.firstIndex = record.first;
    stats.lastIndex = record.last;
    stats.valueDifferent = record.valueDifferent;
    stats.beyondTolerance = record.beyondTolerance;
    stats.finitePairs = record.finitePairs;
    stats.nanA = record.nanA;
    stats.nanB = record.nanB;
    stats.infA = record.infA;
    stats.infB = record.infB;
    stats.nanPayloadOnly = record.nanPayloadOnly;
    stats.signedZeroOnly = record.signedZeroOnly;
    stats.signFlips = record.signFlips;
    stats.maxAbsInteger = isFloat ? 0 : record.maxAbsKey;
    stats.maxAbs =
        isFloat ? kernels::doubleFromBits(record.maxAbsKey) : static_cast<double>(record.maxAbsKey);
    stats.maxAbsIndex = record.maxAbsIndex;
    stats.maxUlp = record.maxUlp;
    stats.maxUlpIndex = record.maxUlpIndex;
}

/// Adds the blocks that follow.
void appendRecord(DiffRecord &record, const DiffRecord &next)
{
    record.different += next.different;
    if (record.first == kernels::NoPosition)
        record.first = next.first;
    if (next.last != kernels::NoPosition)
        record.last = next.last;
    record.valueDifferent += next.valueDifferent;
    record.beyondTolerance += next.beyondTolerance;
    record.finitePairs += next.finitePairs;
    record.nanA += next.nanA;
    record.nanB += next.nanB;
    record.infA += next.infA;
    record.infB += next.infB;
    record.nanPayloadOnly += next.nanPayloadOnly;
    record.signedZeroOnly += next.signedZeroOnly;
    record.signFlips += next.signFlips;
    kernels::keepPeak(record.maxAbsKey, record.maxAbsIndex, next.maxAbsKey, next.maxAbsIndex);
    kernels::keepPeak(record.maxUlp, record.maxUlpIndex, next.maxUlp, next.maxUlpIndex);
}

} // namespace

DiffPiece::DiffPiece(const DType &dtype, ByteView viewA, ByteView viewB, Index first, Index count,
                     const DiffOptions &options)
    : a(viewA),
      b(viewB),
      firstElement(first),
      elements(count),
      partBits(dtype.kind == ElementKind::Complex ? dtype.bits / 2 : dtype.bits),
      partsPerElement(dtype.kind == ElementKind::Complex ? 2 : 1),
      leafElements(forkpoint::leafElements(dtype)),
      magnitudes(options.magnitudes),
      rule(toRule(options.tolerance))
{
}

kernels::PieceView DiffPiece::view() const
{
    return {address(a),     address(b), parts(), firstElement, static_cast<int>(partBits),
            partsPerElement};
}

DiffUnit::DiffUnit(const DiffPiece &piece, const CounterLayout &layout, DiffStats &stats)
    : m_piece(piece),
      m_layout(layout),
      m_stats(stats),
      m_record(recordOf(stats, layout.isFloat())),
      m_finiteBefore(stats.finitePairs)
{
    ThreadCounters &counters = threadCounters();
    counters.fit(layout);
    m_bins.lowest = layout.lowest;
    if (piece.magnitudes) {
        m_bins.absA = counters.absA.data();
        m_bins.absB = counters.absB.data();
    }
    if (layout.isFloat()) {
        m_bins.joint = counters.joint.data();
        m_bins.rows = counters.rows.data();
    } else {
        m_bins.absDifference = counters.absDifference.data();
    }
}

BlockScratch &DiffUnit::scratch()
{
    m_usedScratch = true;
    ThreadCounters &counters = threadCounters();
    if (!counters.scratch)
        counters.scratch = std::make_unique<BlockScratch>();
    return *counters.scratch;
}

void DiffUnit::add(const kernels::BlockView &block, const DiffRecord &found,
                   const kernels::BlockSums &sums)
{
    appendRecord(m_record, found);
    m_stats.sums.push(toSums(sums));
    addToLeaf(block, found);
}

void DiffUnit::addToLeaf(const kernels::BlockView &block, const DiffRecord &found)
{
    if (block.firstElement % m_piece.leafElements == 0 || m_stats.leaves.empty())
        m_stats.leaves.emplace_back();
    if (found.different == 0)
        return;
    LeafFacts &leaf = m_stats.leaves.back();
    leaf.different += static_cast<std::uint32_t>(found.different);
    if (found.maxAbsKey == 0)
        return;
    const int power = m_layout.isFloat()
        ? kernels::powerOf(kernels::doubleFromBits(found.maxAbsKey))
        : kernels::highestBit(found.maxAbsKey);
    leaf.largestPower = std::max(leaf.largestPower, static_cast<std::int16_t>(power));
}

void DiffUnit::addExact(Index blocks, const DiffRecord &found, const kernels::BlockSums &sums,
                        const std::vector<LeafFacts> &leaves)
{
    appendRecord(m_record, found);
    m_stats.sums.pushExact(toSums(sums), blocks);
    m_stats.leaves.insert(m_stats.leaves.end(), leaves.begin(), leaves.end());
}

void DiffUnit::addCounts(const std::uint64_t *counters)
{
    // The layout's pointers, to be read from alone.
    const kernels::Histograms from =
        m_layout.histograms(const_cast<std::uint64_t *>(counters), m_piece.magnitudes);
    const auto addBins = [&](std::uint64_t *to, const std::uint64_t *counts) {
        for (int bin = 0; to != nullptr && bin < m_layout.bins; ++bin)
            to[bin] += counts[bin];
    };
    addBins(m_bins.absA, from.absA);
    addBins(m_bins.absB, from.absB);
    addBins(m_bins.absDifference, from.absDifference);
    for (int row = 0; m_layout.isFloat() && row < m_layout.bins; ++row) {
        std::uint64_t any = 0;
        for (int column = 0; column < from.columns; ++column) {
            const std::uint64_t count = from.joint[row * from.columns + column];
            m_bins.joint[row * m_bins.columns + column] += count;
            any |= count;
        }
        m_bins.rows[row] |= any != 0;
    }
}

void DiffUnit::finish()
{
    m_stats.elements += m_piece.elements;
    m_stats.magnitudes = m_piece.magnitudes;
    recordTo(m_record, m_layout.isFloat(), m_stats);
    if (m_piece.magnitudes)
        takeMagnitudes();
    if (m_layout.isFloat())
        takeJoint();
    else
        drain(threadCounters().absDifference, m_layout, m_stats.absDifference);
}

void DiffUnit::takeMagnitudes()
{
    drain(threadCounters().absA, m_layout, m_stats.absA);
    drain(threadCounters().absB, m_layout, m_stats.absB);
}

void DiffUnit::takeJoint()
{
    ThreadCounters &counters = threadCounters();
    std::vector<JointHistogram::Cell> cells;
    for (int row = 1; row < m_layout.bins; ++row) {
        if (std::exchange(counters.rows[static_cast<std::size_t>(row)], std::uint8_t(0)) == 0)
            continue;
        std::uint64_t *columns = counters.joint.data() + row * kernels::UlpColumns;
        for (int column = 1; column < kernels::UlpColumns; ++column) {
            if (const std::uint64_t count = std::exchange(columns[column], 0))
                cells.push_back({static_cast<std::int16_t>(m_layout.lowest + row - 1),
                                 static_cast<std::int16_t>(column - 1), count});
        }
    }
    takeCells(cells);
    if (m_usedScratch) {
        cells.clear();
        takeScratchJoint(cells);
        takeCells(cells);
    }
    const std::uint64_t zeros = m_record.finitePairs - m_finiteBefore - m_joint;
    m_stats.joint.addZeros(zeros);
    m_stats.absDifference.addZeros(zeros);
    m_stats.ulp.addZeros(zeros);
}

void DiffUnit::takeScratchJoint(std::vector<JointHistogram::Cell> &cells)
{
    JointCounts &joint = scratch().joint;
    for (int row = joint.firstRow; row <= joint.lastRow; ++row) {
        std::uint32_t *counts = joint.counts + (row << JointCounts::RowBits);
        for (int column = 1; column < 1 << JointCounts::ColumnBits; ++column) {
            std::uint64_t count = 0;
            for (int copy = 0; copy < JointCounts::Copies; ++copy)
                count += std::exchange(counts[(column << JointCounts::CopyBits) + copy], 0U);
            if (count != 0)
                cells.push_back({static_cast<std::int16_t>(JointCounts::LowestPower + row - 1),
                                 static_cast<std::int16_t>(column - 1), count});
        }
    }
    joint.firstRow = JointCounts::Rows;
    joint.lastRow = 0;
}

void DiffUnit::takeCells(const std::vector<JointHistogram::Cell> &cells)
{
    if (cells.empty())
        return;
    for (const JointHistogram::Cell &cell : cells) {
        m_stats.absDifference.add(cell.power, cell.count);
        m_stats.ulp.add(cell.ulpPower, cell.count);
        m_joint += cell.count;
    }
    m_stats.joint.add(cells);
}

} // namespace forkpoint
