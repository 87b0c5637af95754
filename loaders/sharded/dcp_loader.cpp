// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/sharded/dcp_loader.h"

#include "loaders/elements/extent_geometry.h"
#include "loaders/limits.h"
#include "loaders/sharded/dcp_items.h"
#include "loaders/sharded/dcp_metadata.h"
#include "loaders/sharded/rank_part.h"
#include "loaders/text/json_values.h"
#include "loaders/torch/pickle_vm.h"
#include "model/bytes.h"

#include <algorithm>
#include <unordered_set>

namespace forkpoint {

namespace {

/// Parts of Megatron's directories beside the distributed ones.
constexpr std::string_view Common = "common.pt";
constexpr std::string_view MegatronMetadata = "metadata.json";

bool isDataFile(std::string_view name)
{
    return name.ends_with(".distcp");
}

/// ".metadata", or "__3.metadata" of a rank that saved without the others.
bool isMetadataFile(std::string_view name)
{
    return name == ".metadata" || (name.starts_with("__") && name.ends_with(".metadata"));
}

/// Adds what one .metadata describes to a builder.
class Assembler
{
public:
    Assembler(const DirectoryView &view, const DcpMetadata &metadata, CheckpointBuilder &builder,
              std::stop_token stop)
        : m_metadata(metadata),
          m_builder(builder),
          m_stop(stop),
          m_items(view, metadata, builder, std::move(stop))
    {
    }

    Status assemble()
    {
        for (const DcpTensor &tensor : m_metadata.tensors) {
            if (m_stop.stop_requested())
                return Error{ErrorCode::Cancelled, {}, {}, "cancelled"};
            addTensor(tensor);
        }
        for (const DcpObject &object : m_metadata.objects)
            addObject(object);
        for (const auto &[name, value] : m_metadata.facts) {
            m_builder.addValue({{{Key::of(".metadata"), Key::of(name)}},
                                {},
                                StateClass::Bookkeeping,
                                value,
                                ".metadata"});
        }
        return {};
    }

private:
    void addObject(const DcpObject &object)
    {
        Status status = object.item
            ? m_items.object(*object.item, object.path)
            : Status(Error{ErrorCode::Mismatch, {}, {}, "the metadata does not say where it is"});
        if (status.ok())
            return;
        m_builder.setIncomplete();
        if (object.item && m_items.problemOf(object.item->file))
            return; // said once for the whole file
        m_builder.addDiagnostic(
            std::move(status).error().atPlace("object '" + escapeInvalidUtf8(object.fqn) + "'"),
            Severity::Error);
    }

    void addTensor(const DcpTensor &described)
    {
        TensorRef tensor;
        tensor.path = described.path;
        tensor.shape = described.unflattened.value_or(described.shape);
        const auto dtype = dtypeByName(described.dtype);
        tensor.dtype = dtype.value_or(opaqueDType(1));
        std::optional<Error> problem, fileProblem;
        if (!dtype)
            problem = Error{ErrorCode::Unsupported,
                            {},
                            {},
                            "an unknown element type '" + described.dtype + "'"};
        for (std::size_t chunk = 0; chunk < described.chunks.size() && !problem; ++chunk) {
            Status status = addChunk(described, chunk, tensor);
            if (status.ok())
                continue;
            const auto &item = described.chunks[chunk];
            if (item && m_items.problemOf(item->file))
                fileProblem = std::move(status).error();
            else
                problem = std::move(status).error().atPlace(
                    "piece at " + Shape{copied(described.offsets(chunk))}.toString());
        }
        if (problem)
            return m_builder.addUnreadable(std::move(tensor), std::move(*problem));
        tensor.unreadable = std::move(fileProblem);
        m_builder.addTensor(std::move(tensor));
    }

    static std::vector<Index> copied(std::span<const Index> positions)
    {
        return {positions.begin(), positions.end()};
    }

