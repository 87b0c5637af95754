// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/key_path.h"
#include "model/state_class.h"

#include <cstdint>
#include <string>
#include <variant>

namespace forkpoint {

enum class ValueType : std::uint8_t {
    None,
    Bool,
    Int,
    Float,
    Text,    ///< str
    Bytes,   ///< bytes, bytearray
    Numbers, ///< a list of more than 64 plain numbers, folded into count and digest
    Opaque,  ///< an object of a class we only name: class path, arguments and state
    Empty,   ///< an empty container, so that it is seen: text is "{}", "[]", "()", "set()"
    Link,    ///< a link shown as a link: text is its target
};

std::string_view toString(ValueType type); // "none", "bool", "int", "float", "str", "bytes", ...

/// Everything in a checkpoint that is not a tensor.
struct Value
{
    ValueType type = ValueType::None;
    /// Bool: bool. Int: int64, or uint64 above its range, or decimal digits as text beyond 64 bits.
    /// Float: double. Text: the text itself. Opaque: what Python would print, inert and complete
    /// up to a cap. Bytes: nothing. Numbers: what model/folded_numbers.h says, or nothing.
    std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, std::string> data;
    std::uint64_t count = 0; ///< Bytes: length; Numbers: how many
    /// SHA-256 (hex) of the whole content of Bytes (the bytes), Numbers (int64 or, if any is a
    /// float, float64, little-endian) and of others whose data do not say everything.
    std::string digest;

    static Value none() { return {}; }
    static Value boolean(bool b) { return {ValueType::Bool, b, 0, {}}; }
    static Value integer(std::int64_t i) { return {ValueType::Int, i, 0, {}}; }
    static Value unsignedInteger(std::uint64_t u);
    static Value bigInteger(std::string digits)
    {
        return {ValueType::Int, std::move(digits), 0, {}};
    }
    static Value real(double d) { return {ValueType::Float, d, 0, {}}; }
    static Value text(std::string s) { return {ValueType::Text, std::move(s), 0, {}}; }
    static Value opaque(std::string s) { return {ValueType::Opaque, std::move(s), 0, {}}; }
    static Value empty(std::string s) { return {ValueType::Empty, std::move(s), 0, {}}; }
    static Value link(std::string target) { return {ValueType::Link, std::move(target), 0, {}}; }

    /// Same type and same content. Floats by their bits, so NaN equals the same NaN and 0.0 is not
    /// -0.0.
    bool identicalTo(const Value &other) const;
    /// One line for people: shortest floats, quoted text, "625 numbers, sha256 1a2b...".
    std::string toDisplay() const;
};

struct ValueRef
{
    KeyPath path;
    std::string name; ///< display name, unique in its catalogue
    StateClass stateClass = StateClass::Unknown;
    Value value;
    std::string file; ///< which file it came from, relative to what was opened
};

} // namespace forkpoint
