// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/torch/pickle_text.h"

#include <algorithm>
#include <charconv>
#include <limits>

namespace forkpoint::pickle {

namespace {

/// Length of the UTF-8 sequence at `at`, 0 where there is none. `code` is its code point.
std::size_t sequenceAt(std::string_view text, std::size_t at, std::uint32_t &code)
{
    const auto byte = [&](std::size_t i) { return std::uint32_t(std::uint8_t(text[at + i])); };
    const std::uint32_t lead = byte(0);
    if (lead < 0x80) {
        code = lead;
        return 1;
    }
    const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    if (lead < 0xc2 || lead > 0xf4 || text.size() - at < length)
        return 0;
    code = lead & (0x7fu >> length);
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(i) & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (byte(i) & 0x3f);
    }
    static constexpr std::uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    return code < smallest[length] || code > 0x10ffff ? 0 : length;
}

int hexDigit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/// `count` hexadecimal digits at `at`, or nothing.
std::optional<std::uint32_t> hexAt(std::string_view text, std::size_t at, std::size_t count)
{
    if (text.size() < at + count)
        return std::nullopt;
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const int digit = hexDigit(text[at + i]);
        if (digit < 0)
            return std::nullopt;
        value = value << 4 | std::uint32_t(digit);
    }
    return value;
}

/// One escape behind a backslash at `at`; advances `at` past it.
bool appendEscape(std::string &out, std::string_view text, std::size_t &at)
{
    static constexpr std::string_view letters = "abfnrtv\\'\"", values = "\a\b\f\n\r\t\v\\'\"";
    const char c = text[at];
    if (const std::size_t known = letters.find(c); known != std::string_view::npos) {
        out += values[known];
        ++at;
        return true;
    }
    if (c == 'x') {
        const auto value = hexAt(text, at + 1, 2);
        if (!value)
            return false;
        out += char(*value);
        at += 3;
        return true;
    }
    if (c < '0' || c > '7') { // Python keeps an unknown escape as it is
        out += '\\';
        return true;
    }
    std::uint32_t value = 0;
    for (int i = 0; i < 3 && at < text.size() && text[at] >= '0' && text[at] <= '7'; ++i)
        value = value * 8 + std::uint32_t(text[at++] - '0');
    out += char(value);
    return true;
}

} // namespace

void appendUtf8(std::string &out, std::uint32_t code)
{
    if (code < 0x80) {
        out += char(code);
    } else if (code < 0x800) {
        out += char(0xc0 | code >> 6);
        out += char(0x80 | (code & 0x3f));
    } else if (code < 0x10000) {
        out += char(0xe0 | code >> 12);
        out += char(0x80 | (code >> 6 & 0x3f));
        out += char(0x80 | (code & 0x3f));
    } else {
        out += char(0xf0 | code >> 18);
        out += char(0x80 | (code >> 12 & 0x3f));
        out += char(0x80 | (code >> 6 & 0x3f));
        out += char(0x80 | (code & 0x3f));
    }
}

bool isUtf8(std::string_view text)
{
    std::uint32_t code = 0;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t length = sequenceAt(text, at, code);
        if (length == 0)
            return false;
        at += length;
    }
    return true;
}

std::optional<std::string> unquote(std::string_view literal)
{
    if (literal.size() < 2 || literal.front() != literal.back()
        || (literal.front() != '\'' && literal.front() != '"'))
        return std::nullopt;
    const std::string_view text = literal.substr(1, literal.size() - 2);
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
        if (text[at] != '\\') {
            out += text[at++];
            continue;
        }
        if (++at == text.size() || !appendEscape(out, text, at))
            return std::nullopt;
    }
    return out;
}

std::optional<std::string> fromRawUnicodeEscape(std::string_view line)
{
    std::string out;
    for (std::size_t at = 0; at < line.size();) {
        const bool escape = line[at] == '\\' && at + 1 < line.size()
            && (line[at + 1] == 'u' || line[at + 1] == 'U');
        if (!escape) {
            appendUtf8(out, std::uint8_t(line[at++]));
            continue;
        }
        const std::size_t digits = line[at + 1] == 'u' ? 4 : 8;
        const auto code = hexAt(line, at + 2, digits);
        if (!code || *code > 0x10ffff)
            return std::nullopt;
        appendUtf8(out, *code);
        at += 2 + digits;
    }
    return out;
}

std::optional<std::string> toLatin1(std::string_view utf8)
{
    std::string out;
    out.reserve(utf8.size());
    std::uint32_t code = 0;
    for (std::size_t at = 0; at < utf8.size();) {
        const std::size_t length = sequenceAt(utf8, at, code);
        if (length == 0 || code > 0xff)
            return std::nullopt;
        out += char(code);
        at += length;
    }
    return out;
}

std::optional<std::string> normalDecimal(std::string_view digits)
{
    const bool negative = !digits.empty() && digits.front() == '-';
    if (!digits.empty() && (digits.front() == '-' || digits.front() == '+'))
        digits.remove_prefix(1);
    const bool onlyDigits =
        std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
    if (digits.empty() || !onlyDigits)
        return std::nullopt;
    digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
    if (digits.empty())
        return "0";
    return (negative ? "-" : "") + std::string(digits);
}

std::optional<std::int64_t> toInt64(std::string_view decimal)
{
    std::int64_t value = 0;
    const char *end = decimal.data() + decimal.size();
    const auto [stopped, error] = std::from_chars(decimal.data(), end, value);
    return error == std::errc() && stopped == end && !decimal.empty() ? std::optional(value)
                                                                      : std::nullopt;
}

std::optional<double> toDouble(std::string_view text)
{
    if (!text.empty() && text.front() == '+')
        text.remove_prefix(1);
    double value = 0;
    const char *end = text.data() + text.size();
    const auto [stopped, error] = std::from_chars(text.data(), end, value);
    if (stopped != end || text.empty() || error == std::errc::invalid_argument)
        return std::nullopt;
    if (error == std::errc::result_out_of_range) { // as Python: huge is infinite, tiny is zero
        const bool tiny =
            text.find("e-") != std::string_view::npos || text.find("E-") != std::string_view::npos;
        value = tiny ? 0.0 : std::numeric_limits<double>::infinity();
        return text.front() == '-' ? -value : value;
    }
    return value;
}

} // namespace forkpoint::pickle
