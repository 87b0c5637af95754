// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/pairing/layout_findings.h"

#include "model/format.h"
#include "model/pairing/fused_findings.h"
#include "model/pairing/permutation_text.h"
#include "model/pairing/row_permutation.h"
#include "model/pairing/stack_findings.h"
#include "model/text/text.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace forkpoint {

namespace {

class Look
{
public:
    Look(const CheckpointComparison &comparison, const TensorSource &a, const TensorSource &b,
         std::uint64_t budget, std::stop_token stop)
        : m_comparison(comparison),
          m_a(a),
          m_b(b),
          m_search(budget, std::move(stop))
    {
    }

    std::vector<Finding> take()
    {
        for (const TensorRow &row : m_comparison.tensors) {
            if (m_search.isStopped())
                return {};
            if (row.status == ItemStatus::Different && row.a && row.b && row.dtypeA == row.dtypeB
                && row.dtypeA.positionBits() % 8 == 0 && mayBePermuted(row))
                lookAt(row);
        }
        for (Finding &finding : fusedFindings(m_comparison, m_a, m_b, m_search))
            m_findings.push_back(std::move(finding));
        for (Finding &finding : stackFindings(m_comparison, m_a, m_b, m_search))
            m_findings.push_back(std::move(finding));
        addLeftOut();
        return std::move(m_findings);
    }

private:
    /// The same elements in another order have the same sums and counts.
    static bool mayBePermuted(const TensorRow &row)
    {
        if (row.shapeA != row.shapeB)
            return row.shapeA.rank() == row.shapeB.rank() && row.shapeA.rank() > 0;
        if (!row.stats || row.shapeA.rank() == 0 || row.stats->differentElements < 2)
            return false;
        const DiffStats &stats = *row.stats;
        if (stats.nanA != stats.nanB || stats.infA != stats.infB)
            return false;
        const auto a = stats.rmsA(), b = stats.rmsB();
        return a && b ? std::fabs(*a - *b) <= 1e-9 * std::max(*a, *b)
                      : a.has_value() == b.has_value();
    }

    /// A search that ended is no search that found nothing.
    void addLeftOut()
    {
        const std::vector<std::string> &names = m_search.leftOut();
        if (names.empty())
            return;
        m_findings.push_back(
            {"layout-not-searched", Certainty::Is, Severity::Note,
             "whether the other side has the same values in another layout was not searched to the "
             "end for "
                 + counted(names.size(), "tensor", "tensors") + ", first " + names.front(),
             names});
    }

    void add(std::string id, const TensorRow &row, std::string text)
    {
        m_findings.push_back({std::move(id),
                              Certainty::Is,
                              Severity::Note,
                              row.name + ": the same values in another layout: " + std::move(text),
                              {row.name}});
    }

    void lookAt(const TensorRow &row)
    {
        const std::size_t width = row.dtypeA.positionBits() / 8;
        const auto &dimsA = row.shapeA.dims, &dimsB = row.shapeB.dims;
        const bool crossed = dimsA.size() == 2 && dimsA[0] == dimsB[1] && dimsA[1] == dimsB[0];
        const bool padded = dimsA[0] != dimsB[0]
            && std::equal(dimsA.begin() + 1, dimsA.end(), dimsB.begin() + 1, dimsB.end());
        if (row.shapeA != row.shapeB && !crossed && !padded)
            return;
        const auto a = m_search.read(m_a, *row.a);
        const auto b = a ? m_search.read(m_b, *row.b) : std::nullopt;
        if (!b)
            return m_search.leaveOut(row.name);
        if (a->empty() || b->empty())
            return;
        if (crossed && transposed(*a, dimsA[0], dimsA[1], width) == *b)
            return add("same-values-transposed", row, "B is A transposed, bit for bit");
        if (row.shapeA != row.shapeB && crossed)
            return lookAtCrossed(row, *a, *b);
        if (padded)
            return lookAtPadding(row, *a, *b);
        if (row.shapeA != row.shapeB)
            return;
        const auto rows = rowPermutation(*a, *b, std::size_t(a->size() / dimsA[0]), m_search);
        if (rows.map)
            return addMap("same-rows-permuted", row, {}, row.name, *rows.map,
                          row.shapeA.rank() == 1 ? "elements" : "rows");
        if (rows.isLeftOut)
            return m_search.leaveOut(row.name);
        if (dimsA.size() == 2)
            lookAtColumns(row, *a, *b);
    }

