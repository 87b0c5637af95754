// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/assembled_source.h"

#include "model/state_class.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace forkpoint {

namespace {

/// Held beside the caller's buffer, whatever the layout.
constexpr std::size_t BlockBytes = 1u << 20;

} // namespace

AssembledSource::AssembledSource(std::shared_ptr<const TensorSource> below, Catalog frame,
                                 std::vector<Item> items)
    : m_below(std::move(below)),
      m_catalog(std::move(frame))
{
    for (std::size_t i = 0; i < items.size(); ++i) {
        m_catalog.tensors.push_back(std::move(items[i].tensor));
        m_catalog.tensors.back().fileOrder = i;
    }
    m_catalog.finish(StateClassRules::builtin());
    for (TensorRef &tensor : m_catalog.tensors) {
        Item &item = items[tensor.fileOrder];
        m_original.push_back(item.original);
        m_plans.push_back(std::move(item.plan));
    }
}

Catalog AssembledSource::frameOf(const Catalog &catalog)
{
    Catalog frame;
    frame.format = catalog.format;
    frame.values = catalog.values;
    frame.files = catalog.files;
    frame.owners = catalog.owners;
    frame.diagnostics = catalog.diagnostics;
    frame.findings = catalog.findings;
    frame.complete = catalog.complete;
    return frame;
}

const std::string *AssembledSource::assembledBy(TensorIndex tensor) const
{
    return m_plans[tensor] ? &m_plans[tensor]->reason : nullptr;
}

std::optional<TensorOrigin> AssembledSource::origin(TensorIndex tensor) const
{
    return m_plans[tensor] ? std::nullopt : m_below->origin(m_original[tensor]);
}

const RecordedDigests *AssembledSource::recorded(TensorIndex tensor) const
{
    return m_plans[tensor] ? nullptr : m_below->recorded(m_original[tensor]);
}

void AssembledSource::willRead(TensorIndex tensor, std::uint64_t firstByte,
                               std::uint64_t size) const
{
    if (!m_plans[tensor])
        m_below->willRead(m_original[tensor], firstByte, size);
}

Status AssembledSource::read(TensorIndex tensor, std::uint64_t firstByte, MutableByteView out) const
{
    const auto &plan = m_plans[tensor];
    if (!plan)
        return m_below->read(m_original[tensor], firstByte, out);
    return plan->how == AssemblyPlan::How::Rows ? readRows(*plan, firstByte, out)
                                                : readInTurn(*plan, firstByte, out);
}

/// `first` counts from the piece's beginning.
Status AssembledSource::readPiece(const AssembledPiece &piece, std::uint64_t first,
                                  MutableByteView out) const
{
    const std::uint64_t at = piece.first + first;
    FP_CHECK(m_below->read(piece.copies.front(), at, out));
    std::vector<std::byte> other;
    for (std::size_t i = 1; i < piece.copies.size(); ++i) {
        for (std::size_t done = 0; done < out.size(); done += other.size()) {
            other.resize(std::min(BlockBytes, out.size() - done));
            FP_CHECK(m_below->read(piece.copies[i], at + done, other));
            if (std::memcmp(other.data(), out.data() + done, other.size()) == 0)
                continue;
            const auto &tensors = m_below->catalog().tensors;
            return Error{ErrorCode::Mismatch,
                         {},
                         {},
                         "ranks that hold one thing hold it unlike: '"
                             + tensors[piece.copies.front()].name + "' and '"
                             + tensors[piece.copies[i]].name + "'"};
        }
    }
    return {};
}

Status AssembledSource::readInTurn(const AssemblyPlan &plan, std::uint64_t first,
                                   MutableByteView out) const
{
    for (const AssembledPiece &piece : plan.pieces) {
        if (out.empty())
            break;
        if (first >= piece.size) {
            first -= piece.size;
            continue;
        }
        const std::size_t size =
            std::size_t(std::min<std::uint64_t>(piece.size - first, out.size()));
        FP_CHECK(readPiece(piece, first, out.first(size)));
        out = out.subspan(size);
        first = 0;
    }
    return {};
}

/// Some whole rows of every piece at a time, of which what was asked for is taken.
Status AssembledSource::readRows(const AssemblyPlan &plan, std::uint64_t first,
                                 MutableByteView out) const
{
    const std::uint64_t width =
        std::accumulate(plan.pieces.begin(), plan.pieces.end(), std::uint64_t(0),
                        [&](std::uint64_t sum, const AssembledPiece &piece) {
                            return sum + piece.size / plan.rows;
                        });
    if (out.empty() || width == 0)
        return {};
    const std::uint64_t end = first + out.size();
    const std::uint64_t rowsAtOnce = std::max<std::uint64_t>(1, BlockBytes / width);
    for (std::uint64_t row = first / width; row * width < end; row += rowsAtOnce) {
        const std::uint64_t count = std::min(rowsAtOnce, (end - 1) / width + 1 - row);
        std::uint64_t column = 0;
        for (const AssembledPiece &piece : plan.pieces) {
            const std::uint64_t part = piece.size / plan.rows;
            std::vector<std::byte> rows(std::size_t(part * count));
            FP_CHECK(readPiece(piece, row * part, rows));
            for (std::uint64_t i = 0; i < count; ++i) {
                const std::uint64_t begin = (row + i) * width + column;
                const std::uint64_t from = std::max(begin, first), to = std::min(begin + part, end);
                if (from < to)
                    std::memcpy(out.data() + (from - first),
                                rows.data() + i * part + (from - begin), std::size_t(to - from));
            }
            column += part;
        }
    }
    return {};
}

} // namespace forkpoint
