// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/hdf5/hdf5_tensors.h"

#include "loaders/elements/dtype_override.h"
#include "loaders/hdf5/hdf5_dtype.h"
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

} // namespace

Hdf5Tensors::Hdf5Tensors(std::shared_ptr<const ByteSource> file, const Hdf5Contents &contents,
                         const OpenOptions &options, std::stop_token stop,
                         CheckpointBuilder &builder)
    : m_file(std::move(file)),
      m_contents(contents),
      m_options(options),
      m_builder(builder),
      m_bytes(m_file->name(), builder),
      m_sources(m_file, contents, options, std::move(stop)),
      m_virtual(m_sources, m_bytes)
{
}

Hdf5Contents Hdf5Tensors::addAll()
{
    for (const Hdf5Dataset &dataset : m_contents.datasets)
        add(dataset);
    return std::move(m_shown);
}

void Hdf5Tensors::add(const Hdf5Dataset &dataset)
{
    tellLargeChunks(dataset);
    if (dataset.layout == Hdf5Dataset::Layout::Virtual)
        return addVirtual(dataset);
    const auto bytes = Hdf5Bytes::storedBytes(dataset, m_file);
    for (std::size_t i = 0; i < dataset.fields.size(); ++i) {
        addField(dataset, i, dataset.dims, [&](const Shape &shape) -> Result<std::vector<Extent>> {
            if (!bytes.ok())
                return bytes.error();
            FP_TRY(Extent extent, m_bytes.extentOf(dataset, dataset.fields[i], shape, *bytes));
            return std::vector<Extent>{std::move(extent)};
        });
    }
}

void Hdf5Tensors::addVirtual(const Hdf5Dataset &dataset)
{
    const auto named = [](Error error) {
        error.text = "virtual dataset: " + error.text;
        return error;
    };
    const auto resolved = m_virtual.resolve(dataset, m_sources.own());
    const std::vector<std::uint64_t> &dims = resolved.ok() ? (*resolved)->dims : dataset.dims;
    if (resolved.ok())
        tellMissing(dataset, (*resolved)->missing);
    if (!dataset.valueType.empty())
        return showTexts(dataset, {}, dims);
    for (std::size_t i = 0; i < dataset.fields.size(); ++i) {
        if (dataset.fields[i].isText()) {
            showTexts(dataset, dataset.fields[i].path, dims);
            continue;
        }
        addField(dataset, i, dims, [&](const Shape &) -> Result<std::vector<Extent>> {
            auto extents = m_virtual.extents(dataset, m_sources.own(), i);
            if (!extents.ok())
                return named(std::move(extents).error());
            return extents;
        });
    }
}

/// What of a virtual dataset is told as values.
void Hdf5Tensors::showTexts(const Hdf5Dataset &dataset, const std::vector<std::string> &member,
                            const std::vector<std::uint64_t> &dims)
{
    Hdf5Value value;
    value.path = dataset.path;
    value.path.insert(value.path.end(), member.begin(), member.end());
    value.isList = !dims.empty();
    auto texts = m_virtual.texts(dataset, m_sources.own(), member);
    if (!texts.ok()) {
        m_shown.problems.push_back({Severity::Error, texts.error().code, value.path, false, true,
                                    "virtual dataset: " + texts.error().text});
        return;
    }
    value.data = std::move(*texts);
    m_shown.values.push_back(std::move(value));
}

/// libhdf5 says nothing of them.
void Hdf5Tensors::tellMissing(const Hdf5Dataset &dataset, const std::vector<std::string> &missing)
{
    if (missing.empty())
        return;
    const std::string more = missing.size() > 1 ? " and " + std::to_string(missing.size() - 1)
            + " more, which are not there: their elements have"
                                                : ", which is not there: its elements have";
    m_builder.addDiagnostic({Severity::Warning, "missing-source", m_file->name(),
                             "virtual dataset '" + pathOf(dataset, {}).toString() + "'",
                             "shows " + missing.front() + more + " the fill value"});
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

void Hdf5Tensors::addField(const Hdf5Dataset &dataset, std::size_t number,
                           const std::vector<std::uint64_t> &dims, const FindExtents &find)
{
    const Hdf5Field &field = dataset.fields[number];
    TensorRef tensor;
    tensor.path = pathOf(dataset, field);
    tensor.files = {m_file->name()};
    tensor.shape = shapeOf(dims, field);
    interpret(dataset, field, tensor);
    const auto [storage, isNew] = m_storages.try_emplace({dataset.object, number}, 0);
    if (isNew)
        storage->second = m_builder.newStorage();
    tensor.storage = storage->second;
    auto extents = find(tensor.shape);
    if (!extents.ok())
        return m_builder.addUnreadable(std::move(tensor), std::move(extents).error());
    const bool isElsewhere = field.scalar.kind == Hdf5Scalar::Kind::Opaque
        && (field.scalar.name == "reference" || field.scalar.name.starts_with("variable-length"));
    if (isElsewhere) {
        return m_builder.addUnreadable(std::move(tensor),
                                       bad(ErrorCode::Unsupported,
                                           "members of a compound type that are lists, arrays of "
                                           "text or references are not read"));
    }
    tensor.extents = std::move(*extents);
    m_builder.addTensor(std::move(tensor));
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

} // namespace forkpoint
