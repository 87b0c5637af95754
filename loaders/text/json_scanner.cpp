// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/text/json_scanner.h"

#include "loaders/text/json_nonfinite.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>

namespace forkpoint {

namespace {

bool isDigit(char c)
{
    return c >= '0' && c <= '9';
}

/// Where the digits from `at` on end.
std::size_t endOfDigits(std::string_view text, std::size_t at)
{
    while (at < text.size() && isDigit(text[at]))
        ++at;
    return at;
}

/// One of 64 kinds of keys.
std::uint64_t kindOfKey(std::string_view key)
{
    std::uint64_t first = 0, last = 0;
    const std::size_t most = std::min(key.size(), sizeof first);
    std::memcpy(&first, key.data(), most);
    std::memcpy(&last, key.data() + key.size() - most, most);
    const std::uint64_t mixed = (first ^ (last << 7) ^ key.size()) * 0x9E3779B97F4A7C15;
    return std::uint64_t(1) << (mixed >> 58);
}

/// Where a scalar ends in its text, its quotes included.
template <class Node>
std::size_t endOfScalar(const Node &node)
{
    return std::size_t(node.begin) + node.length + (node.kind == JsonValue::Kind::Text ? 2 : 0);
}

} // namespace

void JsonScanner::skipSpace()
{
    while (!isDone()
           && (m_text[m_at] == ' ' || m_text[m_at] == '\n' || m_text[m_at] == '\r'
               || m_text[m_at] == '\t'))
        ++m_at;
}

void JsonScanner::add(const Scalar &scalar)
{
    auto &nodes = m_document.m_nodes;
    if (m_depth > 0)
        ++nodes[m_open[m_depth - 1].node].length;
    JsonDocument::Node node;
    node.value = scalar.value;
    node.length = scalar.length;
    node.begin = scalar.begin;
    node.next = std::uint32_t(nodes.size() + 1);
    node.keyBegin = std::exchange(m_keyBegin, 0);
    node.keyLength = std::exchange(m_keyLength, 0);
    node.kind = scalar.kind;
    nodes.push_back(node);
}

bool JsonScanner::takeText(std::uint32_t &begin, std::uint32_t &length)
{
    if (isDone() || m_text[m_at] != '"')
        return false;
    const std::size_t first = ++m_at;
    while (!isDone() && m_text[m_at] != '"') {
        const auto c = static_cast<signed char>(m_text[m_at++]);
        if (c < 0x20 || c == '\\') // below: control characters, and all but ASCII
            return false;
    }
    if (isDone())
        return false;
    begin = std::uint32_t(first);
    length = std::uint32_t(m_at++ - first);
    return true;
}

bool JsonScanner::takeNumber(Scalar &scalar)
{
    const std::size_t first = m_at;
    const bool isNegative = m_text[m_at] == '-';
    const std::size_t digits = first + (isNegative ? 1 : 0);
    std::size_t end = endOfDigits(m_text, digits);
    if (end == digits)
        return takeNonFinite(scalar);
    if (m_text[digits] == '0' && end > digits + 1)
        return false;
    bool isWhole = true;
    if (end < m_text.size() && m_text[end] == '.') {
        isWhole = false;
        const std::size_t fraction = end + 1;
        end = endOfDigits(m_text, fraction);
        if (end == fraction)
            return false;
    }
    if (end < m_text.size() && (m_text[end] == 'e' || m_text[end] == 'E')) {
        isWhole = false;
        std::size_t exponent = end + 1;
        if (exponent < m_text.size() && (m_text[exponent] == '+' || m_text[exponent] == '-'))
            ++exponent;
        end = endOfDigits(m_text, exponent);
        if (end == exponent)
            return false;
    }
    const char *const from = m_text.data() + first;
    const char *const to = m_text.data() + end;
    m_at = end;
    scalar.length = std::uint32_t(end - first);
    const auto parsed = [&](auto &value) {
        const auto [stop, error] = std::from_chars(from, to, value);
        return error == std::errc() && stop == to;
    };
    if (!isWhole) {
        double value = 0;
        if (!parsed(value))
            return false;
        scalar.kind = JsonValue::Kind::Real;
        scalar.value = std::bit_cast<std::uint64_t>(value);
        return true;
    }
    if (isNegative) {
        std::int64_t value = 0;
        if (!parsed(value))
            return false;
        scalar.kind = JsonValue::Kind::Negative;
        scalar.value = std::uint64_t(value);
        return true;
    }
    scalar.kind = JsonValue::Kind::Unsigned;
    return parsed(scalar.value);
}

bool JsonScanner::takeNonFinite(Scalar &scalar)
{
    if (m_nonFinite == NonFinite::Refuse)
        return false;
    const bool isOne =
        std::any_of(NonFiniteWords.begin(), NonFiniteWords.end(), [&](const NonFiniteWord &each) {
            return takeWord(each.word, JsonValue::Kind::Real,
                            std::bit_cast<std::uint64_t>(each.value), scalar);
        });
    m_document.m_hasNonFinite = m_document.m_hasNonFinite || isOne;
    return isOne;
}

bool JsonScanner::takeWord(std::string_view word, JsonValue::Kind kind, std::uint64_t value,
                           Scalar &scalar)
{
    if (m_text.substr(m_at, word.size()) != word)
        return false;
    m_at += word.size();
    scalar.kind = kind;
    scalar.value = value;
    scalar.length = std::uint32_t(word.size());
    return true;
}

bool JsonScanner::open(JsonValue::Kind kind)
{
    if (m_outside + m_depth >= limits::JsonDepth)
        return false;
    ++m_at;
    add({kind});
    m_open[m_depth++] = {std::uint32_t(m_document.m_nodes.size() - 1)};
    return true;
}

bool JsonScanner::close(char mark)
{
    const Open closed = m_open[m_depth - 1];
    JsonDocument::Node &node = m_document.m_nodes[closed.node];
    if ((mark == '}') != (node.kind == JsonValue::Kind::Object))
        return false;
    if (closed.mayRepeat && m_document.m_repeated == RepeatedKeys::Refuse
        && m_document.repeatedKey(closed.node, m_text))
        return false;
    ++m_at;
    node.next = std::uint32_t(m_document.m_nodes.size());
    --m_depth;
    return true;
}

bool JsonScanner::takeKey()
{
    if (!takeText(m_keyBegin, m_keyLength))
        return false;
    const std::uint64_t kind = kindOfKey(m_text.substr(m_keyBegin, m_keyLength));
    Open &object = m_open[m_depth - 1];
    object.mayRepeat = object.mayRepeat || (object.keys & kind) != 0;
    object.keys |= kind;
    skipSpace();
    if (isDone() || m_text[m_at] != ':')
        return false;
    ++m_at;
    skipSpace();
    return true;
}

/// A value that begins here; of an array or object, its opening.
bool JsonScanner::scanValue()
{
    if (isDone())
        return false;
    switch (m_text[m_at]) {
    case '{': return open(JsonValue::Kind::Object);
    case '[': return open(JsonValue::Kind::Array);
    default: break;
    }
    Scalar scalar;
    if (!takeScalar(scalar))
        return false;
    add(scalar);
    return true;
}

bool JsonScanner::takeScalar(Scalar &scalar)
{
    if (isDone())
        return false;
    scalar.begin = std::uint32_t(m_at);
    switch (m_text[m_at]) {
    case 't': return takeWord("true", JsonValue::Kind::Bool, 1, scalar);
    case 'f': return takeWord("false", JsonValue::Kind::Bool, 0, scalar);
    case 'n': return takeWord("null", JsonValue::Kind::Null, 0, scalar);
    case '"': break;
    case 'N':
    case 'I': return takeNonFinite(scalar);
    default: return takeNumber(scalar);
    }
    std::uint32_t begin = 0;
    scalar.kind = JsonValue::Kind::Text;
    const bool taken = takeText(begin, scalar.length);
    scalar.value = begin;
    return taken;
}

/// What stands between two values: closing marks, a comma, a key.
bool JsonScanner::takeMark()
{
    const std::uint32_t last = std::uint32_t(m_document.m_nodes.size() - 1);
    bool isFirst = m_depth > 0 && m_open[m_depth - 1].node == last;
    for (; m_depth > 0; isFirst = false) {
        skipSpace();
        if (isDone())
            return false;
        const char mark = m_text[m_at];
        if (mark == '}' || mark == ']') {
            if (!close(mark))
                return false;
            continue;
        }
        if (!isFirst && m_text[m_at++] != ',')
            return false;
        skipSpace();
        const bool isObject =
            m_document.m_nodes[m_open[m_depth - 1].node].kind == JsonValue::Kind::Object;
        return !isObject || takeKey();
    }
    skipSpace();
    return true;
}

bool JsonScanner::canBeLikeLast() const
{
    return m_document.m_isPlain && m_document.m_repeated == m_repeated;
}

/// Nodes point into the first `length` bytes.
void JsonScanner::keep(std::size_t length)
{
    m_document.m_texts = m_text.substr(0, length);
    m_document.m_isPlain = true;
}

bool JsonScanner::scan()
{
    m_document.m_hasNonFinite = false;
    const bool isAlike = canBeLikeLast() && scanLikeLast() && isDone();
    const bool isScanned = isAlike || scanAll();
    m_document.startLooks(isAlike);
    m_document.m_isPlain = false;
    if (isScanned)
        keep(m_text.size());
    return isScanned;
}

std::optional<std::size_t> JsonScanner::scanFirst(std::size_t outside)
{
    m_outside = outside;
    m_document.m_hasNonFinite = false;
    const bool isScanned = (canBeLikeLast() && scanLikeLast()) || scanOne();
    m_document.startLooks(false);
    m_document.m_isPlain = false;
    if (!isScanned)
        return std::nullopt;
    keep(m_at);
    return m_at;
}

/// What stands between the scalars of the last text, keys among it, must stand between those of this
/// one, byte for byte: then only the scalars are read, and the structure is the same.
bool JsonScanner::scanLikeLast()
{
    const std::string_view last = m_document.m_texts;
    std::size_t lastAt = 0;
    for (JsonDocument::Node &node : m_document.m_nodes) {
        // Of a key that is empty, or none, the place means nothing.
        node.keyBegin = node.keyLength > 0 ? std::uint32_t(node.keyBegin + m_at - lastAt) : 0;
        if (node.kind == JsonValue::Kind::Object || node.kind == JsonValue::Kind::Array)
            continue;
        const std::size_t gap = node.begin - lastAt;
        if (m_text.compare(m_at, gap, last, lastAt, gap) != 0)
            return false;
        m_at += gap;
        lastAt = endOfScalar(node);
        Scalar scalar;
        if (!takeScalar(scalar))
            return false;
        node.kind = scalar.kind;
        node.value = scalar.value;
        node.begin = scalar.begin;
        node.length = scalar.length;
    }
    const std::string_view behind = last.substr(lastAt);
    const bool isAlike = m_text.substr(m_at).starts_with(behind);
    m_at += isAlike ? behind.size() : 0;
    return isAlike;
}

bool JsonScanner::scanAll()
{
    return scanOne() && isDone();
}

/// One value and the white space around it.
bool JsonScanner::scanOne()
{
    m_at = 0;
    m_depth = 0;
    m_document.m_nodes.clear();
    m_document.m_repeated = m_repeated;
    skipSpace();
    do {
        if (!scanValue() || !takeMark())
            return false;
    } while (m_depth > 0);
    return true;
}

} // namespace forkpoint
