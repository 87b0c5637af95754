// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/pickle_print.h"

#include "loaders/pickle_text.h"
#include "model/format.h"

#include <algorithm>

namespace forkpoint {

namespace {

/// Nesting shown before "..." takes over.
constexpr int PrintedDepth = 24;
/// Bytes of a number whose decimal digits are worth computing.
constexpr std::size_t DecimalBytes = 512;

constexpr char HexDigits[] = "0123456789abcdef";

class Printer
{
public:
    Printer(const PickleGraph &graph, std::size_t cap) : m_graph(graph), m_cap(cap) {}

    std::string run(NodeId node)
    {
        print(node, 0);
        if (m_out.size() > m_cap) {
            m_out.resize(m_cap);
            m_out += "...";
        }
        return std::move(m_out);
    }

private:
    bool full() const { return m_out.size() > m_cap; }

    void print(NodeId node, int depth)
    {
        if (full())
            return;
        if (depth > PrintedDepth) {
            m_out += "...";
            return;
        }
        switch (m_graph.kind(node)) {
        case PickleKind::None: m_out += "None"; break;
        case PickleKind::Bool: m_out += m_graph[node].integer ? "True" : "False"; break;
        case PickleKind::Int: m_out += std::to_string(m_graph[node].integer); break;
        case PickleKind::BigInt: m_out += bigIntegerText(m_graph, node); break;
        case PickleKind::Float: m_out += shortest(m_graph[node].real); break;
        case PickleKind::Text: printQuoted(m_graph.text(node), false); break;
        case PickleKind::Bytes: printQuoted(m_graph.text(node), true); break;
        case PickleKind::List: printItems("[", m_graph.items(node), "]", depth, false); break;
        case PickleKind::Tuple: printItems("(", m_graph.items(node), ")", depth, true); break;
        case PickleKind::Dict: printPairs(m_graph.items(node), depth); break;
        case PickleKind::Set: printItems("{", m_graph.items(node), "}", depth, false); break;
        case PickleKind::Global: m_out += classPath(*m_graph.global(node)); break;
        case PickleKind::Object: printObject(node, depth); break;
        case PickleKind::PersistentId:
            m_out += "<persistent id ";
            print(m_graph[node].ref, depth + 1);
            m_out += ">";
            break;
        }
    }

    void printQuoted(std::string_view text, bool isBytes)
    {
        const bool single =
            text.find('\'') == std::string_view::npos || text.find('"') != std::string_view::npos;
        const char quote = single ? '\'' : '"';
        m_out += isBytes ? "b" : "";
        m_out += quote;
        for (const char c : text) {
            if (full())
                return;
            printCharacter(c, quote, isBytes);
        }
        m_out += quote;
    }

    void printCharacter(char c, char quote, bool isBytes)
    {
        const auto code = std::uint8_t(c);
        if (c == '\\' || c == quote)
            (m_out += '\\') += c;
        else if (c == '\n')
            m_out += "\\n";
        else if (c == '\r')
            m_out += "\\r";
        else if (c == '\t')
            m_out += "\\t";
        else if (code < 0x20 || code == 0x7f || (isBytes && code >= 0x80))
            ((m_out += "\\x") += HexDigits[code >> 4]) += HexDigits[code & 15];
        else
            m_out += c;
    }

    void printItems(const char *open, std::span<const NodeId> items, const char *close, int depth,
                    bool isTuple)
    {
        m_out += open;
        for (std::size_t i = 0; i < items.size() && !full(); ++i) {
            m_out += i > 0 ? ", " : "";
            print(items[i], depth + 1);
        }
        m_out += isTuple && items.size() == 1 ? "," : "";
        m_out += close;
    }

    void printPairs(std::span<const NodeId> pairs, int depth)
    {
        m_out += "{";
        for (std::size_t i = 0; i + 1 < pairs.size() && !full(); i += 2) {
            m_out += i > 0 ? ", " : "";
            print(pairs[i], depth + 1);
            m_out += ": ";
            print(pairs[i + 1], depth + 1);
        }
        m_out += "}";
    }

    void printObject(NodeId node, int depth)
    {
        const std::span<const NodeId> arguments = m_graph.arguments(node);
        const KnownGlobal known = m_graph.known(node);
        if (const auto bytes = pickledBytes(m_graph, node))
            return printQuoted(*bytes, true);
        if (known == KnownGlobal::TorchGetLayout && arguments.size() == 1
            && m_graph.is(arguments[0], PickleKind::Text)) {
            m_out += m_graph.text(arguments[0]);
            return;
        }
        if (known == KnownGlobal::Complex && arguments.size() == 2)
            return printComplex(arguments[0], arguments[1]);
        print(m_graph.object(node)->callee, depth + 1);
        printItems("(", arguments, ")", depth, false);
    }

