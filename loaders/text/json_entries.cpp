// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/text/json_entries.h"

#include "loaders/limits.h"

#include <algorithm>

namespace forkpoint {

namespace {

constexpr std::uint64_t WindowBytes = 256 * 1024;

bool isBlank(int c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

} // namespace

JsonEntryReader::JsonEntryReader(const ByteSource &source, std::string container,
                                 std::uint64_t from, std::size_t maxEntry)
    : m_source(source),
      m_container(std::move(container)),
      m_maxEntry(maxEntry),
      m_position(from),
      m_begun(from > 0),
      m_inside(from > 0)
{
}

Error JsonEntryReader::malformed(std::string text) const
{
    return {ErrorCode::Malformed, m_source.name(), "byte " + std::to_string(m_position),
            std::move(text)};
}

Result<int> JsonEntryReader::peek()
{
    if (m_position >= m_source.size())
        return -1;
    if (m_position < m_windowBegin || m_position >= m_windowBegin + m_window.size()) {
        m_window.resize(std::size_t(std::min(WindowBytes, m_source.size() - m_position)));
        m_windowBegin = m_position;
        FP_CHECK(m_source.read(m_position, m_window));
    }
    return int(m_window[std::size_t(m_position - m_windowBegin)]);
}

/// Steps over the byte at hand.
Status JsonEntryReader::take(std::string *into)
{
    FP_TRY(const int c, peek());
    if (c < 0)
        return malformed("ends inside of the document");
    if (into && into->size() <= m_maxEntry)
        *into += char(c);
    ++m_position;
    return {};
}

Status JsonEntryReader::skipBlank()
{
    for (;;) {
        FP_TRY(const int c, peek());
        if (!isBlank(c))
            return {};
        ++m_position;
    }
}

Status JsonEntryReader::expect(char wanted)
{
    FP_CHECK(skipBlank());
    FP_TRY(const int c, peek());
    if (c < 0)
        return malformed("ends inside of the document");
    if (c != wanted)
        return malformed(std::string("must have '") + wanted + "' here");
    ++m_position;
    return {};
}

/// A text with its quotes; escapes stay as they are.
Status JsonEntryReader::takeQuoted(std::string *into)
{
    FP_CHECK(take(into));
    for (;;) {
        FP_TRY(const int c, peek());
        FP_CHECK(take(into));
        if (c == '"')
            return {};
        if (c == '\\')
            FP_CHECK(take(into));
    }
}

Status JsonEntryReader::takeValue(Entry &entry)
{
    std::size_t depth = 0;
    for (;;) {
        FP_TRY(const int c, peek());
        const bool ends = c == ',' || c == ']' || c == '}' || c < 0;
        if (depth == 0 && ends && !entry.text.empty())
            break;
        if (c == '"') {
            FP_CHECK(takeQuoted(&entry.text));
            continue;
        }
        depth += c == '[' || c == '{' ? 1 : 0;
        if (c == ']' || c == '}') {
            if (depth == 0)
                return malformed("must have a value here");
            --depth;
        }
        FP_CHECK(take(&entry.text));
    }
    entry.tooLong = entry.text.size() > m_maxEntry;
    if (entry.tooLong)
        entry.text.clear();
    while (!entry.text.empty() && isBlank(entry.text.back()))
        entry.text.pop_back();
    return {};
}

Result<std::optional<JsonEntryReader::Entry>> JsonEntryReader::takeEntry(bool hasKey)
{
    FP_CHECK(skipBlank());
    Entry entry;
    entry.inContainer = m_inside;
    entry.byte = m_position;
    if (hasKey) {
        FP_TRY(const int c, peek());
        if (c != '"')
            return malformed("must have a key here");
        FP_CHECK(takeQuoted(&entry.key));
        entry.key = entry.key.substr(1, entry.key.size() - 2);
        FP_CHECK(expect(':'));
        FP_CHECK(skipBlank());
        FP_TRY(const int open, peek());
        if (!m_inside && entry.key == m_container && (open == '[' || open == '{')) {
            ++m_position;
            m_inside = m_first = true;
            m_insideKeys = open == '{';
            return std::optional<Entry>();
        }
    }
    FP_CHECK(takeValue(entry));
    entry.size = m_position - entry.byte;
    return std::optional(std::move(entry));
}

Result<std::optional<JsonEntryReader::Entry>> JsonEntryReader::next()
{
    if (!m_begun) {
        FP_CHECK(expect('{'));
        m_begun = true;
    } else if (m_inside && m_first) { // at a place of an entry, or right behind its bracket
        FP_CHECK(skipBlank());
        FP_TRY(const int c, peek());
        m_insideKeys = m_insideKeys || c == '"';
    }
    for (;;) {
        FP_CHECK(skipBlank());
        FP_TRY(const int c, peek());
        if (c < 0)
            return malformed("ends inside of the document");
        if (c == ']' || c == '}') {
            ++m_position;
            if (!m_inside)
                return std::optional<Entry>();
            m_inside = false;
            m_first = false;
            continue;
        }
        if (!m_first) {
            FP_CHECK(expect(','));
        }
        m_first = false;
        FP_TRY(auto entry, takeEntry(!m_inside || m_insideKeys));
        if (entry)
            return entry;
    }
}

} // namespace forkpoint
