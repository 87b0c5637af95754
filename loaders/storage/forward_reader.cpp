// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/storage/forward_reader.h"

#include <algorithm>

namespace forkpoint {

namespace {

constexpr std::uint64_t WindowBytes = 256 * 1024;

} // namespace

Result<ByteView> ForwardReader::peek(std::size_t count)
{
    FP_CHECK(checkRange(m_source.name(), m_position, count, m_source.size()));
    const std::uint64_t windowEnd = m_windowBegin + m_window.size();
    if (m_position < m_windowBegin || m_position + count > windowEnd) {
        const std::uint64_t wanted =
            std::min(std::max<std::uint64_t>(count, WindowBytes), m_source.size() - m_position);
        m_window.resize(std::size_t(wanted));
        m_windowBegin = m_position;
        FP_CHECK(m_source.read(m_position, m_window));
    }
    return ByteView(m_window).subspan(std::size_t(m_position - m_windowBegin), count);
}

} // namespace forkpoint
