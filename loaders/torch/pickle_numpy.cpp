// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/torch/pickle_numpy.h"

#include "loaders/arrays/numpy_dtype.h"
#include "loaders/elements/running_digest.h"
#include "loaders/limits.h"
#include "loaders/torch/pickle_forms.h"
#include "loaders/torch/pickle_print.h"
#include "loaders/torch/pickle_text.h"

#include <cmath>

namespace forkpoint {

namespace {

/// Nesting of structured types; numpy's own are one or two levels deep.
constexpr int TypeDepth = 8;
/// Fields of a structured type and of those in it, together.
constexpr std::size_t TypeFields = 1000;
/// Items of a shape: more than any rank that is read, and no list of millions.
constexpr std::size_t ShapeItems = 1000;
/// Bytes of one element: DType counts bits in 32 bits.
constexpr std::uint64_t ItemBytes = 1u << 28;

Error bad(std::string text)
{
    return {ErrorCode::Malformed, {}, "numpy array", std::move(text)};
}

/// `left`: fields that may still be read.
Result<NumpyType> readType(const PickleGraph &graph, NodeId node, int depth, std::size_t &left);

/// "[('a', '<i4'), ('b', '<f8', (2,))]" from the names and fields of a dtype's state.
Result<std::string> spellFields(const PickleGraph &graph, NodeId names, NodeId fields, int depth,
                                std::size_t &left)
{
    std::string text = "[";
    if (graph.items(names).size() > left || graph.items(fields).size() > 4 * TypeFields)
        return Error{ErrorCode::Limit, {}, "numpy array", "too many fields"};
    left -= graph.items(names).size();
    for (const NodeId name : graph.items(names)) {
        const std::span<const NodeId> field = graph.items(graph.find(fields, graph.text(name)));
        if (field.empty())
            return bad("a field without a type");
        FP_TRY(const NumpyType type, readType(graph, field[0], depth + 1, left));
        text +=
            (text.size() > 1 ? ", (" : "(") + printPickle(graph, name, limits::PrintedText).text;
        text += type.spelling.front() == '[' || type.spelling.front() == '('
            ? ", " + type.spelling + ")"
            : ", '" + type.spelling + "')";
    }
    return text + "]";
}

/// The bytes of one element that the state of a structured type or a subarray announces.
Result<std::uint64_t> statedWidth(const PickleGraph &graph, std::span<const NodeId> state)
{
    const auto width = state.size() > 5 ? pickledInteger(graph, state[5]) : std::nullopt;
    if (!width || *width < 0 || std::uint64_t(*width) > ItemBytes)
        return bad("a structured element type of unknown width");
    return std::uint64_t(*width);
}

Result<NumpyType> compoundType(const PickleGraph &graph, std::span<const NodeId> state, int depth,
                               std::size_t &left)
{
    NumpyType type;
    FP_TRY(type.itemBytes, statedWidth(graph, state));
    if (graph.is(state[3], PickleKind::Tuple)) {
        FP_TRY(type.spelling, spellFields(graph, state[3], state[4], depth, left));
    } else {
        const std::span<const NodeId> subarray = graph.items(state[2]);
        FP_TRY(const NumpyType base, readType(graph, subarray[0], depth + 1, left));
        type.spelling = "('" + base.spelling + "', "
            + printPickle(graph, subarray[1], limits::PrintedText).text + ")";
    }
    type.dtype = namedOpaqueDType(type.spelling, type.itemBytes);
    return type;
}

/// ml_dtypes holds one value a byte even where a value takes fewer bits.
Result<NumpyType> extendedType(const PickleGlobal &name)
{
    const auto dtype = dtypeByName(name.name);
    if (!dtype)
        return Error{ErrorCode::Unsupported,
                     {},
                     "numpy array",
                     "an element type '" + name.path().substr(0, 80) + "'"};
    const bool narrow = dtype->positionBits() < 8;
    return NumpyType{narrow ? namedOpaqueDType(dtype->name + " in a byte", 1) : *dtype,
                     ByteOrder::Little, narrow ? 1 : dtype->positionBits() / 8, false, name.name};
}

/// "<f4", "<M8[ns]": the code with the byte order and the unit of dates that the state holds.
std::string spellingOf(const PickleGraph &graph, std::string_view code,
                       std::span<const NodeId> state)
{
    std::string order = state.size() > 1 ? std::string(graph.text(state[1])) : "<";
    if (order == "=")
        order = "<";
    std::string spelling = order + std::string(code);
    if (code.front() == 'M' || code.front() == 'm') {
        const auto meta = state.size() > 8 ? graph.items(state[8]) : std::span<const NodeId>();
        const auto unit = meta.size() == 2 ? graph.items(meta[1]) : std::span<const NodeId>();
        if (!unit.empty())
            spelling += "[" + pickledBytes(graph, unit[0]).value_or("?") + "]";
    }
    return spelling;
}

Result<NumpyType> readType(const PickleGraph &graph, NodeId node, int depth, std::size_t &left)
{
    const std::span<const NodeId> arguments = graph.arguments(node);
    if (depth > TypeDepth || graph.known(node) != KnownGlobal::NumpyDType || arguments.empty())
        return bad("its element type is not described");
    const PickleObject &object = *graph.object(node);
    const std::span<const NodeId> state = graph.items(graph.more(object).lastState());
    if (const PickleGlobal *extended = graph.global(arguments[0]))
        return extendedType(*extended);
    const std::string_view code = graph.text(arguments[0]);
    if (code.empty())
        return bad("its element type is not described");
    if (code.front() == 'O')
        return NumpyType{opaqueDType(8), ByteOrder::Little, 8, true, "|O"};
    const bool isCompound = state.size() > 4
        && (graph.is(state[3], PickleKind::Tuple) || graph.items(state[2]).size() == 2);
    if (isCompound)
        return compoundType(graph, state, depth, left);
    const std::string spelling = spellingOf(graph, code, state);
    auto description = numpyDescription(std::string_view(spelling));
    if (!description.ok())
        return bad(description.error().text);
    NumpyType type{description->dtype, description->order, description->bytes, false, spelling};
    if (type.itemBytes == 1)
        type.spelling.front() = '|';
    return type;
}

Result<NumpyArray> arrayOfState(const PickleGraph &graph, std::span<const NodeId> state)
{
    NumpyArray array;
    if (state.size() < 5)
        return bad("its state has " + std::to_string(state.size()) + " parts, not 5");
    const auto shape = pickledShape(graph, state[1]);
    if (!shape)
        return bad("its shape is not a tuple of sizes");
    array.shape = *shape;
    FP_TRY(array.type, pickledNumpyType(graph, state[2]));
    array.fortran = graph.is(state[3], PickleKind::Bool) && graph[state[3]].integer;
    if (array.type.isObject) {
        array.data = state[4];
        return array;
    }
    array.data = state[4];
    if (state.size() > 5)
        array.mask = state[5];
    if (state.size() > 6)
        array.fill = state[6];
    return array;
}

Result<NumpyArray> arrayOfBuffer(const PickleGraph &graph, std::span<const NodeId> arguments)
{
    NumpyArray array;
    if (arguments.size() < 4)
        return bad("_frombuffer takes 4 arguments");
    const auto shape = pickledShape(graph, arguments[2]);
    if (!shape)
        return bad("_frombuffer without a shape");
    FP_TRY(array.type, pickledNumpyType(graph, arguments[1]));
    array.data = arguments[0];
    array.shape = *shape;
    array.fortran = graph.text(arguments[3]) == "F";
    return array;
}

double halfToDouble(std::uint16_t bits)
{
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    double value = 0;
    if (exponent == 31)
        value = fraction ? std::nan("") : std::numeric_limits<double>::infinity();
    else
        value = std::ldexp(exponent ? fraction + 1024 : fraction, (exponent ? exponent : 1) - 25);
    return bits & 0x8000 ? -value : value;
}

std::optional<Value> numberOf(const std::string &name, const std::string &little)
{
    const std::byte *data = asBytes(little).data();
    if (name == "bool")
        return Value::boolean(little[0] != 0);
    if (name == "float64")
        return Value::real(loadLittle<double>(data));
    if (name == "float32")
        return Value::real(double(loadLittle<float>(data)));
    if (name == "float16")
        return Value::real(halfToDouble(loadLittle<std::uint16_t>(data)));
    if (name == "bfloat16")
        return Value::real(
            double(std::bit_cast<float>(std::uint32_t(loadLittle<std::uint16_t>(data)) << 16)));
    if (name == "int64")
        return Value::integer(loadLittle<std::int64_t>(data));
    if (name == "int32")
        return Value::integer(loadLittle<std::int32_t>(data));
    if (name == "int16")
        return Value::integer(loadLittle<std::int16_t>(data));
    if (name == "int8")
        return Value::integer(loadLittle<std::int8_t>(data));
    if (name == "uint64")
        return Value::unsignedInteger(loadLittle<std::uint64_t>(data));
    if (name == "uint32")
        return Value::integer(loadLittle<std::uint32_t>(data));
    if (name == "uint16")
        return Value::integer(loadLittle<std::uint16_t>(data));
    if (name == "uint8")
        return Value::integer(loadLittle<std::uint8_t>(data));
    return std::nullopt;
}

/// UCS-4 text of a numpy string scalar, without its trailing zeros; nothing for other numbers.
std::optional<std::string> fromUcs4(const std::string &bytes, ByteOrder order)
{
    std::string text;
    for (std::size_t i = 0; i + 4 <= bytes.size(); i += 4) {
        const std::byte *at = asBytes(bytes).data() + i;
        const auto code =
            order == ByteOrder::Big ? loadBig<std::uint32_t>(at) : loadLittle<std::uint32_t>(at);
        if (code > 0x10ffff)
            return std::nullopt;
        pickle::appendUtf8(text, code);
    }
    text.resize(text.find_last_not_of('\0') + 1);
    return text;
}

} // namespace

std::optional<Shape> pickledShape(const PickleGraph &graph, NodeId node)
{
    if (graph.known(node) == KnownGlobal::TorchSize && graph.arguments(node).size() == 1)
        node = graph.arguments(node)[0];
    if (!graph.is(node, PickleKind::Tuple) && !graph.is(node, PickleKind::List))
        return std::nullopt;
    if (graph.items(node).size() > ShapeItems)
        return std::nullopt;
    Shape shape;
    for (const NodeId item : graph.items(node)) {
        const auto size = pickledInteger(graph, item);
        if (!size || *size < 0)
            return std::nullopt;
        shape.dims.push_back(Index(*size));
    }
    return shape;
}

std::vector<std::int64_t> fortranStrides(const Shape &shape)
{
    std::vector<std::int64_t> strides(shape.rank());
    std::uint64_t step = 1;
    for (std::size_t i = 0; i < shape.rank(); ++i) {
        strides[i] = std::int64_t(step);
        step *= shape.dims[i];
    }
    return strides;
}

Result<NumpyType> pickledNumpyType(const PickleGraph &graph, NodeId node)
{
    std::size_t left = TypeFields;
    return readType(graph, node, 0, left);
}

Result<NumpyArray> pickledNumpyArray(const PickleGraph &graph, NodeId node)
{
    if (graph.known(node) == KnownGlobal::NumpyFromBuffer)
        return arrayOfBuffer(graph, graph.arguments(node));
    const PickleObject *object = graph.object(node);
    if (!object)
        return bad("is not described");
    return arrayOfState(graph, graph.items(graph.more(*object).lastState()));
}

Result<Value> pickledNumpyScalar(const PickleGraph &graph, NodeId node)
{
    const std::span<const NodeId> arguments = graph.arguments(node);
    if (arguments.size() != 2)
        return bad("a scalar takes a type and bytes");
    FP_TRY(const NumpyType type, pickledNumpyType(graph, arguments[0]));
    auto bytes = pickledBytes(graph, arguments[1]);
    if (!bytes || bytes->size() != type.itemBytes)
        return bad("a scalar of another length than its type");
    if (type.spelling.find('U') == 1) {
        auto text = fromUcs4(*bytes, type.spelling[0] == '>' ? ByteOrder::Big : ByteOrder::Little);
        if (!text)
            return bad("a scalar that is no text");
        return Value::text(std::move(*text));
    }
    if (type.order == ByteOrder::Big)
        bytes->assign(bytes->rbegin(), bytes->rend());
    if (auto value = numberOf(type.dtype.name, *bytes))
        return std::move(*value);
    const PrintedPickle shown = printPickle(graph, arguments[1], limits::PrintedText);
    Value value = Value::opaque("numpy." + type.spelling + "(" + shown.text + ")");
    if (!shown.complete)
        value.digest = sha256Hex(asBytes(*bytes));
    return value;
}

} // namespace forkpoint
