// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/tensor_source.h"

#include <memory>
#include <vector>

namespace forkpoint {

/// Rows of a one- or two-dimensional dataset, read a block at a time: memory does not grow with the
/// rows. Rows are meant to be asked for in rising order. Not thread-safe.
class NumberColumn
{
public:
    NumberColumn() = default;
    /// `width`: bytes of a row.
    NumberColumn(std::shared_ptr<const TensorSource> file, TensorIndex tensor, std::size_t width);

    std::uint64_t rows() const { return m_rows; }
    /// The bytes of a row, until the next call.
    Result<ByteView> bytes(std::uint64_t row);
    /// A row of at most 8 bytes as an unsigned number; a signed one must be narrowed to its width.
    Result<std::uint64_t> number(std::uint64_t row);
    /// The bytes [first, first + count) of all rows; count is up to its caller.
    Result<std::string> text(std::uint64_t first, std::size_t count) const;

private:
    std::shared_ptr<const TensorSource> m_file;
    TensorIndex m_tensor = 0;
    std::size_t m_width = 1;
    std::uint64_t m_rows = 0;
    std::uint64_t m_firstHeld = 0;
    std::vector<std::byte> m_held;
};

} // namespace forkpoint
