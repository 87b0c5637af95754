// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace forkpoint {

class JsonChildren;
class JsonDocument;

/// A value of a parsed document; cheap to copy, valid as long as its document.
class JsonValue
{
public:
    enum class Kind : std::uint8_t {
        Null,
        Bool,
        Unsigned, ///< an integer from 0 to 2^64 - 1
        Negative, ///< an integer from -2^63 to -1
        Digits,   ///< an integer beyond 64 bits, as text
        Real,
        Text,
        Array,
        Object,
    };

    Kind kind() const;
    bool isObject() const { return kind() == Kind::Object; }
    bool isArray() const { return kind() == Kind::Array; }
    std::string_view kindName() const; ///< "a number", "text", "an object", for errors

    std::optional<bool> boolean() const;
    std::optional<std::uint64_t> unsignedInteger() const;
    std::optional<std::int64_t> negative() const;
    std::optional<double> real() const;
    std::optional<std::string_view> text() const; ///< Text and Digits
    std::string_view key() const;                 ///< of a member of an object

    /// Where a scalar stands in its text, the quotes of a text left out.
    struct Place
    {
        std::size_t begin = 0, size = 0;
    };
    std::optional<Place> place() const; ///< known where the text is plain (JsonScanner)

    /// Members of an object or elements of an array, in the order of the file.
    std::vector<JsonValue> children() const;
    JsonChildren each() const; ///< the same one after the other, without memory of their own
    std::size_t childCount() const;
    std::optional<JsonValue> find(std::string_view key) const; ///< the last of that key; linear
    /// The same, for members asked for in the order of the file, which are found at once. `last`: 0 at
    /// first, then as the call before left it.
    std::optional<JsonValue> find(std::string_view key, std::uint32_t &last) const;

private:
    friend class JsonBuilder;
    friend class JsonChildren;
    friend class JsonDocument;
    bool isCalled(std::uint32_t node, std::string_view key) const;
    std::optional<JsonValue> search(std::string_view key, std::uint32_t &last) const;
    JsonValue(const JsonDocument *document, std::uint32_t node) : m_document(document), m_node(node)
    {
    }

    const JsonDocument *m_document;
    std::uint32_t m_node;
};

/// What a key that an object has twice means: an error, or, as for Python's json.load, members to
/// choose from. children() then has all of them.
enum class RepeatedKeys : std::uint8_t { Refuse, Keep };

/// NaN, Infinity and -Infinity without quotes, as Python's json writes them: an error, or floats.
enum class NonFinite : std::uint8_t { Refuse, Take };

/// A strictly parsed JSON text (RFC 8259): UTF-8 without overlong forms or lone surrogates, no BOM,
/// no NUL, no comments, nothing behind the value but white space, no key twice in an object unless
/// they are kept, NaN and infinities only where they are taken, at most JsonDepth levels. Integers are
/// kept exact. 32 bytes a value, so that the header of 10^6 tensors fits. Errors carry the byte.
class JsonDocument
{
public:
    static Result<JsonDocument> parse(std::string_view text,
                                      RepeatedKeys repeated = RepeatedKeys::Refuse,
                                      NonFinite nonFinite = NonFinite::Refuse);
    /// The same into a document that is there, whose memory it takes over. After an error it is empty.
    Status reparse(std::string_view text, RepeatedKeys repeated = RepeatedKeys::Refuse,
                   NonFinite nonFinite = NonFinite::Refuse);
    /// The same without the short way for plain texts: for tests, which hold one to the other.
    static Result<JsonDocument> parseGeneral(std::string_view text,
                                             RepeatedKeys repeated = RepeatedKeys::Refuse,
                                             NonFinite nonFinite = NonFinite::Refuse);

    JsonValue root() const { return {this, 0}; }
    /// Whether there was a float without quotes that is no number of JSON.
    bool hasNonFinite() const { return m_hasNonFinite; }

private:
    friend class JsonValue;
    friend class JsonChildren;
    friend class JsonBuilder;
    friend class JsonScanner;

    /// What was looked for in a text, and what was found: in the next one like it the same looks, in
    /// their order, find the same.
    struct Asked
    {
        std::string key;
        std::uint32_t object = 0;
        std::uint32_t found = 0; ///< 0: the object has no such member
    };
    static constexpr std::size_t MostAsked = 4096;

    /// Of a new text.
    void startLooks(bool isLikeLast);
    /// The answer to the next look, if it is the one that came next the last time.
    const Asked *recall(std::uint32_t object, std::string_view key) const;
    void remember(std::uint32_t object, std::string_view key, std::uint32_t found) const;

    /// A key that the object of that node has twice, its keys being places of `texts`.
    std::optional<std::string_view> repeatedKey(std::uint32_t object, std::string_view texts) const;

    struct Node
    {
        std::uint64_t value = 0;  ///< the number, its bits, or where its text begins
        std::uint32_t length = 0; ///< of a scalar's text; children of an array or object
        std::uint32_t next = 0;   ///< the node behind this one and all below it
        std::uint32_t keyBegin = 0;
        std::uint32_t keyLength = 0;
        std::uint32_t begin = 0; ///< of a scalar, with its quotes, where the document is plain
        JsonValue::Kind kind = JsonValue::Kind::Null;
    };

    std::vector<Node> m_nodes; ///< depth first
    RepeatedKeys m_repeated = RepeatedKeys::Refuse;
    bool m_hasNonFinite = false;
    bool m_isPlain = false; ///< m_texts is the whole text, and places of scalars are known
    /// It is like the text before, which was parsed into this document too, but for its scalars. Such
    /// a document is of one thread: it remembers looks.
    bool m_isLikeLast = false;
    mutable std::vector<Asked> m_asked;
    mutable std::size_t m_answered = 0; ///< of these, by the text at hand
    std::string m_texts; ///< that nodes and keys point into: what was parsed, or texts alone
};

/// What a JsonValue has below it, for a loop.
class JsonChildren
{
public:
    class Iterator
    {
    public:
        JsonValue operator*() const { return {m_document, m_node}; }
        Iterator &operator++()
        {
            m_node = m_document->m_nodes[m_node].next;
            ++m_passed;
            return *this;
        }
        bool operator!=(const Iterator &other) const { return m_passed != other.m_passed; }

    private:
        friend class JsonChildren;
        const JsonDocument *m_document = nullptr;
        std::uint32_t m_node = 0;
        std::size_t m_passed = 0;
    };

    JsonChildren() = default; ///< none
    explicit JsonChildren(const JsonValue &value)
    {
        m_begin.m_document = value.m_document;
        m_begin.m_node = value.m_node + 1;
        m_end.m_passed = value.childCount();
    }

    Iterator begin() const { return m_begin; }
    Iterator end() const { return m_end; }

private:
    Iterator m_begin, m_end;
};

} // namespace forkpoint
