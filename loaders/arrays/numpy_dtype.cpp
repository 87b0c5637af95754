// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/arrays/numpy_dtype.h"

#include "model/bytes.h"
#include "model/key_path.h"

#include <charconv>
#include <optional>
#include <set>

namespace forkpoint {

namespace {

// One element: DType counts bits in 32 bits, and nobody means more.
constexpr std::uint64_t MaxElementBytes = std::uint64_t(1) << 28;

struct Name
{
    std::string_view code;
    std::string_view dtype;
};

constexpr Name Names[] = {
    {"b1", "bool"},      {"i1", "int8"},        {"i2", "int16"},   {"i4", "int32"},
    {"i8", "int64"},     {"u1", "uint8"},       {"u2", "uint16"},  {"u4", "uint32"},
    {"u8", "uint64"},    {"f2", "float16"},     {"f4", "float32"}, {"f8", "float64"},
    {"c8", "complex64"}, {"c16", "complex128"},
};

Error bad(std::string text, ErrorCode code = ErrorCode::Malformed)
{
    return {code, {}, "descr", std::move(text)};
}

Error unknown(std::string_view descr)
{
    return bad("must be a numpy type such as '<f4', is '" + escapeInvalidUtf8(descr) + "'");
}

std::optional<std::uint64_t> number(std::string_view digits)
{
    std::uint64_t value = 0;
    const char *const end = digits.data() + digits.size();
    const auto [after, error] = std::from_chars(digits.data(), end, value);
    if (error != std::errc() || after != end || digits.empty())
        return std::nullopt;
    return value;
}

/// Text, void, dates and long doubles: a letter, a count, and for dates a unit in brackets.
Result<NumpyDescription> opaqueDescription(std::string_view descr, std::string_view code)
{
    const char kind = code.front();
    std::string_view digits = code.substr(1);
    const bool isDate = kind == 'M' || kind == 'm';
    if (const std::size_t unit = digits.find('['); isDate && unit != digits.npos) {
        if (digits.back() != ']')
            return unknown(descr);
        digits = digits.substr(0, unit);
    }
    const auto count = number(digits);
    if (!count)
        return unknown(descr);
    const bool isLong = (kind == 'f' && (*count == 12 || *count == 16))
        || (kind == 'c' && (*count == 24 || *count == 32));
    const bool isVoid = kind == 'V' || (kind == 'f' && *count == 1);
    const bool isText = kind == 'S' || kind == 'a' || kind == 'U';
    if (!isLong && !isVoid && !isText && !(isDate && *count == 8))
        return unknown(descr);
    const auto bytes = checkedMul(*count, kind == 'U' ? 4 : 1);
    if (!bytes || *bytes > MaxElementBytes) {
        return bad("an element may have at most " + std::to_string(MaxElementBytes) + " bytes, '"
                       + std::string(descr) + "' has more",
                   ErrorCode::Limit);
    }
    const DType dtype =
        isVoid ? opaqueDType(*bytes) : namedOpaqueDType(escapeInvalidUtf8(descr), *bytes);
    return NumpyDescription{dtype, ByteOrder::Little, *bytes};
}

/// Elements of a sub-array: an integer or a tuple of them.
std::optional<std::uint64_t> subArrayCount(const PythonLiteral &shape)
{
    if (shape.kind == PythonLiteral::Kind::Integer && shape.integer >= 0)
        return std::uint64_t(shape.integer);
    if (shape.kind != PythonLiteral::Kind::Tuple)
        return std::nullopt;
    std::uint64_t count = 1;
    for (const PythonLiteral &item : shape.items) {
        if (item.kind != PythonLiteral::Kind::Integer || item.integer < 0)
            return std::nullopt;
        const auto next = checkedMul(count, std::uint64_t(item.integer));
        if (!next)
            return std::nullopt;
        count = *next;
    }
    return count;
}

/// "name", or (title, name).
std::optional<std::string> fieldName(const PythonLiteral &name)
{
    if (name.kind == PythonLiteral::Kind::Text)
        return name.text;
    const bool titled = name.kind == PythonLiteral::Kind::Tuple && name.items.size() == 2
        && name.items[1].kind == PythonLiteral::Kind::Text;
    return titled ? std::optional(name.items[1].text) : std::nullopt;
}

Result<std::uint64_t> fieldBytes(const PythonLiteral &field, std::set<std::string> &names)
{
    const bool isField = field.kind == PythonLiteral::Kind::Tuple
        && (field.items.size() == 2 || field.items.size() == 3);
    const auto name = isField ? fieldName(field.items[0]) : std::nullopt;
    if (!name)
        return bad("a field must be (name, type) or (name, type, shape)");
    // Padding has no name, and may come several times.
    if (!name->empty() && !names.insert(*name).second)
        return bad("has the field '" + escapeInvalidUtf8(*name) + "' twice");
    FP_TRY(const NumpyDescription type, numpyDescription(field.items[1]));
    std::optional<std::uint64_t> count = 1;
    if (field.items.size() == 3)
        count = subArrayCount(field.items[2]);
    const auto bytes = count ? checkedMul(*count, type.bytes) : std::nullopt;
    if (!bytes || *bytes > MaxElementBytes)
        return bad("the shape of a field must be small, is " + field.items.back().toString());
    return *bytes;
}

} // namespace

Result<NumpyDescription> numpyDescription(std::string_view descr)
{
    std::string_view code = descr;
    char order = '|';
    if (!code.empty() && std::string_view("<>|=").find(code.front()) != code.npos) {
        order = code.front();
        code.remove_prefix(1);
    }
    if (code.empty())
        return unknown(descr);
    if (code == "O" || code == "O8" || code == "O4") {
        return bad("an object array holds a pickle, which is never run", ErrorCode::Refused);
    }
    for (const Name &row : Names) {
        const bool isSpelledOut = code.size() == descr.size() && row.dtype == code;
        if (row.code != code && !isSpelledOut)
            continue;
        NumpyDescription result;
        result.dtype = dtypeByName(row.dtype).value_or(opaqueDType(1));
        result.order = order == '>' ? ByteOrder::Big : ByteOrder::Little;
        result.bytes = result.dtype.bits / 8;
        return result;
    }
    return opaqueDescription(descr, code);
}

Result<NumpyDescription> numpyDescription(const PythonLiteral &descr)
{
    if (descr.kind == PythonLiteral::Kind::Text)
        return numpyDescription(std::string_view(descr.text));
    if (descr.kind != PythonLiteral::Kind::List || descr.items.empty())
        return bad("must be text or a list of fields, is " + descr.toString().substr(0, 100));
    std::set<std::string> names;
    std::uint64_t bytes = 0;
    for (const PythonLiteral &field : descr.items) {
        FP_TRY(const std::uint64_t width, fieldBytes(field, names));
        bytes += width; // each is below 2^28, and a header has fewer than 10^4 of them
    }
    if (bytes > MaxElementBytes) {
        return bad("an element may have at most " + std::to_string(MaxElementBytes) + " bytes, has "
                       + std::to_string(bytes),
                   ErrorCode::Limit);
    }
    const std::string spelling = escapeInvalidUtf8(descr.toString());
    return NumpyDescription{namedOpaqueDType(spelling, bytes), ByteOrder::Little, bytes};
}

} // namespace forkpoint
