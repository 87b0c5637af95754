// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/pairing/assembled_source.h"

#include "model/pairing/assembled_places.h"
#include "model/state_class.h"
#include "model/unlike_block.h"

#include <algorithm>
#include <cstring>

namespace forkpoint {

namespace {

/// Held beside the caller's buffer, whatever the layout.
constexpr std::size_t BlockBytes = 1u << 20;

/// Whether the pieces lie in the tensors below and hold, together, what the whole's shape asks for.
bool isCovered(const AssemblyPlan &plan, std::uint64_t wanted, const Catalog &below)
{
    const bool byRows = plan.how == AssemblyPlan::How::Rows;
    for (const AssembledPiece &piece : plan.pieces) {
        const bool lies =
            std::all_of(piece.copies.begin(), piece.copies.end(), [&](TensorIndex copy) {
                const std::uint64_t bytes = below.tensors[copy].bytes;
                return piece.first <= bytes && piece.size <= bytes - piece.first;
            });
        if (!lies || piece.copies.empty() || piece.size > wanted
            || (byRows && (plan.rows == 0 || piece.size % plan.rows != 0)))
            return false;
        wanted -= piece.size;
    }
    return wanted == 0;
}

Error notFilled()
{
    return {ErrorCode::Malformed, {}, {}, "its parts do not hold what its shape asks for"};
}

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
        const auto &plan = m_plans.back();
        if (plan && !isCovered(*plan, tensor.bytes, m_below->catalog()))
            tensor.unreadable = notFilled();
        if (plan && !tensor.unreadable)
            addPlaces(tensor, *plan, m_below->catalog());
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
    if (m_plans[tensor])
        return &m_plans[tensor]->reason;
    const auto *below = dynamic_cast<const AssembledSource *>(m_below.get());
    return below ? below->assembledBy(m_original[tensor]) : nullptr;
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

Status AssembledSource::holdersUnchanged(TensorIndex tensor) const
{
    if (!m_plans[tensor])
        return m_below->holdersUnchanged(m_original[tensor]);
    for (const AssembledPiece &piece : m_plans[tensor]->pieces)
        for (const TensorIndex copy : piece.copies)
            FP_CHECK(m_below->holdersUnchanged(copy));
    return {};
}

/// `first` counts from the piece's beginning.
Status AssembledSource::readPiece(const AssembledPiece &piece, std::uint64_t first,
                                  MutableByteView out) const
{
    const std::uint64_t at = piece.first + first;
    FP_CHECK(m_below->read(piece.copies.front(), at, out));
    for (std::size_t i = 1; i < piece.copies.size(); ++i) {
        const auto read = [&](std::size_t done, MutableByteView other) {
            return m_below->read(piece.copies[i], at + done, other);
        };
        FP_TRY(const auto unlike, firstUnlikeBlock(out, read));
        if (!unlike)
            continue;
        const auto &tensors = m_below->catalog().tensors;
        return Error{ErrorCode::Mismatch,
                     {},
                     {},
                     "ranks that hold one thing hold it unlike: '"
                         + tensors[piece.copies.front()].name + "' and '"
                         + tensors[piece.copies[i]].name + "'"};
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
    return out.empty() ? Status() : notFilled();
}

/// Some rows of every piece at a time; of rows longer than a block the asked columns alone.
Status AssembledSource::readRows(const AssemblyPlan &plan, std::uint64_t first,
                                 MutableByteView out) const
{
    std::uint64_t width = 0;
    for (const AssembledPiece &piece : plan.pieces)
        width += piece.size / plan.rows;
    if (out.empty())
        return {};
    if (width == 0 || first + out.size() > width * plan.rows)
        return notFilled();
    const std::uint64_t end = first + out.size();
    const std::uint64_t rowsAtOnce = std::max<std::uint64_t>(1, BlockBytes / width);
    for (std::uint64_t row = first / width; row * width < end; row += rowsAtOnce) {
        const std::uint64_t count = std::min(rowsAtOnce, (end - 1) / width + 1 - row);
        std::uint64_t column = 0;
        for (const AssembledPiece &piece : plan.pieces) {
            const Window window{first, row, count, width, column, piece.size / plan.rows};
            FP_CHECK(width > BlockBytes ? readWithin(piece, window, out)
                                        : readWhole(piece, window, out));
            column += window.part;
        }
    }
    return {};
}

/// A few short rows of a piece, of which what was asked for is taken.
Status AssembledSource::readWhole(const AssembledPiece &piece, const Window &window,
                                  MutableByteView out) const
{
    std::vector<std::byte> rows(std::size_t(window.part * window.count));
    FP_CHECK(readPiece(piece, window.row * window.part, rows));
    const std::uint64_t end = window.first + out.size();
    for (std::uint64_t i = 0; i < window.count; ++i) {
        const std::uint64_t begin = (window.row + i) * window.width + window.column;
        const std::uint64_t from = std::max(begin, window.first);
        const std::uint64_t to = std::min(begin + window.part, end);
        if (from < to)
            std::memcpy(out.data() + (from - window.first),
                        rows.data() + i * window.part + (from - begin), std::size_t(to - from));
    }
    return {};
}

/// One long row of a piece, straight to its place.
Status AssembledSource::readWithin(const AssembledPiece &piece, const Window &window,
                                   MutableByteView out) const
{
    const std::uint64_t begin = window.row * window.width + window.column;
    const std::uint64_t from = std::max(begin, window.first);
    const std::uint64_t to = std::min(begin + window.part, window.first + out.size());
    if (from >= to)
        return {};
    return readPiece(piece, window.row * window.part + (from - begin),
                     out.subspan(std::size_t(from - window.first), std::size_t(to - from)));
}

} // namespace forkpoint
