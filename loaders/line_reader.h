// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/byte_source.h"
#include "loaders/limits.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace forkpoint {

/// Lines of a text file, one at a time, in memory bounded by the cap on a line's length.
class LineReader
{
public:
    struct Line
    {
        std::uint64_t number = 0; ///< from 1
        std::uint64_t byte = 0;   ///< of its first byte
        std::string_view text;    ///< without "\n" or "\r\n"; valid until the next call
        bool ended = true;        ///< false: the file ends without a line break here
        bool tooLong = false;     ///< over the cap: `text` is empty
    };

    explicit LineReader(const ByteSource &source, std::size_t maxLine = limits::MetricsLineBytes)
        : m_source(source),
          m_maxLine(maxLine)
    {
    }

    /// Goes on at the line of that number, which begins at that byte.
    void seek(std::uint64_t line, std::uint64_t byte);

    /// The next line, nothing at the end of the file, or the error of reading.
    Result<std::optional<Line>> next();

private:
    Status fill();
    Line take(std::size_t length, bool ended);

    const ByteSource &m_source;
    std::size_t m_maxLine;
    std::uint64_t m_offset = 0; ///< of the first byte not yet read
    std::uint64_t m_line = 0;
    std::uint64_t m_lineByte = 0; ///< where the next line begins
    std::vector<std::byte> m_buffer;
    std::size_t m_begin = 0; ///< of the part of the buffer not yet handed out
    bool m_skipping = false; ///< inside a line over the cap
};

} // namespace forkpoint
