// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compare/pair_reading.h"
#include "model/fingerprint.h"

#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace forkpoint {

/// What reading has found out about one row so far. Units come in order as they are read; one that
/// turned out equal before the row was known to differ may be measured later.
class RowReading
{
public:
    bool differs() const { return m_differs; }
    bool failed() const { return m_failed; }
    /// What was read does not count any more, except that it differs.
    void fail();
    void addDifference(bool differs) { m_differs |= differs; }

    /// Keeps the nodes of that level of the one side that will be read; call it before the first.
    void keepNodes(std::size_t level) { m_keptLevel = level; }
    /// After finishA() or finishB(): those nodes.
    std::vector<Digest128> takeNodes() { return std::move(m_nodes); }

    /// Leaves of the range that follows, of the sides that are read.
    void addLeaves(const LeafReading &reading, bool sideA, bool sideB,
                   const ComputeBackend &backend);
    /// The unit that follows.
    void addUnit(UnitReading reading, const ComputeBackend &backend);

    /// As many units will be measured, and none read.
    void expectUnits(std::size_t units) { m_units = units; }

    /// Of a row that is to be measured: the units whose statistics are missing, of those read.
    std::vector<std::size_t> unmeasured() const;
    /// A unit that was missing.
    void addMeasured(std::size_t unit, DiffStats stats);
    /// The statistics, once every unit has been measured; null before, and where none was.
    std::shared_ptr<const DiffStats> takeStats();

    /// The content digests of the sides whose leaves were added. Ends the reading of leaves.
    std::optional<Digest128> finishA();
    std::optional<Digest128> finishB();

private:
    void fold();
    void push(std::unique_ptr<FingerprintTree> &tree, const std::vector<Digest128> &leaves,
              const ComputeBackend &backend);
    std::optional<Digest128> finish(std::unique_ptr<FingerprintTree> &tree);

    std::unique_ptr<FingerprintTree> m_treeA, m_treeB; ///< made when needed, gone when finished
    std::optional<std::size_t> m_keptLevel;
    std::vector<Digest128> m_nodes;
    bool m_differs = false, m_failed = false;
    std::size_t m_units = 0;                 ///< read
    std::size_t m_folded = 0;                ///< measured and appended
    std::map<std::size_t, DiffStats> m_held; ///< measured, waiting for one before them
    std::shared_ptr<DiffStats> m_stats;
};

} // namespace forkpoint
