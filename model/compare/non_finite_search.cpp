// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/compare/non_finite_search.h"

#include "model/compare/pair_reading.h"

#include <algorithm>

namespace forkpoint {

NonFiniteSearch::NonFiniteSearch(std::shared_ptr<const TensorSource> a,
                                 std::shared_ptr<const TensorSource> b,
                                 std::shared_ptr<const CheckpointComparison> comparison)
    : m_a(std::move(a)),
      m_b(std::move(b)),
      m_comparison(std::move(comparison))
{
    for (std::size_t row = 0; row < m_comparison->tensors.size(); ++row)
        enter(row);
    m_findings.complete = m_parts.empty();
}

void NonFiniteSearch::enter(std::size_t at)
{
    const TensorRow &row = m_comparison->tensors[at];
    const bool floatingA = row.a && row.dtypeA.isFloating();
    const bool floatingB = row.b && row.dtypeB.isFloating();
    const bool alike =
        floatingA && floatingB && row.dtypeA == row.dtypeB && row.shapeA == row.shapeB;
    if (alike && row.stats)
        count(at, *row.stats, true, true);
    else if (alike)
        m_parts.push_back({at, true, true});
    else {
        if (floatingA)
            m_parts.push_back({at, true, false});
        if (floatingB)
            m_parts.push_back({at, false, true});
    }
    m_findings.looked += alike && row.stats ? 1 : 0;
}

Result<bool> NonFiniteSearch::advance(const ComputeBackend &backend, std::stop_token stop)
{
    if (m_findings.complete)
        return false;
    const Part &part = m_parts[m_next];
    const TensorRow &row = m_comparison->tensors[part.row];
    // One side alone is set against itself.
    const SourcedTensor a =
        part.a ? SourcedTensor{m_a.get(), *row.a} : SourcedTensor{m_b.get(), *row.b};
    const SourcedTensor b = part.b ? SourcedTensor{m_b.get(), *row.b} : a;
    const Index elements = a.ref().elements;
    const Index size = std::min(unitElements(a.ref().dtype), elements - m_element);
    bool more = false;
    if (size > 0) {
        const Result<DiffStats> stats =
            measure(PairOfTensors{a, b}, MeasuredAs{a.ref().dtype}, m_element, size,
                    DiffOptions{Tolerance{}, false}, backend, stop);
        if (stop.stop_requested())
            return Error{ErrorCode::Cancelled, {}, {}, "cancelled"};
        if (stats.ok())
            count(part.row, stats.value(), part.a, part.b);
        else
            m_findings.unread.push_back(row.name + ": " + stats.error().message());
        m_element += size;
        more = stats.ok() && m_element < elements;
    }
    if (!more) {
        ++m_findings.looked;
        m_element = 0;
        m_findings.complete = ++m_next == m_parts.size();
    }
    return !m_findings.complete;
}

void NonFiniteSearch::count(std::size_t row, const DiffStats &stats, bool a, bool b)
{
    const NonFiniteTensor here{m_comparison->tensors[row].name, a ? stats.nanA : 0,
                               b ? stats.nanB : 0, a ? stats.infA : 0, b ? stats.infB : 0};
    if (here.nanA + here.nanB + here.infA + here.infB == 0)
        return;
    std::vector<NonFiniteTensor> &tensors = m_findings.tensors;
    if (tensors.empty() || tensors.back().name != here.name)
        tensors.push_back({here.name, 0, 0, 0, 0});
    tensors.back().nanA += here.nanA;
    tensors.back().nanB += here.nanB;
    tensors.back().infA += here.infA;
    tensors.back().infB += here.infB;
}

Status NonFiniteSearch::unchanged() const
{
    FP_CHECK(m_a->unchanged());
    return m_b->unchanged();
}

Progress NonFiniteSearch::progress() const
{
    const std::string item =
        m_findings.complete ? std::string() : m_comparison->tensors[m_parts[m_next].row].name;
    return {"looking for NaN and infinities", item, 0, 0, m_next, m_parts.size()};
}

} // namespace forkpoint
