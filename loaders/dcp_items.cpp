// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/dcp_items.h"

#include "loaders/limits.h"
#include "loaders/running_digest.h"
#include "loaders/torch_container.h"
#include "loaders/zstd_source.h"
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

} // namespace

DcpItems::DcpItems(const DirectoryView &view, const DcpMetadata &metadata,
                   CheckpointBuilder &builder, std::stop_token stop)
    : m_view(view),
      m_metadata(metadata),
      m_builder(builder),
      m_stop(std::move(stop)),
      m_files(metadata.files.size())
{
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

Result<std::shared_ptr<const ByteSource>> DcpItems::window(const DcpItem &item, std::uint64_t cap)
{
    const File &from = file(item.file);
    if (from.problem)
        return *from.problem;
    FP_TRY(auto part,
           WindowSource::make(from.source, item.offset, item.length, from.source->name()));
    std::shared_ptr<const ByteSource> source = std::move(part);
    if (item.transforms.size() > Transforms)
        return Error{ErrorCode::Limit, from.source->name(), {}, "is encoded too many times"};
    // Encoded by the first in the list first: the last one is taken off first.
    for (auto at = item.transforms.rbegin(); at != item.transforms.rend(); ++at) {
        if (transformName(*at) != "stream.zstd") {
            return Error{ErrorCode::Unsupported, from.source->name(),
                         "byte " + std::to_string(item.offset),
                         "is encoded as '" + escapeInvalidUtf8(*at) + "', known is stream.zstd"};
        }
        FP_TRY(source, openZstd(source, cap, from.source->name()));
    }
    return source;
}

Result<TensorRef> DcpItems::shard(const DcpItem &item, std::uint64_t expectedBytes)
{
    const std::uint64_t cap =
        checkedAdd(expectedBytes, limits::DecodedObjectBytes).value_or(expectedBytes);
    FP_TRY(const auto source, window(item, cap));
    CheckpointBuilder part;
    const std::string &name = source->name();
    FP_CHECK(listTorchZip(source, {part, name, {}, 0, m_stop, m_budget}));
    for (const Diagnostic &diagnostic : part.catalog().diagnostics)
        m_builder.addDiagnostic(diagnostic);
    for (const Finding &finding : part.catalog().findings)
        m_builder.addFinding(finding);
    if (part.catalog().tensors.size() != 1)
        return mismatch("the stored object is no tensor");
    TensorRef tensor = part.catalog().tensors.front();
    if (tensor.unreadable)
        return *tensor.unreadable;
    if (tensor.extents.size() != 1)
        return mismatch("the stored tensor lies in several places");
    Extent &extent = tensor.extents.front();
    if (part.file(extent.file) == source && item.transforms.empty()) {
        extent.offset += item.offset; // inside the data file itself
        extent.file = file(item.file).index;
    } else {
        extent.file = m_builder.addFile(part.file(extent.file));
    }
    extent.owner = file(item.file).owner;
    return tensor;
}

Status DcpItems::object(const DcpItem &item, const KeyPath &path)
{
    FP_TRY(const auto source, window(item, limits::DecodedObjectBytes));
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
    Value value;
    value.type = ValueType::Bytes;
    value.count = bytes.size();
    value.digest = sha256Hex(bytes);
    m_builder.addValue({path, {}, StateClass::Unknown, std::move(value), source->name()});
    return {};
}

} // namespace forkpoint
