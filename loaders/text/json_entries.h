// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/storage/byte_source.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace forkpoint {

/// Walks over one JSON document entry by entry, in memory that holds one entry: the members of the
/// root, and of one of them, the container, each member or element. Entries are found by their
/// brackets and quotes alone; whoever reads an entry parses it.
class JsonEntryReader
{
public:
    struct Entry
    {
        std::string key;        ///< as it stands between its quotes; empty for elements of a list
        std::string text;       ///< the value
        std::uint64_t byte = 0; ///< where key, or the element, begins
        std::uint64_t size = 0; ///< up to the end of the value
        bool inContainer = false;
        bool tooLong = false; ///< over the cap: `text` is empty
    };

    /// `from`: where an entry of the container begins, or 0 for the whole document.
    JsonEntryReader(const ByteSource &source, std::string container, std::uint64_t from,
                    std::size_t maxEntry);

    /// The next entry, nothing at the end; Malformed with its byte where brackets do not close.
    Result<std::optional<Entry>> next();

private:
    Result<int> peek(); ///< the byte at hand, -1 at the end
    Status take(std::string *into);
    Status skipBlank();
    Status expect(char wanted);
    Status takeQuoted(std::string *into);
    Status takeValue(Entry &entry);
    Result<std::optional<Entry>> takeEntry(bool hasKey);
    Error malformed(std::string text) const;

    const ByteSource &m_source;
    std::string m_container;
    std::size_t m_maxEntry;
    std::uint64_t m_position;
    std::uint64_t m_windowBegin = 0;
    std::vector<std::byte> m_window;
    bool m_begun = false, m_inside = false, m_insideKeys = false, m_first = true;
};

} // namespace forkpoint
