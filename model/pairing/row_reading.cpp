// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/pairing/row_reading.h"

namespace forkpoint {

void RowReading::push(std::unique_ptr<FingerprintTree> &tree, const std::vector<Digest128> &leaves,
                      const ComputeBackend &backend)
{
    if (!tree) {
        tree = std::make_unique<FingerprintTree>(backend);
        if (m_keptLevel)
            tree->keep(*m_keptLevel);
    }
    for (const Digest128 &leaf : leaves)
        tree->push(leaf);
}

std::optional<Digest128> RowReading::finish(std::unique_ptr<FingerprintTree> &tree)
{
    if (!tree)
        return std::nullopt;
    const Digest128 digest = tree->finish();
    if (m_keptLevel)
        m_nodes = tree->takeKept();
    tree.reset();
    return digest;
}

void RowReading::fail()
{
    m_failed = true;
    m_treeA.reset();
    m_treeB.reset();
    m_held.clear();
    m_stats.reset();
}

void RowReading::addLeaves(const LeafReading &reading, bool sideA, bool sideB,
                           const ComputeBackend &backend)
{
    m_differs |= reading.differs;
    if (sideA)
        push(m_treeA, reading.leavesA, backend);
    if (sideB)
        push(m_treeB, reading.leavesB, backend);
}

void RowReading::addUnit(UnitReading reading, const ComputeBackend &backend)
{
    addLeaves(reading, true, true, backend);
    if (reading.stats)
        m_held.emplace(m_units, std::move(*reading.stats));
    ++m_units;
    fold();
}

std::vector<std::size_t> RowReading::unmeasured() const
{
    std::vector<std::size_t> units;
    for (std::size_t unit = m_folded; unit < m_units; ++unit) {
        if (!m_held.contains(unit))
            units.push_back(unit);
    }
    return units;
}

void RowReading::addMeasured(std::size_t unit, DiffStats stats)
{
    m_held.emplace(unit, std::move(stats));
    fold();
}

/// Appends in order what is there.
void RowReading::fold()
{
    for (auto next = m_held.begin(); next != m_held.end() && next->first == m_folded;
         next = m_held.erase(next)) {
        if (m_stats)
            m_stats->append(next->second);
        else
            m_stats = std::make_shared<DiffStats>(std::move(next->second));
        ++m_folded;
    }
}

std::shared_ptr<const DiffStats> RowReading::takeStats()
{
    return m_folded == m_units && m_held.empty() ? std::move(m_stats) : nullptr;
}

std::optional<Digest128> RowReading::finishA()
{
    return finish(m_treeA);
}

std::optional<Digest128> RowReading::finishB()
{
    return finish(m_treeB);
}

} // namespace forkpoint
