// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/hdf5_tensors.h"

#include "loaders/chunked_source.h"
#include "loaders/dtype_override.h"
#include "loaders/field_source.h"
#include "loaders/file_source.h"
#include "loaders/hdf5_client.h"
#include "loaders/hdf5_dtype.h"
#include "loaders/hdf5_virtual.h"
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

void Hdf5Tensors::addAll()
{
    for (const Hdf5Dataset &dataset : m_contents.datasets)
        add(dataset);
}

void Hdf5Tensors::add(const Hdf5Dataset &dataset)
{
    tellLargeChunks(dataset);
    const auto bytes = bytesOf(dataset, m_file);
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

Result<Hdf5Tensors::Bytes> Hdf5Tensors::bytesOf(const Hdf5Dataset &dataset,
                                                const std::shared_ptr<const ByteSource> &file) const
{
    if (dataset.layout == Hdf5Dataset::Layout::Virtual)
        return Bytes{}; // each part has its own
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
        return Bytes{file, dataset.offset};
    case Hdf5Dataset::Layout::Compact:
        if (dataset.bytes.size() != *bytes)
            return bad(ErrorCode::Malformed, "has another number of bytes than its shape needs");
        return Bytes{std::make_shared<MemorySource>(file->name(), dataset.bytes), 0};
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
        && (field.scalar.name == "reference" || field.scalar.name.starts_with("variable-length"));
    if (isElsewhere) {
        return m_builder.addUnreadable(std::move(tensor),
                                       bad(ErrorCode::Unsupported,
                                           "members of a compound type that are lists, arrays of "
                                           "text or references are not read"));
    }
    if (dataset.layout == Hdf5Dataset::Layout::Virtual) {
        auto extents = virtualExtents(dataset, number, tensor);
        if (!extents.ok()) {
            Error error = std::move(extents).error();
            error.text = "virtual dataset: " + error.text;
            return m_builder.addUnreadable(std::move(tensor), std::move(error));
        }
        tensor.extents = std::move(*extents);
        return m_builder.addTensor(std::move(tensor));
    }
    auto extent = extentOf(dataset, field, tensor, *bytes);
    if (!extent.ok())
        return m_builder.addUnreadable(std::move(tensor), extent.error());
    tensor.extents = {std::move(*extent)};
    m_builder.addTensor(std::move(tensor));
}

/// What its sources show of a field, and the fill value everywhere else.
Result<std::vector<Extent>> Hdf5Tensors::virtualExtents(const Hdf5Dataset &dataset,
                                                        std::size_t number, const TensorRef &tensor)
{
    const Hdf5Field &field = dataset.fields[number];
    std::vector<Extent> extents;
    std::vector<Box> covered;
    std::uint64_t shown = 0;
    for (Hdf5Mapping mapping : dataset.mappings) {
        FP_TRY(const Source source, sourceOf(mapping));
        const std::string name = "'" + mapping.dataset + "' of '" + mapping.file + "'";
        if (source.dataset->layout == Hdf5Dataset::Layout::Virtual)
            return bad(ErrorCode::Unsupported, "shows " + name + ", which is virtual itself");
        if (number >= source.dataset->fields.size()
            || source.dataset->fields[number].scalar != field.scalar
            || source.dataset->fields.size() != dataset.fields.size()
            || source.dataset->fields[number].loops != field.loops)
            return bad(ErrorCode::Unsupported, "shows " + name + ", which is of another type");
        FP_TRY(const Bytes bytes, bytesOf(*source.dataset, source.file));
        TensorRef whole;
        whole.shape.dims = source.dataset->dims;
        for (const Hdf5Field::Loop &loop : field.loops) {
            whole.shape.dims.push_back(loop.count);
            for (auto *list : {&mapping.begin, &mapping.sourceBegin}) {
                if (list == &mapping.begin || !mapping.sourceSize.empty())
                    list->push_back(0);
            }
            mapping.size.push_back(loop.count);
            if (!mapping.sourceSize.empty())
                mapping.sourceSize.push_back(loop.count);
        }
        FP_TRY(const Extent all,
               extentOf(*source.dataset, source.dataset->fields[number], whole, bytes));
        FP_TRY(Extent extent, placed(all, whole.shape, mapping, tensor.shape));
        shown += Shape{extent.box.size}.count().value_or(0) * field.scalar.size;
        covered.push_back(extent.box);
        extents.push_back(std::move(extent));
    }
    const auto count = tensor.shape.count();
    const auto needed = count ? checkedMul(*count, field.scalar.size) : std::nullopt;
    if (!needed)
        return bad(ErrorCode::Limit, "its shape exceeds 64 bits");
    if (*needed > limits::SparseBytes && shown < *needed / limits::SparseRatio)
        return bad(ErrorCode::Limit,
                   "shows less than a thousandth of its " + std::to_string(*needed) + " bytes");
    FP_TRY(const std::vector<Box> open, uncovered(tensor.shape, covered));
    const auto isSet = [](std::byte each) { return each != std::byte(0); };
    const bool isTold = dataset.fill.size() >= field.offset + field.scalar.size
        && (field.loops.empty() || std::none_of(dataset.fill.begin(), dataset.fill.end(), isSet));
    if (!open.empty() && !isTold)
        return bad(ErrorCode::Unsupported, "has a fill value that is not known or an array");
    for (const Box &box : open) {
        Extent extent;
        extent.fills = Extent::Fills::FillValue;
        extent.box = box;
        extent.fill.assign(dataset.fill.begin() + std::ptrdiff_t(field.offset),
                           dataset.fill.begin() + std::ptrdiff_t(field.offset + field.scalar.size));
        if (field.scalar.bigEndian)
            std::reverse(extent.fill.begin(), extent.fill.end());
        extents.push_back(std::move(extent));
    }
    return extents;
}

Result<Hdf5Tensors::Source> Hdf5Tensors::sourceOf(const Hdf5Mapping &mapping)
{
    Source source;
    const Hdf5Contents *contents = &m_contents;
    source.file = m_file;
    if (mapping.file != ".") {
        FP_TRY(const Other *const other, otherFile(mapping.file));
        contents = &other->contents;
        source.file = other->file;
    }
    for (const Hdf5Dataset &dataset : contents->datasets) {
        std::string path;
        for (const std::string &name : dataset.path)
            path += "/" + name;
        if (path == mapping.dataset || path == "/" + mapping.dataset)
            source.dataset = &dataset;
    }
    if (source.dataset == nullptr)
        return bad(ErrorCode::NotFound,
                   "shows '" + mapping.dataset + "' of '" + mapping.file
                       + "', which has no such dataset");
    return source;
}

/// Beneath the folder of the virtual dataset alone; what is elsewhere is refused.
Result<const Hdf5Tensors::Other *> Hdf5Tensors::otherFile(const std::string &name)
{
    constexpr std::size_t Files = 1024;
    auto known = m_others.find(name);
    if (known == m_others.end()) {
        if (m_others.size() == Files)
            return bad(ErrorCode::Limit,
                       "has its data in more than " + std::to_string(Files) + " files");
        const auto open = [&]() -> Result<Other> {
            const auto *const own = dynamic_cast<const FileSource *>(m_file.get());
            if (own == nullptr)
                return bad(ErrorCode::Refused,
                           "its data lie in another file ('" + name
                               + "'), which cannot be opened from here");
            auto file = own->openBeside(name, name);
            if (!file.ok())
                return bad(file.error().code,
                           "its data lie in another file ('" + name + "'): " + file.error().text);
            FP_TRY(Hdf5Contents contents, describeHdf5(**file, m_options.hdf5Worker, m_stop));
            return Other{std::move(*file), std::move(contents)};
        };
        known = m_others.emplace(name, open()).first;
    }
    if (!known->second.ok())
        return known->second.error();
    return &*known->second;
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
            tensor.note =
                tensor.dtype.name + " is read as " + entry.dtype.name + ", " + askedForText(entry);
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
