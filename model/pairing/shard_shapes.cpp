// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/pairing/shard_shapes.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>

namespace forkpoint {

namespace {

constexpr std::string_view Format = "safetensors-shards", Prefix = "shard-";

std::set<OwnerIndex> ownersOf(const TensorRef &tensor)
{
    std::set<OwnerIndex> owners;
    for (const Extent &extent : tensor.extents)
        owners.insert(extent.owner);
    return owners;
}

bool isCutAlong(const TensorRef &tensor, std::size_t axis)
{
    return std::any_of(tensor.extents.begin(), tensor.extents.end(), [&](const Extent &extent) {
        return axis < extent.box.size.size() && extent.box.size[axis] < tensor.shape.dims[axis];
    });
}

/// The only axis along which `part` is shorter; nothing where it is not so.
std::optional<std::size_t> shorterAxis(const Shape &part, const Shape &whole)
{
    std::optional<std::size_t> axis;
    if (part.rank() != whole.rank())
        return axis;
    for (std::size_t i = 0; i < part.rank(); ++i) {
        if (part.dims[i] == whole.dims[i])
            continue;
        if (part.dims[i] > whole.dims[i] || axis)
            return std::nullopt;
        axis = i;
    }
    return axis;
}

/// "shard-00004-model-00001-of-00002.safetensors" behind the last of those that are there.
std::string nextFile(const Catalog &catalog)
{
    std::string last;
    for (const std::string &file : catalog.files) {
        const auto slash = file.rfind('/');
        const std::string name = slash == file.npos ? file : file.substr(slash + 1);
        if (name.starts_with(Prefix))
            last = std::max(last, name);
    }
    const auto end = last.find('-', Prefix.size()), of = last.find("-of-");
    if (end == last.npos || of == last.npos || end - Prefix.size() > 9)
        return "a shard";
    std::size_t number = 0;
    for (const char c : last.substr(Prefix.size(), end - Prefix.size())) {
        if (c < '0' || c > '9')
            return "a shard";
        number = number * 10 + std::size_t(c - '0');
    }
    std::string digits = std::to_string(number + 1);
    digits.insert(0, 5 - std::min<std::size_t>(digits.size(), 5), '0');
    return std::string(Prefix) + digits + "-model-00001" + last.substr(of);
}

/// One side of a comparison whose files store no whole shapes.
class Side
{
public:
    Side(std::vector<TensorRow> &rows, const Catalog &own, bool isA)
        : m_rows(rows),
          m_own(own),
          m_isA(isA)
    {
        for (const TensorRef &tensor : own.tensors)
            m_shards.merge(ownersOf(tensor));
    }

    void doubt()
    {
        if (m_own.format != Format
            || std::any_of(m_rows.begin(), m_rows.end(),
                           [this](const TensorRow &row) { return provesAll(row); }))
            return;
        const std::string mine = m_isA ? "A" : "B", file = nextFile(m_own);
        const std::string reason =
            mine + "'s files store no whole shape, and " + file + " may be missing: ";
        bool any = false;
        for (TensorRow &row : m_rows) {
            if (!mayLackParts(row))
                continue;
            const auto &[reached, whole] =
                m_isA ? std::tie(row.shapeA, row.shapeB) : std::tie(row.shapeB, row.shapeA);
            leave(row,
                  reason + "those that are there reach " + reached.toString() + ", "
                      + (m_isA ? "B" : "A") + " has " + whole.toString());
            any = true;
        }
        for (TensorRow &row : m_rows) {
            if (any && row.status == (m_isA ? ItemStatus::OnlyInB : ItemStatus::OnlyInA))
                leave(row, reason + "it may hold this tensor");
        }
    }

private:
    const TensorRef &tensorOf(const TensorRow &row) const
    {
        return m_own.tensors[m_isA ? *row.a : *row.b];
    }

    bool provesAll(const TensorRow &row) const
    {
        if (!row.a || !row.b || row.shapeA != row.shapeB || tensorOf(row).unreadable
            || m_shards.size() < 2 || ownersOf(tensorOf(row)) != m_shards)
            return false;
        const Shape &shape = tensorOf(row).shape;
        for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
            if (shape.dims[axis] >= m_shards.size() * (m_shards.size() + 1)
                && isCutAlong(tensorOf(row), axis))
                return true;
        }
        return false;
    }

    bool mayLackParts(const TensorRow &row) const
    {
        if (!row.a || !row.b || row.status != ItemStatus::Different || row.shapeA == row.shapeB)
            return false;
        const auto axis =
            m_isA ? shorterAxis(row.shapeA, row.shapeB) : shorterAxis(row.shapeB, row.shapeA);
        return axis && (tensorOf(row).extents.size() == 1 || isCutAlong(tensorOf(row), *axis));
    }

    static void leave(TensorRow &row, std::string reason)
    {
        row.status = ItemStatus::NotCompared;
        row.notComparable = true;
        row.reason = std::move(reason);
    }

    std::vector<TensorRow> &m_rows;
    const Catalog &m_own;
    bool m_isA;
    std::set<OwnerIndex> m_shards; ///< ranks whose files are there
};

} // namespace

void doubtShardShapes(std::vector<TensorRow> &rows, const Catalog &a, const Catalog &b)
{
    Side(rows, a, true).doubt();
    Side(rows, b, false).doubt();
}

} // namespace forkpoint
