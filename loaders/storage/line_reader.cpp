// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/storage/line_reader.h"

namespace forkpoint {

Status LineReader::fill()
{
    const std::size_t had = m_size - m_begin;
    const std::uint64_t end = m_offset < m_expectedEnd ? std::min(m_end, m_expectedEnd) : m_end;
    const std::size_t more = std::size_t(std::min<std::uint64_t>(m_block, end - m_offset));
    if (had + more > m_capacity) {
        m_capacity = std::max(had + more, 2 * m_capacity);
        auto larger = std::make_unique_for_overwrite<std::byte[]>(m_capacity);
        std::copy_n(m_buffer.get() + m_begin, had, larger.get());
        m_buffer = std::move(larger);
    } else {
        std::copy_n(m_buffer.get() + m_begin, had, m_buffer.get()); // forward: it may overlap
    }
    m_begin = 0;
    m_size = had;
    FP_CHECK(m_source.read(m_offset, {m_buffer.get() + had, more}));
    m_size += more;
    m_offset += more;
    m_block = std::min(2 * m_block, MostBlock);
    return {};
}

std::string_view LineReader::held() const
{
    return asText(ByteView(m_buffer.get() + m_begin, m_size - m_begin));
}

LineReader::Line LineReader::take(std::size_t length, bool ended)
{
    std::string_view text = held().substr(0, length);
    m_begin += length + (ended ? 1 : 0);
    const std::uint64_t byte = std::exchange(m_lineByte, m_offset - (m_size - m_begin));
    if (text.ends_with('\r'))
        text.remove_suffix(1);
    Line line{++m_line, byte, text, ended, m_skipping || text.size() > m_maxLine};
    if (line.tooLong)
        line.text = {};
    m_skipping = false;
    return line;
}

void LineReader::seek(std::uint64_t line, std::uint64_t byte, std::uint64_t expectedEnd)
{
    m_expectedEnd = expectedEnd;
    m_begin = m_size = 0;
    m_skipping = false;
    m_block = LeastBlock;
    m_offset = m_lineByte = std::min(byte, m_end);
    m_line = line - 1;
}

Result<std::optional<LineReader::Line>> LineReader::next()
{
    std::size_t searched = 0;
    for (;;) {
        if (m_stop.stop_requested())
            return Error{ErrorCode::Cancelled, m_source.name(), {}, "cancelled"};
        const std::string_view rest = held();
        const std::size_t end = rest.find('\n', searched);
        if (end != std::string_view::npos)
            return std::optional(take(end, true));
        if (m_offset == m_end) {
            if (rest.empty() && !m_skipping)
                return std::optional<Line>();
            return std::optional(take(rest.size(), false));
        }
        searched = rest.size();
        if (rest.size() > m_maxLine) {
            m_skipping = true; // its bytes are not kept
            m_begin = m_size;
            searched = 0;
        }
        FP_CHECK(fill());
    }
}

} // namespace forkpoint