    /// Transposed, and in another order: a fused layer of one framework against another's.
    void lookAtCrossed(const TensorRow &row, const std::vector<std::byte> &a,
                       const std::vector<std::byte> &b)
    {
        if (const auto map = mapOfTransposed(row, a, b, false))
            addMap("same-rows-permuted", row, "A transposed, ", row.name, *map, "rows");
    }

    void lookAtColumns(const TensorRow &row, const std::vector<std::byte> &a,
                       const std::vector<std::byte> &b)
    {
        if (const auto map = mapOfTransposed(row, a, b, true))
            addMap("same-columns-permuted", row, {}, {}, *map, "columns");
    }

    /// Which of A's columns are B's rows, or B's columns; says so where the search does not get there.
    std::optional<std::vector<Index>> mapOfTransposed(const TensorRow &row,
                                                      const std::vector<std::byte> &a,
                                                      const std::vector<std::byte> &b, bool both)
    {
        const Index rows = row.shapeA.dims[0], columns = row.shapeA.dims[1];
        const std::size_t width = row.dtypeA.positionBits() / 8;
        if (!m_search.spend(2 * a.size())) {
            m_search.leaveOut(row.name);
            return std::nullopt;
        }
        auto found = rowPermutation(transposed(a, rows, columns, width),
                                    both ? transposed(b, rows, columns, width) : b,
                                    std::size_t(rows * width), m_search);
        if (found.isLeftOut)
            m_search.leaveOut(row.name);
        return found.isLeftOut ? std::nullopt : std::move(found.map);
    }

    void addMap(std::string id, const TensorRow &row, const std::string &before,
                const std::string &named, const std::vector<Index> &map, std::string_view what)
    {
        const PermutationForm form = formOf(map);
        add(std::move(id), row,
            before + permutationMeaning(named, form, map.size()) + "; "
                + permutationMapText(map, form, what));
    }

    /// Rows beyond those of the other side: padding of a vocabulary to what the ranks divide.
    void lookAtPadding(const TensorRow &row, const std::vector<std::byte> &a,
                       const std::vector<std::byte> &b)
    {
        const std::size_t common = std::min(a.size(), b.size());
        if (common == 0 || std::memcmp(a.data(), b.data(), common) != 0)
            return;
        const bool longA = a.size() > b.size();
        const std::vector<std::byte> &longer = longA ? a : b;
        const bool zero = std::all_of(longer.begin() + std::ptrdiff_t(common), longer.end(),
                                      [](std::byte byte) { return byte == std::byte(0); });
        const Index rows = std::min(row.shapeA.dims[0], row.shapeB.dims[0]);
        const Index more = std::max(row.shapeA.dims[0], row.shapeB.dims[0]) - rows;
        m_findings.push_back({"padded-rows",
                              Certainty::Is,
                              Severity::Note,
                              row.name + ": the first " + counted(rows, "row is", "rows are")
                                  + " equal bit for bit; " + (longA ? "A" : "B") + " has "
                                  + counted(more, "row", "rows") + " more, "
                                  + (zero ? "all zero" : "not zero"),
                              {row.name}});
    }

    const CheckpointComparison &m_comparison;
    const TensorSource &m_a, &m_b;
    LayoutSearch m_search;
    std::vector<Finding> m_findings;
};

} // namespace

std::vector<Finding> layoutFindings(const CheckpointComparison &comparison, const TensorSource &a,
                                    const TensorSource &b, std::uint64_t budget,
                                    std::stop_token stop)
{
    return Look(comparison, a, b, budget, std::move(stop)).take();
}

} // namespace forkpoint