    Status addChunk(const DcpTensor &described, std::size_t chunk, TensorRef &tensor)
    {
        Box box{copied(described.offsets(chunk)), copied(described.sizes(chunk))};
        if (isEmpty(box))
            return {};
        const auto &item = described.chunks[chunk];
        if (!item)
            return Error{ErrorCode::Mismatch, {}, {}, "the metadata does not say where it is"};
        const Shape sizes{box.size};
        FP_TRY(TensorRef stored, m_items.shard(*item, tensor.dtype, sizes));
        const bool isFirst = tensor.files.empty();
        if (!isFirst && (stored.conjugate != tensor.conjugate || stored.negate != tensor.negate)) {
            return Error{ErrorCode::Unsupported,
                         {},
                         {},
                         "is a conjugate or negative view, unlike other pieces"};
        }
        tensor.conjugate = stored.conjugate;
        tensor.negate = stored.negate;
        if (stored.files.empty())
            addFile(m_items.sourceOf(item->file), tensor);
        for (const std::string &name : stored.files)
            addFile(name, tensor);
        Extent extent = std::move(stored.extents.front());
        if (described.unflattened)
            return unflatten(described, box, extent, tensor);
        if (extent.fills == Extent::Fills::Box)
            extent.box = std::move(box);
        tensor.extents.push_back(std::move(extent));
        return {};
    }

    static void addFile(const std::string &name, TensorRef &tensor)
    {
        if (std::find(tensor.files.begin(), tensor.files.end(), name) == tensor.files.end())
            tensor.files.push_back(name);
    }

    /// A piece of [X/x, Y/y, x*y]: part of the row-major elements of one block of [x, y].
    Status unflatten(const DcpTensor &described, const Box &chunk, const Extent &extent,
                     TensorRef &tensor)
    {
        const Shape &whole = *described.unflattened;
        const std::size_t rank = whole.rank();
        const Error wrong{ErrorCode::Mismatch,
                          {},
                          {},
                          "does not fit the shape " + whole.toString() + " that it was made of"};
        if (described.shape.rank() != rank + 1 || extent.fills != Extent::Fills::Box)
            return wrong;
        Shape block;
        Box place;
        for (std::size_t i = 0; i < rank; ++i) {
            const Index parts = described.shape.dims[i];
            if (parts == 0 || whole.dims[i] % parts != 0 || chunk.size[i] != 1)
                return wrong;
            block.dims.push_back(whole.dims[i] / parts);
            place.origin.push_back(chunk.origin[i] * block.dims[i]);
        }
        if (block.count() != described.shape.dims[rank])
            return wrong;
        const std::vector<std::int64_t> strides = block.rowMajorStrides();
        for (const Box &inner : boxesOfRange(block, chunk.origin[rank], chunk.size[rank])) {
            Extent part = extent;
            part.box = inner;
            part.strides = strides;
            part.firstElement = extent.firstElement - chunk.origin[rank];
            for (std::size_t i = 0; i < rank; ++i) {
                part.firstElement += inner.origin[i] * Index(strides[i]);
                part.box.origin[i] += place.origin[i];
            }
            tensor.extents.push_back(std::move(part));
        }
        return {};
    }

    const DcpMetadata &m_metadata;
    CheckpointBuilder &m_builder;
    std::stop_token m_stop;
    DcpItems m_items;
};

class DcpLoader final : public DirectoryLoader
{
public:
    std::string_view name() const override { return "dcp"; }
    std::string_view description() const override
    {
        return "PyTorch distributed checkpoints, Megatron-Core's torch_dist among them";
    }

    DirectoryClaim claim(const DirectoryView &view) const override
    {
        bool hasMetadata = false, hasData = false;
        for (const DirectoryEntry &entry : view.listing.entries) {
            hasMetadata = hasMetadata || isMetadataFile(entry.name);
            hasData = hasData || isDataFile(entry.name);
        }
        // Megatron writes common.pt first: alone it is the beginning of a save.
        const bool isBegun = view.listing.entries.size() == 1 && view.hasFile(Common);
        DirectoryClaim claim{hasMetadata || hasData || isBegun || view.hasFile(".metadata.tmp"),
                             {}};
        if (claim.isMine && !hasMetadata)
            claim.interrupted = "has no .metadata, which is written last";
        else if (view.hasFile(Common) && hasData && !view.hasFile(MegatronMetadata))
            claim.interrupted = "has no metadata.json, which is written last";
        return claim;
    }

