// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/text/json_writer.h"

#include "model/format.h"
#include "model/key_path.h"

#include <cmath>

namespace forkpoint {

namespace {

std::string quoted(std::string_view text)
{
    static constexpr char Digits[] = "0123456789abcdef";
    std::string result = "\"";
    for (const char c : escapeInvalidUtf8(text)) {
        const auto byte = static_cast<unsigned char>(c);
        switch (c) {
        case '"': result += "\\\""; break;
        case '\\': result += "\\\\"; break;
        case '\n': result += "\\n"; break;
        case '\r': result += "\\r"; break;
        case '\t': result += "\\t"; break;
        default:
            if (byte < 0x20 || byte == 0x7f) {
                result += "\\u00";
                result += Digits[byte >> 4];
                result += Digits[byte & 15];
            } else {
                result += c;
            }
        }
    }
    return result + '"';
}

} // namespace

void JsonWriter::newLine()
{
    if (m_indent == 0)
        return;
    m_out += '\n';
    m_out.append(m_filled.size() * std::size_t(m_indent), ' ');
}

void JsonWriter::separate()
{
    if (m_afterKey) {
        m_afterKey = false;
        return;
    }
    if (m_filled.empty())
        return;
    if (m_filled.back())
        m_out += ',';
    m_filled.back() = true;
    newLine();
}

void JsonWriter::raw(std::string_view text)
{
    separate();
    m_out += text;
}

JsonWriter &JsonWriter::beginObject()
{
    raw("{");
    m_filled.push_back(false);
    return *this;
}

JsonWriter &JsonWriter::endObject()
{
    const bool filled = m_filled.back();
    m_filled.pop_back();
    if (filled)
        newLine();
    m_out += '}';
    return *this;
}

JsonWriter &JsonWriter::beginArray()
{
    raw("[");
    m_filled.push_back(false);
    return *this;
}

JsonWriter &JsonWriter::endArray()
{
    const bool filled = m_filled.back();
    m_filled.pop_back();
    if (filled)
        newLine();
    m_out += ']';
    return *this;
}

JsonWriter &JsonWriter::key(std::string_view name)
{
    raw(quoted(name));
    m_out += m_indent == 0 ? ":" : ": ";
    m_afterKey = true;
    return *this;
}

JsonWriter &JsonWriter::text(std::string_view value)
{
    raw(quoted(value));
    return *this;
}

JsonWriter &JsonWriter::number(double value)
{
    if (std::isfinite(value))
        raw(shortest(value));
    else
        text(shortest(value));
    return *this;
}

JsonWriter &JsonWriter::number(std::int64_t value)
{
    raw(std::to_string(value));
    return *this;
}

JsonWriter &JsonWriter::number(std::uint64_t value)
{
    raw(std::to_string(value));
    return *this;
}

JsonWriter &JsonWriter::boolean(bool value)
{
    raw(value ? "true" : "false");
    return *this;
}

JsonWriter &JsonWriter::null()
{
    raw("null");
    return *this;
}

std::string JsonWriter::take()
{
    m_out += '\n';
    return std::move(m_out);
}

} // namespace forkpoint
