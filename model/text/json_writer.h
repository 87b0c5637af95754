// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace forkpoint {

/// Writes deterministic JSON, keys in the order given. Floats are the shortest text that reads back
/// to the same bits, always with a point or an exponent; NaN and infinities become the strings
/// "nan", "inf", "-inf". Invalid UTF-8 in text is written as \xNN, so the output is always JSON.
class JsonWriter
{
public:
    /// indent 0: everything on one line.
    explicit JsonWriter(int indent = 1) : m_indent(indent) {}

    JsonWriter &beginObject();
    JsonWriter &endObject();
    JsonWriter &beginArray();
    JsonWriter &endArray();
    JsonWriter &key(std::string_view name);

    JsonWriter &text(std::string_view value);
    JsonWriter &number(double value);
    JsonWriter &number(std::int64_t value);
    JsonWriter &number(std::uint64_t value);
    JsonWriter &boolean(bool value);
    JsonWriter &null();

    /// The document so far; call when every container is closed. Ends with a newline.
    std::string take();

private:
    void separate();
    void newLine();
    void raw(std::string_view text);

    int m_indent;
    std::string m_out;
    std::vector<bool> m_filled; ///< per open container: has members
    bool m_afterKey = false;
};

} // namespace forkpoint
