// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/sharded/hf_shards_loader.h"

#include "loaders/arrays/safetensors_loader.h"
#include "loaders/elements/replica_check.h"
#include "loaders/elements/tensor_joiner.h"
#include "loaders/text/json.h"

#include <algorithm>
#include <charconv>
#include <set>

namespace forkpoint {

namespace {

/// "shard-00002-model-00001-of-00003.safetensors"
struct ShardName
{
    std::int64_t shard = 0, file = 0, files = 0;
};

std::optional<ShardName> parseName(std::string_view name)
{
    ShardName result;
    const auto take = [&name](std::string_view word, std::int64_t &number) {
        if (!name.starts_with(word))
            return false;
        name.remove_prefix(word.size());
        const auto [end, error] = std::from_chars(
            name.data(), name.data() + std::min<std::size_t>(name.size(), 9), number);
        if (error != std::errc() || number < 0)
            return false;
        name.remove_prefix(std::size_t(end - name.data()));
        return true;
    };
    const bool isShard = take("shard-", result.shard) && take("-model-", result.file)
        && take("-of-", result.files) && name == ".safetensors";
    return isShard ? std::optional(result) : std::nullopt;
}

using Offsets = std::map<std::string, std::vector<Index>, std::less<>>;

/// The offsets of the parts in DCP_SHARDING_INFO: {name: {"saved_offsets": [8, 0]}}.
Result<Offsets> readOffsets(std::string_view text)
{
    FP_TRY(const JsonDocument document, JsonDocument::parse(text));
    Offsets offsets;
    for (const JsonValue &member : document.root().children()) {
        const auto saved = member.find("saved_offsets");
        if (!saved || !saved->isArray()) {
            return Error{ErrorCode::Malformed,
                         {},
                         "'" + std::string(member.key()) + "'",
                         "must have saved_offsets"};
        }
        std::vector<Index> origin;
        for (const JsonValue &offset : saved->children()) {
            const auto number = offset.unsignedInteger();
            if (!number)
                return Error{ErrorCode::Malformed,
                             {},
                             "'" + std::string(member.key()) + "'",
                             "saved_offsets must be integers"};
            origin.push_back(*number);
        }
        offsets[std::string(member.key())] = std::move(origin);
    }
    return offsets;
}

class HfShardsLoader final : public DirectoryLoader
{
public:
    std::string_view name() const override { return "safetensors-shards"; }
    std::string_view description() const override
    {
        return "safetensors files of ranks, from torch's distributed checkpoint";
    }

    DirectoryClaim claim(const DirectoryView &view) const override
    {
        const bool isMine = std::any_of(
            view.listing.entries.begin(), view.listing.entries.end(),
            [](const DirectoryEntry &entry) { return parseName(entry.name).has_value(); });
        return {isMine, {}};
    }

    Result<LoadedFile> load(const DirectoryView &view, const OpenOptions &options,
                            std::stop_token stop) const override
    {
        LoadedFile loaded;
        loaded.format = name();
        TensorJoiner joiner;
        std::set<std::int64_t> shards, files;
        std::int64_t fileCount = 0;
        for (const DirectoryEntry &entry : view.listing.entries) {
            const auto shard = parseName(entry.name);
            if (!shard)
                continue;
            if (stop.stop_requested())
                return Error{ErrorCode::Cancelled, view.prefix, {}, "cancelled"};
            shards.insert(shard->shard);
            files.insert(shard->file);
            fileCount = std::max(fileCount, shard->files);
            Status status =
                addShard(view, entry.name, shard->shard, options, stop, joiner, loaded.builder);
            if (status.ok())
                continue;
            loaded.builder.addDiagnostic(std::move(status).error().inFile(view.prefix + entry.name),
                                         Severity::Error);
            loaded.builder.setIncomplete();
        }
        joiner.finish(loaded.builder);
        checkReplicas(loaded.builder, stop);
        if (std::int64_t(files.size()) < fileCount
            || *shards.rbegin() - *shards.begin() >= std::int64_t(shards.size())) {
            loaded.builder.addDiagnostic({Severity::Error,
                                          "incomplete",
                                          view.prefix,
                                          {},
                                          "files of some ranks are not there"});
            loaded.builder.setIncomplete();
        }
        return loaded;
    }

private:
    static Status addShard(const DirectoryView &view, const std::string &name, std::int64_t number,
                           const OpenOptions &options, const std::stop_token &stop,
                           TensorJoiner &joiner, CheckpointBuilder &builder)
    {
        FP_TRY(auto file, view.open(name));
        CheckpointBuilder part;
        FP_CHECK(safetensorsLoader().load(std::move(file), options, stop, part));
        std::vector<TensorRef> tensors = std::move(part.mutableCatalog().tensors);
        part.mutableCatalog().tensors.clear();
        Offsets offsets;
        for (const ValueRef &value : part.catalog().values) {
            const auto *text = std::get_if<std::string>(&value.value.data);
            if (text && value.path.keys.back().text == "DCP_SHARDING_INFO") {
                FP_TRY(offsets, readOffsets(*text));
            }
        }
        part.mutableCatalog().values.clear();
        const auto firstFile = FileIndex(builder.fileCount());
        builder.merge(std::move(part), {});
        // The writer counts shards from 1.
        const OwnerIndex owner =
            builder.addOwner({{{"rank", std::max<std::int64_t>(number, 1) - 1}}});
        for (TensorRef &tensor : tensors) {
            for (Extent &extent : tensor.extents)
                extent.file += firstFile;
            tensor.owner = owner;
            const auto known = offsets.find(tensor.path.toString());
            std::vector<Index> origin =
                known != offsets.end() ? known->second : std::vector<Index>(tensor.shape.rank(), 0);
            joiner.add(std::move(tensor), std::move(origin), std::nullopt);
        }
        return {};
    }
};

} // namespace

const DirectoryLoader &hfShardsLoader()
{
    static const HfShardsLoader loader;
    return loader;
}

} // namespace forkpoint
