// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/torch/pickle_print.h"

#include "loaders/torch/pickle_forms.h"
#include "loaders/torch/pickle_text.h"
#include "model/format.h"

#include <algorithm>

namespace forkpoint {

namespace {

/// Nesting shown before "..." takes over.
constexpr int PrintedDepth = 24;
/// Bytes of a number whose decimal digits are worth computing.
constexpr std::size_t DecimalBytes = 512;
/// The NaN that Python makes; others have a payload that "nan" does not show.
constexpr std::uint64_t PlainNan = 0x7ff8000000000000;

/// Characters of a member of a large set.
constexpr std::size_t MemberCap = 64;

constexpr char HexDigits[] = "0123456789abcdef";

/// Prints within a number of characters and, for sets, whose members are all printed to be sorted,
/// within a number of nodes. Neither depends on the order of a set's members.
class Printer
{
public:
    Printer(const PickleGraph &graph, std::size_t cap, std::size_t nodes)
        : m_graph(graph),
          m_cap(cap),
          m_nodes(nodes)
    {
    }

    void print(NodeId node, int depth)
    {
        if (full())
            return;
        if (depth > PrintedDepth)
            return shorten("...");
        switch (m_graph.kind(node)) {
        case PickleKind::None: m_out += "None"; break;
        case PickleKind::Bool: m_out += m_graph[node].integer ? "True" : "False"; break;
        case PickleKind::Int: m_out += std::to_string(m_graph[node].integer); break;
        case PickleKind::BigInt: m_out += bigIntegerText(m_graph, node); break;
        case PickleKind::Float: printFloat(m_graph[node].real); break;
        case PickleKind::Text: printQuoted(m_graph.text(node), false); break;
        case PickleKind::Bytes: printBytes({node, false}, m_graph[node].flag); break;
        case PickleKind::List: printItems("[", m_graph.items(node), "]", depth, false); break;
        case PickleKind::Tuple: printItems("(", m_graph.items(node), ")", depth, true); break;
        case PickleKind::Dict: printPairs(m_graph.items(node), depth); break;
        case PickleKind::Set: printSet(node, m_graph.items(node), depth); break;
        case PickleKind::Global: m_out += classPath(*m_graph.global(node)); break;
        case PickleKind::Object: printObject(node, depth); break;
        case PickleKind::PersistentId:
            m_out += "<persistent id ";
            print(m_graph[node].ref, depth + 1);
            m_out += ">";
            break;
        }
    }

    void printCall(NodeId callee, std::span<const NodeId> arguments, int depth)
    {
        print(callee, depth + 1);
        printItems("(", arguments, ")", depth, false);
    }

    PrintedPickle result()
    {
        if (m_out.size() > m_cap) {
            m_out.resize(m_cap);
            shorten("...");
        }
        return {std::move(m_out), m_complete};
    }

private:
    bool full() const { return m_out.size() > m_cap; }
    void shorten(std::string_view instead)
    {
        m_out += instead;
        m_complete = false;
    }

