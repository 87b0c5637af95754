// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/limits.h"
#include "loaders/results/fpx_layout.h"
#include "loaders/storage/byte_cursor.h"
#include "model/digest.h"
#include "model/result.h"

#include <optional>
#include <string>

namespace forkpoint {

/// Takes what the text specifies from a body. The first thing that does not fit is the error, and
/// all that is taken after it is empty.
class FpxReader
{
public:
    FpxReader(ByteView body, const std::string &file)
        : m_cursor(body),
          m_file(file),
          m_mostRepeated(fpxMostRepeatedNames(body.size()))
    {
    }

    std::uint8_t u8() { return take<std::uint8_t>(); }
    std::uint32_t u32() { return take<std::uint32_t>(); }
    std::uint64_t u64() { return take<std::uint64_t>(); }
    bool flag() { return oneOf(u8(), 2, "a flag") != 0; }
    /// A number below `end`.
    std::uint64_t oneOf(std::uint64_t value, std::uint64_t end, std::string_view what)
    {
        if (value < end)
            return value;
        fail(std::string(what) + " must be below " + std::to_string(end) + ", is "
             + std::to_string(value));
        return 0;
    }
    std::string text()
    {
        const auto bytes = takeBytes(u32());
        return bytes ? std::string(asText(*bytes)) : std::string();
    }
    Digest128 digest()
    {
        const auto bytes = takeBytes(FpxDigestBytes);
        return bytes ? storedDigest(bytes->data()) : Digest128();
    }
    /// `count`, where as many things of at least `least` bytes each can follow.
    std::uint64_t fitting(std::uint64_t count, std::uint64_t least)
    {
        if (count <= m_cursor.left() / least)
            return count;
        fail(std::to_string(count) + " items do not fit into " + std::to_string(m_cursor.left())
             + " bytes");
        return 0;
    }
    /// The same of what takes more memory than bytes.
    std::uint64_t items(std::uint64_t count, std::uint64_t least)
    {
        const std::uint64_t items = fitting(count, least);
        m_items += items;
        if (m_items <= limits::TreeItems)
            return items;
        fail("may list at most " + std::to_string(limits::TreeItems) + " items");
        return 0;
    }
    /// One of the texts that items repeat by number: a few bytes of the body stand for all of it.
    std::string repeated(const std::string &text)
    {
        m_repeated += text.size();
        if (m_repeated <= m_mostRepeated)
            return text;
        fail("names of files may have at most " + std::to_string(m_mostRepeated)
                 + " bytes, as often as items repeat them",
             ErrorCode::Limit);
        return {};
    }
    void fail(std::string text, ErrorCode code = ErrorCode::Malformed)
    {
        if (m_error)
            return;
        m_error =
            Error{code, m_file, "byte " + std::to_string(m_cursor.position()) + " of the body",
                  std::move(text)};
    }
    bool ok() const { return !m_error; }
    Status status() const { return m_error ? Status(*m_error) : Status(); }
    std::size_t left() const { return m_cursor.left(); }

private:
    template <class T>
    T take()
    {
        const auto taken = m_error ? std::nullopt : m_cursor.little<T>();
        if (!taken)
            fail("ends inside an item");
        return taken.value_or(T());
    }
    std::optional<ByteView> takeBytes(std::uint64_t bytes)
    {
        auto taken = m_error ? std::nullopt : m_cursor.take(bytes);
        if (!taken)
            fail("ends inside an item");
        return taken;
    }

    ByteCursor m_cursor;
    const std::string &m_file;
    std::uint64_t m_mostRepeated;
    std::uint64_t m_items = 0, m_repeated = 0;
    std::optional<Error> m_error;
};

} // namespace forkpoint
