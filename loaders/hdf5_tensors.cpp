// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/hdf5_tensors.h"

#include "loaders/chunked_source.h"
#include "loaders/field_source.h"
#include "loaders/hdf5_dtype.h"
#include "loaders/limits.h"

#include <algorithm>

namespace forkpoint {

namespace {

KeyPath pathOf(const Hdf5Dataset &dataset, const Hdf5Field &field)
{
    KeyPath path;
    for (const std::string &name : dataset.path)
        path.keys.push_back(Key::of(name));
    for (const std::string &name : field.path)
        path.keys.push_back(Key::of(name));
    return path;
}

Error bad(ErrorCode code, std::string text)
{
    return {code, {}, {}, std::move(text)};
}

/// Bytes of all elements; nothing where 64 bits do not suffice.
std::optional<std::uint64_t> logicalBytes(const Hdf5Dataset &dataset)
{
    const auto count = Shape{dataset.dims}.count();
    return count ? checkedMul(*count, dataset.elementSize) : std::nullopt;
}

std::uint64_t storedBytes(const Hdf5Dataset &dataset)
{
    std::uint64_t stored = 0;
    for (const Hdf5Chunk &chunk : dataset.chunks)
        stored += chunk.size;
    return stored;
}

/// A few bytes must not stand for petabytes of fill value.
Status checkSparse(const Hdf5Dataset &dataset, std::uint64_t bytes)
{
    const std::uint64_t stored = storedBytes(dataset);
    if (bytes <= limits::SparseBytes || stored >= bytes / limits::SparseRatio)
        return {};
    return bad(ErrorCode::Limit,
               "its shape says " + std::to_string(bytes) + " bytes, " + std::to_string(stored)
                   + " are stored: more than " + std::to_string(limits::SparseBytes)
                   + " bytes must be stored to a thousandth at least");
}

} // namespace

void Hdf5Tensors::add(const Hdf5Dataset &dataset)
{
    tellLargeChunks(dataset);
    const auto bytes = bytesOf(dataset);
    for (std::size_t i = 0; i < dataset.fields.size(); ++i)
        addField(dataset, i, bytes);
}

/// A small file that needs much memory is worth a word.
void Hdf5Tensors::tellLargeChunks(const Hdf5Dataset &dataset)
{
    constexpr std::uint64_t Large = std::uint64_t(16) << 20;
    const auto count = Shape{dataset.chunkDims}.count();
    const auto bytes = count ? checkedMul(*count, dataset.elementSize) : std::nullopt;
    const bool isBomb = bytes && *bytes >= Large
        && std::any_of(dataset.chunks.begin(), dataset.chunks.end(), [&](const Hdf5Chunk &chunk) {
                            return chunk.size < *bytes / limits::SparseRatio;
                        });
    if (!isBomb)
        return;
    m_builder.addDiagnostic({Severity::Note, "compression-ratio", m_file->name(),
                             "tensor '" + pathOf(dataset, {}).toString() + "'",
                             "chunks of less than a thousandth of the " + std::to_string(*bytes)
                                 + " bytes to which they decode"});
}

Result<Hdf5Tensors::Bytes> Hdf5Tensors::bytesOf(const Hdf5Dataset &dataset) const
{
    if (dataset.layout == Hdf5Dataset::Layout::Unreadable)
        return bad(dataset.problemCode, dataset.problem);
    const auto bytes = logicalBytes(dataset);
    if (!bytes)
        return bad(ErrorCode::Limit, "its shape exceeds 64 bits");
    switch (dataset.layout) {
    case Hdf5Dataset::Layout::Contiguous:
        if (dataset.length < *bytes) {
            return bad(ErrorCode::Malformed,
                       "its shape needs " + std::to_string(*bytes) + " bytes, stored are "
                           + std::to_string(dataset.length));
        }
        return Bytes{m_file, dataset.offset};
    case Hdf5Dataset::Layout::Compact:
        if (dataset.bytes.size() != *bytes)
            return bad(ErrorCode::Malformed, "has another number of bytes than its shape needs");
        return Bytes{std::make_shared<MemorySource>(m_file->name(), dataset.bytes), 0};
    default: break;
    }
    FP_CHECK(checkSparse(dataset, *bytes));
    ChunkedArray array;
    array.shape.dims = dataset.dims;
    array.chunkDims = dataset.chunkDims;
    if (dataset.layout == Hdf5Dataset::Layout::Unallocated)
        array.chunkDims.assign(dataset.dims.size(), 1);
    array.elementSize = dataset.elementSize;
    array.filters = dataset.filters;
    array.chunks = dataset.chunks;
    array.fill = dataset.fill;
    FP_TRY(auto source, ChunkedSource::make(m_file, std::move(array), m_file->name()));
    return Bytes{std::move(source), 0};
}

void Hdf5Tensors::addField(const Hdf5Dataset &dataset, std::size_t number,
                           const Result<Bytes> &bytes)
{
    const Hdf5Field &field = dataset.fields[number];
    TensorRef tensor;
    tensor.path = pathOf(dataset, field);
    tensor.files = {m_file->name()};
    tensor.shape.dims = dataset.dims;
    for (const Hdf5Field::Loop &loop : field.loops)
        tensor.shape.dims.push_back(loop.count);
    interpret(dataset, field, tensor);
    const auto [storage, isNew] = m_storages.try_emplace({dataset.object, number}, 0);
    if (isNew)
        storage->second = m_builder.newStorage();
    tensor.storage = storage->second;
    if (!bytes.ok())
        return m_builder.addUnreadable(std::move(tensor), bytes.error());
    const bool isElsewhere = field.scalar.kind == Hdf5Scalar::Kind::Opaque
        && (field.scalar.name == "reference" || field.scalar.name == "variable-length");
    if (isElsewhere) {
        return m_builder.addUnreadable(std::move(tensor),
                                       bad(ErrorCode::Unsupported,
                                           "members of a compound type that are text of any "
                                           "length, lists or references are not read"));
    }
    auto extent = extentOf(dataset, field, tensor, *bytes);
    if (!extent.ok())
        return m_builder.addUnreadable(std::move(tensor), extent.error());
    tensor.extents = {std::move(*extent)};
    m_builder.addTensor(std::move(tensor));
}

Result<Extent> Hdf5Tensors::extentOf(const Hdf5Dataset &dataset, const Hdf5Field &field,
                                     const TensorRef &tensor, const Bytes &bytes)
{
    const auto count = tensor.shape.count();
    const auto length = count ? checkedMul(*count, field.scalar.size) : std::nullopt;
    if (!length)
        return bad(ErrorCode::Limit, "its shape exceeds 64 bits");
    Extent extent;
    extent.order = field.scalar.bigEndian ? ByteOrder::Big : ByteOrder::Little;
    extent.box = {std::vector<Index>(tensor.shape.rank(), 0), tensor.shape.dims};
    extent.strides = tensor.shape.rowMajorStrides();
    extent.length = *length;
    // An element that is its one member needs no gathering.
    const bool isWhole =
        dataset.fields.size() == 1 && *length == logicalBytes(dataset).value_or(~std::uint64_t(0));
    if (isWhole || *length == 0) {
        extent.file = fileIndex(bytes.source);
        extent.offset = *length == 0 ? 0 : bytes.begin;
        return extent;
    }
    FieldPlace place;
    place.records = Shape{dataset.dims}.count().value_or(0);
    place.recordSize = dataset.elementSize;
    place.offset = field.offset;
    for (const Hdf5Field::Loop &loop : field.loops)
        place.loops.push_back({loop.count, loop.stride});
    place.width = field.scalar.size;
    FP_TRY(auto source,
           FieldSource::make(bytes.source, bytes.begin, std::move(place), m_file->name()));
    extent.file = fileIndex(source);
    return extent;
}

/// The element type: what the file says, an attribute adds or the user knows.
void Hdf5Tensors::interpret(const Hdf5Dataset &dataset, const Hdf5Field &field, TensorRef &tensor)
{
    Hdf5DType meant = dtypeOf(field.scalar);
    tensor.dtype = std::move(meant.dtype);
    tensor.note = std::move(meant.note);
    if (tensor.dtype != opaqueDType(field.scalar.size) || !tensor.note.empty())
        return;
    const std::string name = tensor.path.toString();
    for (const DTypeOverride &entry : m_options.dtypes) {
        if (entry.dtype.positionBits() == tensor.dtype.bits && globMatches(entry.glob, name)) {
            tensor.note = tensor.dtype.name + " is read as " + entry.dtype.name
                + ", as asked for by '" + entry.glob + "'";
            tensor.dtype = entry.dtype;
            return;
        }
    }
    const auto declared = dtypeByName(dataset.declaredType);
    if (!declared || declared->positionBits() != tensor.dtype.bits)
        return;
    tensor.note = tensor.dtype.name + " is read as " + declared->name + ", as its attribute says";
    tensor.dtype = *declared;
}

FileIndex Hdf5Tensors::fileIndex(const std::shared_ptr<const ByteSource> &source)
{
    const auto [known, isNew] = m_files.try_emplace(source.get(), 0);
    if (isNew)
        known->second = m_builder.addFile(source);
    return known->second;
}

} // namespace forkpoint
