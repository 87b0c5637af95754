// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// Arguments of the text opcodes of pickle protocol 0, and text coding.
namespace forkpoint::pickle {

/// UTF-8 as Python's "surrogatepass" reads it: lone surrogates are legal, overlong forms are not.
bool isUtf8(std::string_view text);

/// A Python string literal of protocol 0 with its quotes: 'a\n\x00'. Nothing where it is none.
std::optional<std::string> unquote(std::string_view literal);

/// "raw-unicode-escape" to UTF-8: \uXXXX and \UXXXXXXXX, other bytes are Latin-1.
std::optional<std::string> fromRawUnicodeEscape(std::string_view line);

/// Latin-1 bytes of UTF-8 text; nothing where a character is above U+00FF.
std::optional<std::string> toLatin1(std::string_view utf8);

/// Decimal digits with an optional sign and no leading zeros ("-0" becomes "0"); nothing if other
/// characters occur.
std::optional<std::string> normalDecimal(std::string_view digits);

std::optional<std::int64_t> toInt64(std::string_view decimal);

/// A float as Python's float() reads it, without spaces and underscores.
std::optional<double> toDouble(std::string_view text);

void appendUtf8(std::string &out, std::uint32_t codePoint);

} // namespace forkpoint::pickle
