// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/metrics/number_column.h"

#include <algorithm>
#include <span>

namespace forkpoint {

namespace {

constexpr std::size_t BlockBytes = std::size_t(64) << 10;

} // namespace

NumberColumn::NumberColumn(std::shared_ptr<const TensorSource> file, TensorIndex tensor,
                           std::size_t width)
    : m_file(std::move(file)),
      m_tensor(tensor),
      m_width(width),
      m_rows(m_file->catalog().tensors[tensor].bytes / width)
{
}

Result<ByteView> NumberColumn::bytes(std::uint64_t row)
{
    if (row >= m_rows)
        return Error{ErrorCode::Malformed,
                     {},
                     {},
                     "row " + std::to_string(row) + " of a column of " + std::to_string(m_rows)};
    const std::uint64_t held = m_held.size() / m_width;
    if (row < m_firstHeld || row - m_firstHeld >= held) {
        const std::uint64_t wanted =
            std::min<std::uint64_t>(std::max<std::size_t>(BlockBytes / m_width, 1), m_rows - row);
        m_held.resize(std::size_t(wanted) * m_width);
        const Status read = m_file->read(m_tensor, row * m_width, m_held);
        if (!read.ok()) {
            m_held.clear();
            return read.error();
        }
        m_firstHeld = row;
    }
    return ByteView(m_held).subspan(std::size_t(row - m_firstHeld) * m_width, m_width);
}

Result<std::uint64_t> NumberColumn::number(std::uint64_t row)
{
    FP_TRY(const ByteView own, bytes(row));
    std::uint64_t number = 0;
    for (std::size_t i = std::min(own.size(), sizeof number); i-- > 0;)
        number = number << 8 | std::uint64_t(own[i]);
    return number;
}

Result<std::string> NumberColumn::text(std::uint64_t first, std::size_t count) const
{
    std::string text(count, '\0');
    FP_CHECK(m_file->read(m_tensor, first, std::as_writable_bytes(std::span(text))));
    return text;
}

} // namespace forkpoint
