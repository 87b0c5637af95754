// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/bytes.h"
#include "model/digest.h"

#include <string_view>
#include <vector>

namespace forkpoint {

/// Collects numbers, texts and digests as resources/docs/fpx.md specifies them; the index and the
/// journal of an unfinished file use the same.
class FpxWriter
{
public:
    void u8(std::uint64_t value) { number(value, 1); }
    void u32(std::uint64_t value) { number(value, 4); }
    void u64(std::uint64_t value) { number(value, 8); }
    void text(std::string_view text)
    {
        u32(text.size());
        raw(asBytes(text));
    }
    void raw(ByteView bytes) { m_bytes.insert(m_bytes.end(), bytes.begin(), bytes.end()); }
    void digest(const Digest128 &digest) { raw(digest.canonical()); }
    ByteView bytes() const { return m_bytes; }
    std::vector<std::byte> take() { return std::move(m_bytes); }

private:
    void number(std::uint64_t value, int bytes)
    {
        for (int i = 0; i < bytes; ++i)
            m_bytes.push_back(static_cast<std::byte>(value >> (8 * i)));
    }

    std::vector<std::byte> m_bytes;
};

} // namespace forkpoint
