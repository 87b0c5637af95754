// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/limits.h"
#include "loaders/storage/byte_source.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <stop_token>
#include <string_view>
#include <utility>

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

    /// `maxBytes`: the file is read as if it ended there, so that a probe of a file that is one
    /// endless line comes to an end.
    explicit LineReader(const ByteSource &source, std::size_t maxLine = limits::MetricsLineBytes,
                        std::stop_token stop = {},
                        std::uint64_t maxBytes = std::numeric_limits<std::uint64_t>::max())
        : m_source(source),
          m_maxLine(maxLine),
          m_stop(std::move(stop)),
          m_end(std::min(source.size(), maxBytes))
    {
    }

    /// Goes on at the line of that number, which begins at that byte. What lies behind `expectedEnd`
    /// is read only when it is asked for.
    void seek(std::uint64_t line, std::uint64_t byte,
              std::uint64_t expectedEnd = std::numeric_limits<std::uint64_t>::max());

    /// The next line, nothing at the end of the file, or the error of reading: ErrorCode::Cancelled
    /// once stop was requested, inside a line too.
    Result<std::optional<Line>> next();

private:
    static constexpr std::size_t LeastBlock = 64 * 1024, MostBlock = 512 * 1024;

    Status fill();
    std::string_view held() const;
    Line take(std::size_t length, bool ended);

    const ByteSource &m_source;
    std::size_t m_maxLine;
    std::stop_token m_stop;
    std::uint64_t m_end;
    std::uint64_t m_expectedEnd = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t m_offset = 0; ///< of the first byte not yet read
    std::uint64_t m_line = 0;
    std::uint64_t m_lineByte = 0; ///< where the next line begins
    /// What is read at once: little at first, for who wants a few lines, more and more of who goes on.
    std::size_t m_block = LeastBlock;
    std::unique_ptr<std::byte[]>
        m_buffer; ///< no vector: that would fill with zeros what is read over
    std::size_t m_capacity = 0;
    std::size_t m_begin = 0, m_size = 0; ///< [begin, size) has been read and not yet handed out
    bool m_skipping = false;             ///< inside a line over the cap
};

} // namespace forkpoint
