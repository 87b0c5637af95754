// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/extract.h"

#include "app/core/output_file.h"
#include "app/core/shown_name.h"
#include "loaders/arrays/numpy_dtype.h"
#include "loaders/limits.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

namespace forkpoint {

namespace {

constexpr std::uint64_t PieceBytes = 4u << 20;

/// numpy's type string of a number; "<V2" where numpy has none of its own.
std::string npyCode(const DType &dtype)
{
    const std::string bytes = std::to_string((dtype.positionBits() + 7) / 8);
    const std::string order = bytes == "1" ? "|" : "<";
    const bool ieee = dtype.layout.special == SpecialValues::Ieee;
    switch (dtype.kind) {
    case ElementKind::Bool: return "|b1";
    case ElementKind::SignedInt:
        return dtype.bits % 8 == 0 ? order + "i" + bytes : order + "V" + bytes;
    case ElementKind::UnsignedInt:
        return dtype.bits % 8 == 0 ? order + "u" + bytes : order + "V" + bytes;
    case ElementKind::Float:
        if (ieee && (dtype.name == "float16" || dtype.name == "float32" || dtype.name == "float64"))
            return order + "f" + bytes;
        break;
    case ElementKind::Complex:
        if (dtype.name == "complex64" || dtype.name == "complex128")
            return order + "c" + bytes;
        break;
    case ElementKind::Opaque: break;
    }
    return order + "V" + bytes;
}

/// What the header says of the type. Text, dates, long doubles and structured types are named as
/// numpy spells them.
std::string npyDescr(const DType &dtype)
{
    const auto means = [&](const auto &descr) {
        const auto read = numpyDescription(descr);
        return read.ok() && read->dtype == dtype;
    };
    if (dtype.kind == ElementKind::Opaque && means(std::string_view(dtype.name)))
        return "'" + dtype.name + "'";
    const auto fields = dtype.name.starts_with('[')
        ? parsePythonLiteral(dtype.name, limits::NpyDepth)
        : Result<PythonLiteral>(PythonLiteral());
    return fields.ok() && means(*fields) ? dtype.name : "'" + npyCode(dtype) + "'";
}

/// Magic, version and length before `text`; only version 3 has other letters than Latin ones.
std::string framedHeader(std::string text)
{
    const bool isAscii = std::all_of(text.begin(), text.end(),
                                     [](char c) { return static_cast<signed char>(c) >= 0; });
    const std::size_t before = isAscii ? 10 : 12;
    // The data begins at a multiple of 64.
    text.append(63 - (before + text.size()) % 64, ' ');
    text += '\n';
    std::string header =
        isAscii ? std::string("\x93NUMPY\x01\x00", 8) : std::string("\x93NUMPY\x03\x00", 8);
    for (std::size_t i = 0; i < before - 8; ++i)
        header += char(text.size() >> (8 * i));
    return header + text;
}

Result<std::string> npyHeader(const TensorRef &tensor)
{
    if (tensor.dtype.positionBits() % 8 != 0)
        return Error{ErrorCode::Unsupported,
                     {},
                     "tensor '" + tensor.name + "'",
                     tensor.dtype.name + " has no whole bytes, so no .npy; extract it raw"};
    std::string shape;
    for (const Index dim : tensor.shape.dims)
        shape += std::to_string(dim) + (tensor.shape.dims.size() == 1 ? "," : ", ");
    if (tensor.shape.dims.size() > 1)
        shape.resize(shape.size() - 2);
    std::string header = framedHeader("{'descr': " + npyDescr(tensor.dtype)
                                      + ", 'fortran_order': False, 'shape': (" + shape + "), }");
    if (header.size() > 0xffff)
        return Error{ErrorCode::Limit,
                     {},
                     "tensor '" + tensor.name + "'",
                     "has too many dimensions or fields for a .npy header"};
    return header;
}

/// Where the bytes go: a file that appears whole, or standard output.
class Sink
{
public:
    static Result<Sink> open(const std::string &file)
    {
        Sink sink;
        if (!file.empty()) {
            FP_TRY(auto output, OutputFile::create(file));
            sink.m_file = std::make_unique<OutputFile>(std::move(output));
        }
        return sink;
    }

    Status write(ByteView bytes)
    {
        if (m_file)
            return m_file->write(bytes);
        if (std::fwrite(bytes.data(), 1, bytes.size(), stdout) != bytes.size())
            return failed();
        return {};
    }

    Status finish()
    {
        if (m_file)
            return m_file->commit();
        if (std::fflush(stdout) != 0)
            return failed();
        return {};
    }

private:
    static Error failed()
    {
        return {ErrorCode::Io,
                "standard output",
                {},
                std::string("could not be written: ") + std::strerror(errno)};
    }

    std::unique_ptr<OutputFile> m_file;
};

const char *whyNoTensor(const Catalog &catalog, const std::string &name)
{
    return isValueOf(catalog, name) ? "is a value without elements: inspect shows it"
                                    : "is not in this checkpoint";
}

Status copyTensor(const TensorSource &source, TensorIndex index, Sink &sink)
{
    const std::uint64_t total = source.catalog().tensors[index].bytes;
    std::vector<std::byte> buffer(std::size_t(std::min(PieceBytes, total)));
    for (std::uint64_t first = 0; first < total; first += PieceBytes) {
        const auto window =
            std::span(buffer).first(std::size_t(std::min(PieceBytes, total - first)));
        FP_CHECK(source.read(index, first, window));
        FP_CHECK(sink.write(window));
    }
    return source.unchanged();
}

} // namespace

Status extractTensor(const TensorSource &source, const std::string &name, ExtractFormat format,
                     const std::string &file)
{
    const std::vector<TensorRef> &tensors = source.catalog().tensors;
    const ShownName found = findShown(tensors.size(), name, [&](std::size_t i, const NameTest &is) {
        return is(tensors[i].name);
    });
    if (!found.index)
        return Error{ErrorCode::NotFound,
                     {},
                     "tensor '" + name + "'",
                     found.isAmbiguous ? SeveralShownSo : whyNoTensor(source.catalog(), name)};
    const TensorIndex index = *found.index;
    const TensorRef &tensor = tensors[index];
    if (tensor.unreadable)
        return *tensor.unreadable;
    std::string header;
    if (format == ExtractFormat::Npy) {
        FP_TRY(header, npyHeader(tensor));
    }
    FP_TRY(Sink sink, Sink::open(file));
    FP_CHECK(sink.write(asBytes(header)));
    FP_CHECK(copyTensor(source, index, sink));
    return sink.finish();
}

} // namespace forkpoint
