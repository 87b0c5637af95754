// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/sharded/dcp_items.h"

#include "loaders/elements/extent_geometry.h"
#include "loaders/elements/extent_reader.h"
#include "loaders/elements/running_digest.h"
#include "loaders/limits.h"
#include "loaders/storage/zstd_source.h"
#include "loaders/torch/torch_container.h"
#include "model/bytes.h"

#include <algorithm>

namespace forkpoint {

namespace {

/// Encodings in a row: torch has one.
constexpr std::size_t Transforms = 4;

Error mismatch(std::string text)
{
    return {ErrorCode::Mismatch, {}, {}, std::move(text)};
}

/// The transform of "stream.zstd@domain/1".
std::string_view transformName(std::string_view descriptor)
{
    return descriptor.substr(0, descriptor.find_first_of("@/"));
}

std::uint64_t bytesOfTensor(const DType &dtype, const Shape &shape)
{
    return bytesOf(shape.count().value_or(0), dtype.positionBits()).value_or(0);
}

/// What the container of a tensor may decode to.
std::uint64_t decodedBytes(const DType &dtype, const Shape &shape)
{
    const std::uint64_t bytes = bytesOfTensor(dtype, shape);
    return checkedAdd(bytes, limits::DecodedObjectBytes).value_or(bytes);
}

/// The bytes of an item, its transforms taken off.
Result<std::shared_ptr<const ByteSource>> openItem(const std::shared_ptr<const ByteSource> &file,
                                                   const DcpItem &item, std::uint64_t cap)
{
    FP_TRY(auto part, WindowSource::make(file, item.offset, item.length, file->name()));
    std::shared_ptr<const ByteSource> source = std::move(part);
    if (item.transforms.size() > Transforms)
        return Error{ErrorCode::Limit, file->name(), {}, "is encoded too many times"};
    // Encoded by the first in the list first: the last one is taken off first.
    for (auto at = item.transforms.rbegin(); at != item.transforms.rend(); ++at) {
        if (transformName(*at) != "stream.zstd") {
            return Error{ErrorCode::Unsupported, file->name(),
                         "byte " + std::to_string(item.offset),
                         "is encoded as '" + escapeInvalidUtf8(*at) + "', known is stream.zstd"};
        }
        FP_TRY(source, openZstd(source, cap, file->name()));
    }
    return source;
}

/// Whether the record of every torch.save lies in what is none: a range that was cut elsewhere.
bool holdsPartOfZip(ByteView bytes)
{
    constexpr std::string_view Record = "/data.pkl";
    const auto *begin = reinterpret_cast<const char *>(bytes.data());
    return std::string_view(begin, bytes.size()).find(Record) != std::string_view::npos;
}

/// The one tensor that a container holds; its file is `part`'s.
Result<TensorRef> storedTensor(const std::shared_ptr<const ByteSource> &source, const DType &dtype,
                               const Shape &shape, const std::stop_token &stop,
                               const std::shared_ptr<TreeBudget> &budget, CheckpointBuilder &part)
{
    FP_CHECK(listTorchZip(source, {part, source->name(), {}, 0, stop, budget}));
    if (part.catalog().tensors.size() != 1)
        return mismatch("the stored object is no tensor");
    TensorRef tensor = part.catalog().tensors.front();
    if (tensor.unreadable)
        return *tensor.unreadable;
    if (tensor.extents.size() != 1)
        return mismatch("the stored tensor lies in several places");
    if (tensor.dtype.name == dtype.name && tensor.shape == shape)
        return tensor;
    return mismatch("must be " + dtype.name + " " + shape.toString() + ", is " + tensor.dtype.name
                    + " " + tensor.shape.toString());
}

/// The row-major elements of a piece whose container is opened at each read: pieces that are so
/// many are small, and nothing is to be kept for each.
class LaterShard final : public ByteSource
{
public:
    LaterShard(std::shared_ptr<const ByteSource> file, DcpItem item, DType dtype, Shape shape)
        : m_file(std::move(file)),
          m_item(std::move(item)),
          m_dtype(std::move(dtype)),
          m_shape(std::move(shape))
    {
    }