    void printComplex(NodeId real, NodeId imaginary)
    {
        const double re = m_graph[real].real, im = m_graph[imaginary].real;
        if (!m_graph.is(real, PickleKind::Float) || !m_graph.is(imaginary, PickleKind::Float))
            return;
        const std::string part = shortest(im);
        m_out += "(" + shortest(re) + (part.front() == '-' ? "" : "+") + part + "j)";
    }

    const PickleGraph &m_graph;
    std::size_t m_cap;
    std::string m_out;
};

/// Decimal digits of a magnitude, little-endian; destroys `bytes`. Quadratic, for short numbers.
std::string decimalDigits(std::string bytes)
{
    std::string digits;
    while (!bytes.empty()) {
        unsigned remainder = 0;
        for (std::size_t i = bytes.size(); i-- > 0;) {
            const unsigned value = remainder << 8 | std::uint8_t(bytes[i]);
            bytes[i] = char(value / 10);
            remainder = value % 10;
        }
        digits += char('0' + remainder);
        while (!bytes.empty() && bytes.back() == '\0')
            bytes.pop_back();
    }
    std::reverse(digits.begin(), digits.end());
    return digits.empty() ? "0" : digits;
}

std::string hexDigits(std::string_view bytes)
{
    std::string digits = "0x";
    for (std::size_t i = bytes.size(); i-- > 0;) {
        const auto code = std::uint8_t(bytes[i]);
        (digits += HexDigits[code >> 4]) += HexDigits[code & 15];
    }
    return digits;
}

} // namespace

std::string printedPickle(const PickleGraph &graph, NodeId node, std::size_t cap)
{
    return Printer(graph, cap).run(node);
}

std::string bigIntegerText(const PickleGraph &graph, NodeId node)
{
    const std::string_view stored = graph.text(node);
    if (graph[node].flag)
        return std::string(stored);
    std::string magnitude(stored);
    const bool negative = !stored.empty() && std::uint8_t(stored.back()) >= 0x80;
    if (negative) { // two's complement: invert and add one
        unsigned carry = 1;
        for (char &c : magnitude) {
            carry += std::uint8_t(~std::uint8_t(c));
            c = char(carry & 0xff);
            carry >>= 8;
        }
    }
    const std::string digits =
        magnitude.size() <= DecimalBytes ? decimalDigits(magnitude) : hexDigits(magnitude);
    return (negative ? "-" : "") + digits;
}

std::optional<std::string> pickledText(const PickleGraph &graph, NodeId node)
{
    if (!graph.is(node, PickleKind::Text))
        return std::nullopt;
    return std::string(graph.text(node));
}

std::optional<std::int64_t> pickledInteger(const PickleGraph &graph, NodeId node)
{
    if (!graph.is(node, PickleKind::Int))
        return std::nullopt;
    return graph[node].integer;
}

std::optional<std::string> pickledBytes(const PickleGraph &graph, NodeId node)
{
    // bytearray(encode(text, 'latin-1')): at most three calls deep in what Python writes.
    for (int depth = 0; depth < 4; ++depth) {
        if (graph.is(node, PickleKind::Bytes)
            || (graph.is(node, PickleKind::Text) && graph[node].flag))
            return std::string(graph.text(node));
        const KnownGlobal known = graph.known(node);
        if (!graph.object(node)
            || (known != KnownGlobal::Bytes && known != KnownGlobal::ByteArray
                && known != KnownGlobal::EncodeText))
            return std::nullopt;
        const std::span<const NodeId> arguments = graph.arguments(node);
        if (arguments.empty())
            return std::string();
        node = arguments[0];
        if (graph.is(node, PickleKind::Text) && !graph[node].flag)
            return pickle::toLatin1(graph.text(node));
    }
    return std::nullopt;
}

Key pickledKey(const PickleGraph &graph, NodeId node)
{
    /// Characters of a printed key; longer ones stay distinct by their place in the dictionary.
    constexpr std::size_t PrintedKey = 512;
    switch (graph.kind(node)) {
    case PickleKind::Text: return Key::of(std::string(graph.text(node)));
    case PickleKind::Int: return Key::at(graph[node].integer);
    case PickleKind::BigInt: {
        Key key = Key::at(0);
        key.text = bigIntegerText(graph, node);
        return key;
    }
    default: return Key::printed(printedPickle(graph, node, PrintedKey));
    }
}

std::string classPath(const PickleGlobal &global)
{
    if (global.known == KnownGlobal::TorchSymbol || global.known == KnownGlobal::TorchDType)
        return global.name.substr(0, 6) == "torch." ? global.name : "torch." + global.name;
    return canonicalPath(global.module, global.name);
}

} // namespace forkpoint
