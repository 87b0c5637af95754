// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/torch/python_literal.h"

#include "loaders/text/ascii.h"

#include <charconv>

namespace forkpoint {

namespace {

using Kind = PythonLiteral::Kind;

bool isWordCharacter(char c)
{
    return isDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'
        || (static_cast<unsigned char>(c) & 0x80) != 0;
}

/// Recursive descent; its depth is capped by the caller's limit.
class LiteralParser
{
public:
    LiteralParser(std::string_view text, std::size_t depth) : m_text(text), m_depth(depth) {}

    Result<PythonLiteral> parse()
    {
        FP_TRY(PythonLiteral literal, parseValue(m_depth));
        skipSpace();
        if (m_position < m_text.size())
            return bad("must end after one literal");
        return literal;
    }

private:
    Error bad(std::string text, ErrorCode code = ErrorCode::Malformed) const
    {
        return {code, {}, "byte " + std::to_string(m_position), std::move(text)};
    }

    void skipSpace()
    {
        constexpr std::string_view Space = " \t\r\n\f\v";
        while (m_position < m_text.size() && Space.find(m_text[m_position]) != Space.npos)
            ++m_position;
    }

    char peek() const { return m_position < m_text.size() ? m_text[m_position] : '\0'; }

    /// Skips white space, then takes `c` if it is next.
    bool accept(char c)
    {
        skipSpace();
        if (m_position >= m_text.size() || m_text[m_position] != c)
            return false;
        ++m_position;
        return true;
    }

    Result<PythonLiteral> parseValue(std::size_t depth)
    {
        if (depth == 0) {
            return bad("may have at most " + std::to_string(m_depth) + " levels", ErrorCode::Limit);
        }
        skipSpace();
        const char c = peek();
        if (c == '(')
            return parseSequence(Kind::Tuple, ')', depth);
        if (c == '[')
            return parseSequence(Kind::List, ']', depth);
        if (c == '{')
            return parseDictionary(depth);
        if (c == '\'' || c == '"')
            return parseText();
        if (isDigit(c) || c == '-')
            return parseInteger();
        return parseWord();
    }

    Result<PythonLiteral> parseSequence(Kind kind, char close, std::size_t depth)
    {
        ++m_position;
        PythonLiteral result;
        result.kind = kind;
        bool comma = true;
        while (!accept(close)) {
            if (!comma)
                return bad(std::string("must be ',' or '") + close + "'");
            FP_TRY(PythonLiteral item, parseValue(depth - 1));
            result.items.push_back(std::move(item));
            comma = accept(',');
        }
        if (kind == Kind::Tuple && result.items.size() == 1 && !comma) {
            PythonLiteral inner = std::move(result.items.front()); // parentheses, no tuple
            return inner;
        }
        return result;
    }

    Result<PythonLiteral> parseDictionary(std::size_t depth)
    {
        ++m_position;
        PythonLiteral result;
        result.kind = Kind::Dictionary;
        bool comma = true;
        while (!accept('}')) {
            if (!comma)
                return bad("must be ',' or '}'");
            FP_TRY(PythonLiteral key, parseValue(depth - 1));
            if (key.kind != Kind::Text)
                return bad("must have text as key");
            if (result.find(key.text) != nullptr)
                return bad("has the key '" + key.text + "' twice");
            if (!accept(':'))
                return bad("must be ':'");
            FP_TRY(PythonLiteral value, parseValue(depth - 1));
            result.keys.push_back(std::move(key.text));
            result.items.push_back(std::move(value));
            comma = accept(',');
        }
        return result;
    }

    Result<PythonLiteral> parseText()
    {
        const char quote = m_text[m_position++];
        PythonLiteral result;
        result.kind = Kind::Text;
        while (peek() != quote) {
            if (m_position >= m_text.size())
                return bad("ends within a text");
            char c = m_text[m_position++];
            if (c == '\0' || c == '\n')
                return bad("must have no control characters in a text");
            if (c == '\\') {
                c = peek();
                if (c != '\\' && c != '\'' && c != '"')
                    return bad("has an escape that is not known");
                ++m_position;
            }
            result.text += c;
        }
        ++m_position;
        return result;
    }

    Result<PythonLiteral> parseInteger()
    {
        PythonLiteral result;
        result.kind = Kind::Integer;
        const char *const begin = m_text.data() + m_position;
        const char *const end = m_text.data() + m_text.size();
        const auto [after, error] = std::from_chars(begin, end, result.integer);
        if (error == std::errc::result_out_of_range)
            return bad("must be an integer of 64 bits");
        if (error != std::errc())
            return bad("must be an integer");
        m_position += std::size_t(after - begin);
        if (peek() == 'L') // long integers of Python 2
            ++m_position;
        if (isWordCharacter(peek()) || peek() == '.')
            return bad("must be an integer");
        return result;
    }

    Result<PythonLiteral> parseWord()
    {
        std::size_t end = m_position;
        while (end < m_text.size() && isWordCharacter(m_text[end]))
            ++end;
        const std::string_view word = m_text.substr(m_position, end - m_position);
        PythonLiteral result;
        if (word == "True" || word == "False") {
            result.kind = Kind::Bool;
            result.boolean = word == "True";
        } else if (word != "None") {
            return bad(m_position < m_text.size() ? "must be a literal" : "ends within a literal");
        }
        m_position = end;
        return result;
    }

    std::string_view m_text;
    std::size_t m_depth;
    std::size_t m_position = 0;
};

std::string inQuotes(std::string_view text)
{
    std::string result = "'";
    for (const char c : text) {
        if (c == '\'' || c == '\\')
            result += '\\';
        result += c;
    }
    return result + "'";
}

} // namespace

Result<PythonLiteral> parsePythonLiteral(std::string_view text, std::size_t depth)
{
    return LiteralParser(text, depth).parse();
}

const PythonLiteral *PythonLiteral::find(std::string_view key) const
{
    for (std::size_t i = 0; i < keys.size(); ++i) {
        if (keys[i] == key)
            return &items[i];
    }
    return nullptr;
}

std::string PythonLiteral::toString() const
{
    switch (kind) {
    case Kind::None: return "None";
    case Kind::Bool: return boolean ? "True" : "False";
    case Kind::Integer: return std::to_string(integer);
    case Kind::Text: return inQuotes(text);
    default: break;
    }
    std::string result;
    for (std::size_t i = 0; i < items.size(); ++i) {
        result += i > 0 ? ", " : "";
        if (kind == Kind::Dictionary)
            result += inQuotes(keys[i]) + ": ";
        result += items[i].toString();
    }
    if (kind == Kind::Tuple)
        return "(" + result + (items.size() == 1 ? ",)" : ")");
    return kind == Kind::List ? "[" + result + "]" : "{" + result + "}";
}

} // namespace forkpoint