    const std::string &name() const override { return m_file->name(); }
    std::uint64_t size() const override { return bytesOfTensor(m_dtype, m_shape); }
    Status unchanged() const override { return m_file->unchanged(); }
    Status read(std::uint64_t offset, MutableByteView out) const override
    {
        FP_TRY(const auto source, openItem(m_file, m_item, decodedBytes(m_dtype, m_shape)));
        CheckpointBuilder part;
        auto stored =
            storedTensor(source, m_dtype, m_shape, {}, std::make_shared<TreeBudget>(), part);
        if (!stored.ok())
            return std::move(stored).error().inFile(name());
        FP_CHECK(validateExtents(*stored, part.files()));
        return readExtents(*stored, part.files(), offset, out);
    }

private:
    std::shared_ptr<const ByteSource> m_file;
    DcpItem m_item;
    DType m_dtype;
    Shape m_shape;
};

} // namespace

DcpItems::DcpItems(const DirectoryView &view, const DcpMetadata &metadata,
                   CheckpointBuilder &builder, std::stop_token stop)
    : m_view(view),
      m_metadata(metadata),
      m_builder(builder),
      m_stop(std::move(stop)),
      m_files(metadata.files.size())
{
    std::size_t pieces = metadata.objects.size();
    for (const DcpTensor &tensor : metadata.tensors)
        pieces += tensor.chunks.size();
    m_isLarge = pieces > limits::EagerPieces;
}

DcpItems::File &DcpItems::file(std::uint32_t number)
{
    File &file = m_files[number];
    if (std::exchange(file.opened, true))
        return file;
    const std::string &name = m_metadata.files[number];
    auto source = m_view.open(name);
    if (!source.ok()) {
        file.problem = source.error();
        m_builder.addDiagnostic(*file.problem, Severity::Error);
        m_builder.setIncomplete();
        return file;
    }
    file.source = std::move(source).value();
    file.index = m_builder.addFile(file.source);
    if (const auto rank = rankOfDcpFile(name))
        file.owner = m_builder.addOwner({{{"rank", *rank}}});
    return file;
}

const std::optional<Error> &DcpItems::problemOf(std::uint32_t number)
{
    return file(number).problem;
}

Result<TensorRef> DcpItems::shard(const DcpItem &item, const DType &dtype, const Shape &shape)
{
    const File &from = file(item.file);
    if (from.problem)
        return *from.problem;
    if (m_isLarge)
        return laterShard(item, dtype, shape);
    FP_TRY(const auto source, openItem(from.source, item, decodedBytes(dtype, shape)));
    CheckpointBuilder part;
    FP_TRY(TensorRef tensor, storedTensor(source, dtype, shape, m_stop, m_budget, part));
    for (const Diagnostic &diagnostic : part.catalog().diagnostics)
        m_builder.addDiagnostic(diagnostic);
    for (const Finding &finding : part.catalog().findings)
        m_builder.addFinding(finding);
    Extent &extent = tensor.extents.front();
    if (part.file(extent.file) == source && item.transforms.empty()) {
        extent.offset += item.offset; // inside the data file itself
        extent.file = from.index;
    } else {
        extent.file = m_builder.addFile(part.file(extent.file));
    }
    extent.owner = from.owner;
    return tensor;
}

TensorRef DcpItems::laterShard(const DcpItem &item, const DType &dtype, const Shape &shape)
{
    const File &from = file(item.file);
    TensorRef tensor;
    tensor.dtype = dtype;
    tensor.shape = shape;
    Extent extent;
    extent.file = m_builder.addFile(std::make_shared<LaterShard>(from.source, item, dtype, shape));
    extent.owner = from.owner;
    extent.length = m_builder.file(extent.file)->size();
    extent.box = {std::vector<Index>(shape.rank(), 0), shape.dims};
    extent.strides = shape.rowMajorStrides();
    tensor.extents = {std::move(extent)};
    return tensor;
}

Status DcpItems::object(const DcpItem &item, const KeyPath &path)
{
    const File &from = file(item.file);
    if (from.problem)
        return *from.problem;
    FP_TRY(const auto source, openItem(from.source, item, limits::DecodedObjectBytes));
    const TreeContext context{m_builder, source->name(), path, 0, m_stop, m_budget};
    const std::uint64_t headBytes = std::min<std::uint64_t>(source->size(), 16);
    FP_TRY(const auto head, readAll(*source, 0, headBytes, headBytes));
    if (isZip(head))
        return listTorchZip(source, context);
    if (isLegacyStream(head))
        return listTorchLegacy(source, context);
    if (isBinaryPickle(head))
        return listBarePickle(source, context);
    // A stream that the writer was handed as it is.
    FP_TRY(const auto bytes, readAll(*source, 0, source->size(), limits::DecodedObjectBytes));
    if (holdsPartOfZip(bytes))
        return mismatch("holds a part of a torch.save, and does not begin with one");
    Value value;
    value.type = ValueType::Bytes;
    value.count = bytes.size();
    value.digest = sha256Hex(bytes);
    m_builder.addValue({path, {}, StateClass::Unknown, std::move(value), source->name()});
    return {};
}

} // namespace forkpoint
