// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/bytes.h"

#include <algorithm>

namespace forkpoint {

/// Numbers of some bits each, highest bit first.
class BitReader
{
public:
    explicit BitReader(ByteView bytes) : m_bytes(bytes) {}

    /// Beyond the end are zeros: the caller checked the length.
    std::uint64_t take(unsigned bits)
    {
        std::uint64_t value = 0;
        while (bits > 0) {
            const std::size_t byte = m_at / 8;
            const unsigned left = 8 - unsigned(m_at % 8), now = std::min(left, bits);
            const auto all = byte < m_bytes.size() ? std::to_integer<unsigned>(m_bytes[byte]) : 0u;
            value = value << now | (all >> (left - now) & ((1u << now) - 1));
            bits -= now;
            m_at += now;
        }
        return value;
    }

private:
    ByteView m_bytes;
    std::size_t m_at = 0; ///< in bits
};

} // namespace forkpoint
