// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/storage/line_reader.h"

namespace forkpoint {

Status LineReader::fill()
{
    m_buffer.erase(m_buffer.begin(), m_buffer.begin() + std::ptrdiff_t(m_begin));
    m_begin = 0;
    const std::size_t had = m_buffer.size();
    const std::size_t more = std::size_t(std::min<std::uint64_t>(m_block, m_end - m_offset));
    m_buffer.resize(had + more);
    FP_CHECK(m_source.read(m_offset, MutableByteView(m_buffer).subspan(had)));
    m_offset += more;
    m_block = std::min(2 * m_block, MostBlock);
    return {};
}

LineReader::Line LineReader::take(std::size_t length, bool ended)
{
    std::string_view text = asText(ByteView(m_buffer).subspan(m_begin, length));
    m_begin += length + (ended ? 1 : 0);
    const std::uint64_t byte = std::exchange(m_lineByte, m_offset - (m_buffer.size() - m_begin));
    if (text.ends_with('\r'))
        text.remove_suffix(1);
    Line line{++m_line, byte, text, ended, m_skipping || text.size() > m_maxLine};
    if (line.tooLong)
        line.text = {};
    m_skipping = false;
    return line;
}

void LineReader::seek(std::uint64_t line, std::uint64_t byte)
{
    m_buffer.clear();
    m_begin = 0;
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
        const std::string_view rest = asText(ByteView(m_buffer).subspan(m_begin));
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
            m_begin = m_buffer.size();
            searched = 0;
        }
        FP_CHECK(fill());
    }
}

} // namespace forkpoint
