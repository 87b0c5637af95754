// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/limits.h"
#include "loaders/text/json.h"

#include <array>
#include <optional>
#include <string_view>

namespace forkpoint {

/// Reads plain JSON, as tracers write it by the gigabyte, into the nodes that the general parser would
/// make of it. Plain is: ASCII, no escapes in texts, integers of 64 bits, floats within their range. Of
/// anything else, and of every error, it says that it cannot tell, and the general parser decides.
class JsonScanner
{
public:
    /// `document`: takes the nodes; what it held is gone, its memory is used again. A text like the one
    /// it held but for its scalars, as lines of a trace are, costs less.
    JsonScanner(std::string_view text, RepeatedKeys repeated, NonFinite nonFinite,
                JsonDocument &document)
        : m_text(text),
          m_repeated(repeated),
          m_nonFinite(nonFinite),
          m_document(document)
    {
    }

    /// Whether the document is what the text says. Where it is not, it is to be thrown away.
    bool scan();
    /// The same of one value with which the text begins, inside of so many others: how many bytes of
    /// the text it has.
    std::optional<std::size_t> scanFirst(std::size_t outside);

private:
    struct Open
    {
        std::uint32_t node = 0;
        std::uint64_t keys = 0; ///< a bit for each kind of key seen
        bool mayRepeat = false; ///< two keys are of a kind
    };

    struct Scalar
    {
        JsonValue::Kind kind = JsonValue::Kind::Null;
        std::uint64_t value = 0;
        std::uint32_t begin = 0, length = 0;
    };

    bool canBeLikeLast() const;
    bool scanLikeLast();
    bool scanAll();
    bool scanOne();
    void keep(std::size_t length);
    bool scanValue();
    bool takeScalar(Scalar &scalar);
    bool takeMark();
    bool takeKey();
    bool takeText(std::uint32_t &begin, std::uint32_t &length);
    bool takeNumber(Scalar &scalar);
    bool takeNonFinite(Scalar &scalar);
    bool takeWord(std::string_view word, JsonValue::Kind kind, std::uint64_t value, Scalar &scalar);
    void skipSpace();
    void add(const Scalar &scalar);
    bool open(JsonValue::Kind kind);
    bool close(char mark);
    bool isDone() const { return m_at == m_text.size(); }

    std::string_view m_text;
    RepeatedKeys m_repeated;
    NonFinite m_nonFinite;
    std::size_t m_at = 0;
    JsonDocument &m_document;
    std::array<Open, limits::JsonDepth> m_open;
    std::size_t m_depth = 0, m_outside = 0;
    std::uint32_t m_keyBegin = 0, m_keyLength = 0;
};

} // namespace forkpoint
