// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/hdf5/hdf5_bytes.h"

#include "loaders/elements/field_source.h"
#include "loaders/hdf5/chunked_source.h"
#include "loaders/limits.h"

#include <algorithm>

namespace forkpoint {

namespace {

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

Shape shapeOf(const std::vector<std::uint64_t> &dims, const Hdf5Field &field)
{
    Shape shape{dims};
    for (const Hdf5Field::Loop &loop : field.loops)
        shape.dims.push_back(loop.count);
    return shape;
}

Result<Hdf5Bytes::Stored> Hdf5Bytes::storedBytes(const Hdf5Dataset &dataset,
                                                 const std::shared_ptr<const ByteSource> &file)
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
        return Stored{file, dataset.offset};
    case Hdf5Dataset::Layout::Compact:
        if (dataset.bytes.size() != *bytes)
            return bad(ErrorCode::Malformed, "has another number of bytes than its shape needs");
        return Stored{std::make_shared<MemorySource>(file->name(), dataset.bytes), 0};
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
    FP_TRY(auto source, ChunkedSource::make(file, std::move(array), file->name()));
    return Stored{std::move(source), 0};
}

Result<Extent> Hdf5Bytes::extentOf(const Hdf5Dataset &dataset, const Hdf5Field &field,
                                   const Shape &shape, const Stored &bytes)
{
    const auto count = shape.count();
    const auto length = count ? checkedMul(*count, field.scalar.size) : std::nullopt;
    if (!length)
        return bad(ErrorCode::Limit, "its shape exceeds 64 bits");
    Extent extent;
    extent.order = field.scalar.bigEndian ? ByteOrder::Big : ByteOrder::Little;
    extent.box = {std::vector<Index>(shape.rank(), 0), shape.dims};
    extent.strides = shape.rowMajorStrides();
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
    FP_TRY(auto source, FieldSource::make(bytes.source, bytes.begin, std::move(place), m_name));
    extent.file = fileIndex(source);
    return extent;
}

FileIndex Hdf5Bytes::fileIndex(const std::shared_ptr<const ByteSource> &source)
{
    const auto [known, isNew] = m_files.try_emplace(source.get(), 0);
    if (isNew)
        known->second = m_builder.addFile(source);
    return known->second;
}

} // namespace forkpoint
