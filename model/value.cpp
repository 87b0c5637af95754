// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/value.h"

#include "model/folded_numbers.h"
#include "model/format.h"

#include <bit>
#include <limits>

namespace forkpoint {

std::string_view toString(ValueType type)
{
    switch (type) {
    case ValueType::None: return "none";
    case ValueType::Bool: return "bool";
    case ValueType::Int: return "int";
    case ValueType::Float: return "float";
    case ValueType::Text: return "str";
    case ValueType::Bytes: return "bytes";
    case ValueType::Numbers: return "numbers";
    case ValueType::Opaque: return "opaque";
    case ValueType::Empty: return "empty";
    case ValueType::Link: return "link";
    }
    return "opaque";
}

Value Value::unsignedInteger(std::uint64_t u)
{
    if (u <= std::uint64_t(std::numeric_limits<std::int64_t>::max()))
        return integer(std::int64_t(u));
    return {ValueType::Int, u, 0, {}};
}

bool Value::identicalTo(const Value &other) const
{
    if (type != other.type || count != other.count || digest != other.digest)
        return false;
    if (type == ValueType::Numbers) // the digest is of 64 bits each: 1.0 has those of an integer
        return foldedKinds(*this) == foldedKinds(other);
    if (data.index() != other.data.index())
        return false;
    if (const double *mine = std::get_if<double>(&data)) {
        return std::bit_cast<std::uint64_t>(*mine)
            == std::bit_cast<std::uint64_t>(std::get<double>(other.data));
    }
    return data == other.data;
}

namespace {

std::string digestText(const Value &value, std::string_view what)
{
    const std::string many = std::string(what) + "s";
    return counted(value.count, what, many) + ", sha256 " + value.digest.substr(0, 16);
}

/// What a text leaves out tells two of them apart.
std::string withDigest(const Value &value, std::string text)
{
    return value.digest.empty() ? text : text + ", sha256 " + value.digest.substr(0, 16);
}

} // namespace

std::string Value::toDisplay() const
{
    switch (type) {
    case ValueType::None: return "None";
    case ValueType::Bool: return std::get<bool>(data) ? "True" : "False";
    case ValueType::Float: return shortest(std::get<double>(data));
    case ValueType::Bytes: return digestText(*this, "byte");
    case ValueType::Numbers: return digestText(*this, "number");
    case ValueType::Int:
        if (const auto *i = std::get_if<std::int64_t>(&data))
            return std::to_string(*i);
        if (const auto *u = std::get_if<std::uint64_t>(&data))
            return std::to_string(*u);
        break;
    case ValueType::Text:
    case ValueType::Opaque:
    case ValueType::Empty:
    case ValueType::Link: break;
    }
    const auto *text = std::get_if<std::string>(&data);
    if (type == ValueType::Link)
        return text && *text != "." ? "link to " + *text : "link to the whole";
    return withDigest(*this, text ? *text : std::string());
}

} // namespace forkpoint
