// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/storage/byte_source.h"

#include <cstdint>
#include <vector>

namespace forkpoint {

/// Walks a source from its first byte to its last through a window in memory, for formats of many
/// small records. The window grows with what is asked for, never with what a file declares.
class ForwardReader
{
public:
    explicit ForwardReader(const ByteSource &source) : m_source(source) {}

    std::uint64_t position() const { return m_position; }
    std::uint64_t left() const { return m_source.size() - m_position; }

    /// The next `count` bytes, without moving; the caller has looked that they are left(). Valid
    /// until the next call.
    Result<ByteView> peek(std::size_t count);
    void skip(std::uint64_t count) { m_position += count; }

private:
    const ByteSource &m_source;
    std::uint64_t m_position = 0;
    std::uint64_t m_windowBegin = 0;
    std::vector<std::byte> m_window;
};

} // namespace forkpoint
