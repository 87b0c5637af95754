// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/pairing/content_join.h"

#include <map>

namespace forkpoint {

namespace {

struct Group
{
    std::vector<std::size_t> onlyA, onlyB; ///< row numbers
};

std::map<Digest128, Group> unpairedByContent(const std::vector<TensorRow> &rows)
{
    std::map<Digest128, Group> groups;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const TensorRow &row = rows[i];
        if (row.status == ItemStatus::OnlyInA && row.fingerprintA)
            groups[row.fingerprintA->tensor].onlyA.push_back(i);
        if (row.status == ItemStatus::OnlyInB && row.fingerprintB)
            groups[row.fingerprintB->tensor].onlyB.push_back(i);
    }
    return groups;
}

/// Why two rows that have the same bytes stay apart.
void tellTooSmall(TensorRow &row, const TensorRow &other)
{
    const bool isA = row.status == ItemStatus::OnlyInA;
    row.reason = "has dtype, shape and bytes of '" + (isA ? other.nameB : other.nameA) + "' of "
        + (isA ? "B" : "A") + ", but fewer than " + std::to_string(FewestJoinedElements)
        + " elements: too few to pair by content";
}

} // namespace

JoinedRows joinByContent(std::vector<TensorRow> &rows, const Catalog &a, const Catalog &b)
{
    JoinedRows joined;
    std::vector<bool> gone(rows.size(), false);
    for (const auto &[digest, group] : unpairedByContent(rows)) {
        if (group.onlyA.size() != 1 || group.onlyB.size() != 1)
            continue;
        TensorRow &row = rows[group.onlyA.front()];
        TensorRow &other = rows[group.onlyB.front()];
        if (row.elements < FewestJoinedElements) {
            tellTooSmall(row, other);
            tellTooSmall(other, row);
            continue;
        }
        row.b = other.b;
        row.nameB = b.tensors[*other.b].name;
        row.dtypeB = other.dtypeB;
        row.shapeB = other.shapeB;
        row.fingerprintB = other.fingerprintB;
        row.strength = std::min(row.strength, other.strength);
        row.bytes += other.bytes;
        row.pairedBy = PairedBy::Content;
        row.pairedReason = "'" + a.tensors[*row.a].name + "' and '" + row.nameB
            + "' have the same dtype, shape and bytes, and no other tensor has them";
        row.status = ItemStatus::Identical;
        row.valueEqual = true;
        gone[group.onlyB.front()] = true;
        ++joined.pairs;
    }
    std::size_t kept = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (gone[i])
            continue;
        if (kept != i)
            rows[kept] = std::move(rows[i]);
        ++kept;
    }
    rows.resize(kept);
    return joined;
}

} // namespace forkpoint