    void printFloat(double value)
    {
        m_out += shortest(value);
        if (value != value && std::bit_cast<std::uint64_t>(value) != PlainNan)
            m_complete = false;
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

    /// Decodes no more of a long text than is shown. False where it is not Latin-1.
    bool printBytes(const PickledData &data, bool isMutable)
    {
        std::string_view text = m_graph.text(data.node);
        std::size_t shown = std::min(text.size(), 2 * m_cap + 2);
        while (data.isEncoded && shown < text.size() && (text[shown] & 0xc0) == 0x80)
            ++shown; // not within a character
        const bool isCut = shown < text.size();
        const auto decoded = data.isEncoded ? pickle::toLatin1(text.substr(0, shown))
                                            : std::optional(std::string(text.substr(0, shown)));
        if (!decoded)
            return false;
        m_out += isMutable ? "bytearray(" : "";
        printQuoted(*decoded, true);
        m_out += isMutable ? ")" : "";
        m_complete = m_complete && !isCut;
        return true;
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

    /// Sorted by their texts: the order of a set differs from run to run.
    void printSet(NodeId node, std::span<const NodeId> given, int depth)
    {
        const bool isMutable = m_graph.is(node, PickleKind::Set)
            ? m_graph[node].flag
            : m_graph.known(node) == KnownGlobal::Set;
        if (given.empty()) {
            m_out += isMutable ? "set()" : "frozenset()";
            return;
        }
        m_out += isMutable ? "{" : "frozenset({";
        if (given.size() > m_nodes) {
            shorten(std::to_string(given.size()) + " members");
        } else {
            std::vector<NodeId> members(given.begin(), given.end());
            std::sort(members.begin(), members.end());
            members.erase(std::unique(members.begin(), members.end()), members.end());
            std::vector<std::string> texts;
            for (const NodeId member : members) {
                Printer printer(m_graph, std::max(MemberCap, m_cap / members.size()),
                                m_nodes / members.size() - 1);
                printer.print(member, depth + 1);
                PrintedPickle printed = printer.result();
                m_complete = m_complete && printed.complete;
                texts.push_back(std::move(printed.text));
            }
            std::sort(texts.begin(), texts.end());
            for (std::size_t i = 0; i < texts.size() && !full(); ++i)
                m_out += (i > 0 ? ", " : "") + texts[i];
        }
        m_out += isMutable ? "}" : "})";
    }

    void printObject(NodeId node, int depth)
    {
        const std::span<const NodeId> arguments = m_graph.arguments(node);
        const KnownGlobal known = m_graph.known(node);
        const auto data = pickledData(m_graph, node);
        if (data && printBytes(*data, known == KnownGlobal::ByteArray))
            return;
        if (const auto members = pickledMembers(m_graph, node))
            return printSet(node, *members, depth);
        const bool plain = !hasAdditions(m_graph, node);
        if (plain && known == KnownGlobal::TorchGetLayout && arguments.size() == 1
            && m_graph.is(arguments[0], PickleKind::Text)) {
            m_out += m_graph.text(arguments[0]);
            return;
        }
        if (plain && known == KnownGlobal::Complex && arguments.size() == 2
            && m_graph.is(arguments[0], PickleKind::Float)
            && m_graph.is(arguments[1], PickleKind::Float))
            return printComplex(m_graph[arguments[0]].real, m_graph[arguments[1]].real);
        const PlainCall call = plainCall(m_graph, node);
        printCall(call.callee, call.arguments, depth);
        if (!plain)
            printAdditions(*m_graph.object(node), depth);
    }

    void printAdditions(const PickleObject &object, int depth)
    {
        const PickleAdditions more = m_graph.more(object);
        if (object.keywords != NoNode) {
            m_out += " with keywords ";
            print(object.keywords, depth + 1);
        }
        if (!more.items.empty())
            printItems(" with items [", more.items, "]", depth, false);
        if (!more.dictItems.empty()) {
            m_out += " with entries ";
            printPairs(more.dictItems, depth);
        }
        for (const NodeId state : more.states) {
            m_out += " with state ";
            print(state, depth + 1);
        }
    }

    void printComplex(double real, double imaginary)
    {
        m_out += "(";
        printFloat(real);
        const std::string part = shortest(imaginary);
        m_out += part.front() == '-' ? "" : "+";
        printFloat(imaginary);
        m_out += "j)";
    }

    const PickleGraph &m_graph;
    std::size_t m_cap;
    std::size_t m_nodes;
    std::string m_out;
    bool m_complete = true;
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

PrintedPickle printPickle(const PickleGraph &graph, NodeId node, std::size_t cap)
{
    Printer printer(graph, cap, cap / 4);
    printer.print(node, 0);
    return printer.result();
}

PrintedPickle printPickledCall(const PickleGraph &graph, NodeId callee,
                               std::span<const NodeId> arguments, std::size_t cap)
{
    Printer printer(graph, cap, cap / 4);
    printer.printCall(callee, arguments, 0);
    return printer.result();
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

Key pickledKey(const PickleGraph &graph, NodeId node, PickleDigests &digests)
{
    /// Characters of a printed key.
    constexpr std::size_t PrintedKey = 512;
    switch (graph.kind(node)) {
    case PickleKind::Text: return Key::of(std::string(graph.text(node)));
    case PickleKind::Int: return Key::at(graph[node].integer);
    case PickleKind::BigInt: {
        Key key = Key::at(0);
        key.text = bigIntegerText(graph, node);
        return key;
    }
    default: break;
    }
    PrintedPickle printed = printPickle(graph, node, PrintedKey);
    if (!printed.complete)
        printed.text += ", sha256 " + digests.hex(node);
    return Key::printed(std::move(printed.text));
}

std::string classPath(const PickleGlobal &global)
{
    if (global.known == KnownGlobal::TorchSymbol || global.known == KnownGlobal::TorchDType)
        return global.name.substr(0, 6) == "torch." ? global.name : "torch." + global.name;
    return canonicalPath(global.module, global.name);
}

} // namespace forkpoint
