// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/bytes.h"

#include <optional>

namespace forkpoint {

/// Walks over bytes in memory and never leaves them: a read that does not fit yields nothing and
/// moves nothing.
class ByteCursor
{
public:
    explicit ByteCursor(ByteView bytes, std::size_t position = 0)
        : m_bytes(bytes),
          m_position(position)
    {
    }

    std::size_t position() const { return m_position; }
    std::size_t left() const { return m_bytes.size() - m_position; }

    std::optional<ByteView> take(std::uint64_t count)
    {
        if (count > left())
            return std::nullopt;
        const ByteView taken = m_bytes.subspan(m_position, std::size_t(count));
        m_position += std::size_t(count);
        return taken;
    }

    /// A little-endian number of sizeof(T) bytes.
    template <class T>
    std::optional<T> little()
    {
        const auto taken = take(sizeof(T));
        if (!taken)
            return std::nullopt;
        return loadLittle<T>(taken->data());
    }

private:
    ByteView m_bytes;
    std::size_t m_position;
};

} // namespace forkpoint
