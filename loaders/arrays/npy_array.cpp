// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/arrays/npy_array.h"

#include "loaders/elements/dtype_override.h"
#include "loaders/limits.h"
#include "model/state_class.h"

#include <algorithm>

namespace forkpoint {

namespace {

constexpr std::string_view Magic("\x93NUMPY", 6);
constexpr std::size_t VersionBytes = 2;

Error bad(std::string text, ErrorCode code = ErrorCode::Malformed)
{
    return {code, {}, "header", std::move(text)};
}

struct HeaderText
{
    std::string text;
    std::uint64_t end = 0;
};

Result<HeaderText> readHeaderText(const ByteSource &source)
{
    const std::uint64_t start = Magic.size() + VersionBytes;
    FP_TRY(const auto head, readAll(source, 0, start, start));
    if (!hasNpyMagic(head))
        return bad("must begin with \\x93NUMPY");
    const unsigned major = std::to_integer<unsigned>(head[Magic.size()]);
    const unsigned minor = std::to_integer<unsigned>(head[Magic.size() + 1]);
    if (major < 1 || major > 3 || minor != 0) {
        return bad("version must be 1.0, 2.0 or 3.0, is " + std::to_string(major) + "."
                       + std::to_string(minor),
                   ErrorCode::Unsupported);
    }
    const std::uint64_t lengthBytes = major == 1 ? 2 : 4;
    FP_TRY(const auto number, readAll(source, start, lengthBytes, lengthBytes));
    const std::uint64_t length = major == 1 ? loadLittle<std::uint16_t>(number.data())
                                            : loadLittle<std::uint32_t>(number.data());
    const std::uint64_t begin = start + lengthBytes;
    if (length > source.size() - begin) {
        return bad("ends at byte " + std::to_string(begin + length) + ", file has "
                       + std::to_string(source.size()),
                   ErrorCode::Truncated);
    }
    FP_TRY(const auto text, readAll(source, begin, length, limits::NpyHeaderBytes));
    return HeaderText{std::string(asText(text)), begin + length};
}

Result<Shape> shapeOf(const PythonLiteral &literal)
{
    if (literal.kind != PythonLiteral::Kind::Tuple)
        return bad("shape must be a tuple, is " + literal.toString().substr(0, 100));
    if (literal.items.size() > limits::Rank) {
        return bad("may have at most " + std::to_string(limits::Rank) + " dimensions, has "
                       + std::to_string(literal.items.size()),
                   ErrorCode::Limit);
    }
    Shape shape;
    for (const PythonLiteral &item : literal.items) {
        if (item.kind != PythonLiteral::Kind::Integer || item.integer < 0)
            return bad("a dimension must be an integer from 0 on, is "
                       + item.toString().substr(0, 100));
        shape.dims.push_back(Index(item.integer));
    }
    return shape;
}

Result<NpyHeader> parseHeader(const HeaderText &header)
{
    auto parsed = parsePythonLiteral(header.text, limits::NpyDepth);
    if (!parsed.ok())
        return std::move(parsed).error().atPlace("header");
    const PythonLiteral &root = *parsed;
    const PythonLiteral *const descr = root.find("descr");
    const PythonLiteral *const order = root.find("fortran_order");
    const PythonLiteral *const shape = root.find("shape");
    if (descr == nullptr || order == nullptr || shape == nullptr || root.keys.size() != 3)
        return bad("must be a dictionary of descr, fortran_order and shape");
    if (order->kind != PythonLiteral::Kind::Bool)
        return bad("fortran_order must be True or False, is " + order->toString().substr(0, 100));

    NpyHeader result;
    result.dataOffset = header.end;
    result.fortran = order->boolean;
    auto type = numpyDescription(*descr);
    if (!type.ok())
        return std::move(type).error().atPlace("header");
    result.type = std::move(*type);
    FP_TRY(result.shape, shapeOf(*shape));
    const auto count = result.shape.count();
    if (result.type.bytes == 0 && count != Index(0)) {
        // Counting or comparing them would take time that no byte of the file pays for.
        return bad("elements must have bytes, " + descr->toString().substr(0, 100) + " has none",
                   ErrorCode::Unsupported);
    }
    const auto bytes = count ? checkedMul(*count, result.type.bytes) : std::nullopt;
    if (!bytes)
        return bad("shape " + result.shape.toString()
                   + " overflows 64 bits: its bytes must be fewer than 2^64");
    result.dataBytes = *bytes;
    return result;
}

/// "float8_e5m2" of "layer.float8_e5m2" or "dtype_float8_e5m2".
std::optional<DType> dtypeInName(std::string_view name, std::uint32_t bits)
{
    for (const DType &dtype : allDTypes()) {
        if (dtype.positionBits() != bits || dtype.kind == ElementKind::Opaque
            || !name.ends_with(dtype.name))
            continue;
        const std::string_view before = name.substr(0, name.size() - dtype.name.size());
        if (!before.empty() && std::string_view("_-.").find(before.back()) != before.npos)
            return dtype;
    }
    return std::nullopt;
}

struct Interpretation
{
    DType dtype;
    std::string reason;
};

/// What else than the file says which type void elements have.
std::optional<Interpretation> interpretation(const NpyHeader &header, const std::string &label,
                                             const OpenOptions &options)
{
    if (header.type.dtype != opaqueDType(header.type.bytes) || header.type.bytes == 0)
        return std::nullopt;
    for (const DTypeOverride &entry : options.dtypes) {
        const bool fits = entry.dtype.positionBits() == header.type.dtype.bits;
        if (fits && globMatches(entry.glob, label))
            return Interpretation{entry.dtype, askedForText(entry)};
    }
    if (const auto dtype = dtypeInName(label, header.type.dtype.bits))
        return Interpretation{*dtype, "as its name says"};
    return std::nullopt;
}

std::vector<std::int64_t> columnMajorStrides(const Shape &shape)
{
    std::vector<std::int64_t> strides;
    std::uint64_t step = 1;
    for (const Index dim : shape.dims) {
        strides.push_back(std::int64_t(step));
        step *= dim; // wraps only where there is no element
    }
    return strides;
}

} // namespace

bool hasNpyMagic(ByteView head)
{
    return asText(head).starts_with(Magic);
}

Result<NpyHeader> readNpyHeader(const ByteSource &source)
{
    auto text = readHeaderText(source);
    auto header = text.ok() ? parseHeader(*text) : Result<NpyHeader>(std::move(text).error());
    if (!header.ok())
        return std::move(header).error().inFile(source.name());
    return header;
}

Result<TensorRef> npyTensor(const std::shared_ptr<const ByteSource> &source,
                            const std::string &label, const OpenOptions &options,
                            CheckpointBuilder &builder)
{
    FP_TRY(const NpyHeader header, readNpyHeader(*source));
    const std::uint64_t there = source->size() - header.dataOffset;
    if (header.dataBytes > there) {
        return Error{ErrorCode::Truncated,
                     source->name(),
                     {},
                     "data needs " + std::to_string(header.dataBytes) + " bytes, file has "
                         + std::to_string(there) + " of them"};
    }
    const std::uint64_t end = header.dataOffset + header.dataBytes;
    if (header.dataBytes < there) {
        builder.addDiagnostic({Severity::Error, "trailing-bytes", source->name(),
                               "byte " + std::to_string(end),
                               std::to_string(there - header.dataBytes)
                                   + " bytes follow the array and are not listed"});
        builder.setIncomplete();
    }
    TensorRef tensor;
    tensor.shape = header.shape;
    tensor.dtype = header.type.dtype;
    if (const auto meant = interpretation(header, label, options)) {
        tensor.dtype = meant->dtype;
        builder.addDiagnostic(
            {Severity::Note,
             "dtype-from-name",
             source->name(),
             {},
             header.type.dtype.name + " is read as " + meant->dtype.name + ", " + meant->reason});
    }
    Extent extent;
    extent.file = builder.addFile(source);
    extent.offset = header.dataOffset;
    extent.length = header.dataBytes;
    extent.order = header.type.order;
    extent.box = {std::vector<Index>(header.shape.rank(), 0), header.shape.dims};
    extent.strides =
        header.fortran ? columnMajorStrides(header.shape) : header.shape.rowMajorStrides();
    tensor.extents = {std::move(extent)};
    return tensor;
}

} // namespace forkpoint