    Result<LoadedFile> load(const DirectoryView &view, const OpenOptions &options,
                            std::stop_token stop) const override
    {
        LoadedFile loaded;
        loaded.format = name();
        std::size_t read = 0;
        for (const DirectoryEntry &entry : view.listing.entries) {
            if (!isMetadataFile(entry.name))
                continue;
            FP_CHECK(addMetadata(view, entry.name, stop, loaded.builder));
            ++read;
        }
        if (read == 0) {
            return Error{ErrorCode::NotFound,
                         view.prefix,
                         {},
                         "has no .metadata, which is written last: an unfinished save"};
        }
        if (view.hasFile(Common))
            FP_CHECK(addCommon(view, options, stop, loaded));
        else if (isMegatrons(view) && !holdsCommon(loaded.builder.catalog()))
            tellLostPart({ErrorCode::NotFound, {}, {}, "is not here, nor is common_state"},
                         view.prefix + std::string(Common), loaded.builder);
        tellStrays(view, loaded.builder);
        return loaded;
    }

private:
    static Status addMetadata(const DirectoryView &view, const std::string &name,
                              const std::stop_token &stop, CheckpointBuilder &builder)
    {
        FP_TRY(const auto source, view.open(name));
        FP_TRY(auto bytes, readAll(*source, 0, source->size(), limits::PickleBytes));
        auto input = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
        auto graph = readPickle(std::move(input), 0, stop, limits::MetadataNodes);
        if (!graph.ok())
            return std::move(graph).error().inFile(source->name());
        reportDangerousGlobals(**graph, {builder, source->name(), {}, 0, stop}, {});
        FP_TRY(const DcpMetadata metadata, readDcpMetadata(**graph, source->name()));
        (*graph).reset();
        for (const Diagnostic &diagnostic : metadata.diagnostics) {
            builder.addDiagnostic(diagnostic);
            builder.setIncomplete();
        }
        return Assembler(view, metadata, builder, stop).assemble();
    }

    static bool isMegatrons(const DirectoryView &view)
    {
        constexpr std::uint64_t MostBytes = 1u << 16; // two numbers and two words
        constexpr std::string_view Word = "\"sharded_backend\"";
        if (!view.hasFile(MegatronMetadata))
            return false;
        const auto source = view.open(std::string(MegatronMetadata));
        if (!source.ok())
            return false;
        const auto bytes = readAll(**source, 0, (*source)->size(), MostBytes);
        return bytes.ok()
            && std::string_view(reinterpret_cast<const char *>(bytes->data()), bytes->size())
                   .find(Word)
            != std::string_view::npos;
    }

    /// Since July 2026 what is common to all ranks is an object of the data files.
    static bool holdsCommon(const Catalog &catalog)
    {
        const auto isCommon = [](const auto &item) {
            return !item.path.keys.empty() && item.path.keys[0].text.starts_with("common_state");
        };
        return std::any_of(catalog.tensors.begin(), catalog.tensors.end(), isCommon)
            || std::any_of(catalog.values.begin(), catalog.values.end(), isCommon);
    }

    /// What Megatron saves once for all ranks.
    static Status addCommon(const DirectoryView &view, const OpenOptions &options,
                            const std::stop_token &stop, LoadedFile &loaded)
    {
        loaded.format = "megatron";
        FP_TRY(auto file, view.open(std::string(Common)));
        auto common = loadFile(std::move(file), options, stop);
        if (common.ok()) {
            loaded.builder.merge(std::move(common->builder), {});
        } else {
            loaded.builder.addDiagnostic(common.error(), Severity::Error);
            loaded.builder.setIncomplete();
        }
        return {};
    }

    /// Data files of an earlier save with more ranks are no part of this one.
    static void tellStrays(const DirectoryView &view, CheckpointBuilder &builder)
    {
        const std::size_t prefix = view.prefix.size();
        std::unordered_set<std::string_view> known;
        for (std::size_t i = 0; i < builder.fileCount(); ++i) {
            const std::string_view file = builder.file(FileIndex(i))->name();
            known.insert(file.size() > prefix ? file.substr(prefix) : file);
        }
        std::size_t strays = 0;
        std::string first;
        for (const DirectoryEntry &entry : view.listing.entries) {
            if (!isDataFile(entry.name) || known.contains(entry.name))
                continue;
            if (strays++ == 0)
                first = entry.name;
        }
        if (strays > 0) {
            builder.addDiagnostic(
                {Severity::Warning,
                 "ignored",
                 view.prefix + first,
                 {},
                 std::to_string(strays) + " data files that hold nothing of this save"});
        }
    }
};

} // namespace

const DirectoryLoader &dcpLoader()
{
    static const DcpLoader loader;
    return loader;
}

} // namespace forkpoint
