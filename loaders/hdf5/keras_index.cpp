// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/hdf5/keras_index.h"

#include "loaders/limits.h"
#include "loaders/sharded/hf_index.h"
#include "loaders/storage/file_source.h"
#include "loaders/text/json.h"

#include <algorithm>
#include <map>
#include <set>

namespace forkpoint {

namespace {

Result<JsonDocument> parse(const ByteSource &source)
{
    FP_TRY(const auto bytes, readAll(source, 0, source.size(), limits::JsonBytes));
    auto document = JsonDocument::parse(asText(bytes));
    if (!document.ok())
        return std::move(document).error().inFile(source.name());
    return document;
}

Error malformed(const ByteSource &source, std::string place, std::string text)
{
    return {ErrorCode::Malformed, source.name(), std::move(place), std::move(text)};
}

/// Every shard repeats the attributes of groups; equal ones are listed once.
void dropRepeatedValues(CheckpointBuilder &part, std::map<KeyPath, Value> &known)
{
    std::erase_if(part.mutableCatalog().values, [&known](const ValueRef &value) {
        const auto [first, isNew] = known.try_emplace(value.path, value.value);
        return !isNew && first->second.identicalTo(value.value);
    });
}

} // namespace

bool isKerasIndex(const ByteSource &source)
{
    const auto document = parse(source);
    const auto map = document.ok() ? document->root().find("weight_map") : std::nullopt;
    if (!map || !map->isObject())
        return false;
    const auto members = map->children();
    return !members.empty() && members.front().isArray();
}

Result<std::vector<std::string>> readKerasIndex(const ByteSource &source)
{
    FP_TRY(const JsonDocument document, parse(source));
    const auto map = document.root().find("weight_map");
    if (!map || !map->isObject())
        return malformed(source, {}, "must have a weight_map of groups");
    std::set<std::string> shards;
    for (const JsonValue &group : map->children()) {
        const std::string place =
            "weight_map '" + escapeInvalidUtf8(std::string(group.key())) + "'";
        if (!group.isArray())
            return malformed(source, place, "must be a list of shards");
        for (const JsonValue &shard : group.children()) {
            if (shard.kind() != JsonValue::Kind::Text)
                return malformed(source, place, "must be a list of names of shards");
            std::string name(shard.text().value_or(""));
            if (const auto why = whyNoShardName(name))
                return Error{ErrorCode::Refused, source.name(), place, *why};
            shards.insert(std::move(name));
        }
    }
    return std::vector<std::string>(shards.begin(), shards.end());
}

CheckpointBuilder openKerasShards(const std::vector<std::string> &shards,
                                  const std::filesystem::path &directory, const std::string &prefix,
                                  const OpenOptions &options, const std::stop_token &stop)
{
    CheckpointBuilder whole;
    std::map<KeyPath, Value> values;
    for (const std::string &shard : shards) {
        auto file = FileSource::openBeneath(directory, shard, prefix + shard);
        auto loaded = file.ok() ? loadFile(std::move(file).value(), options, stop)
                                : Result<LoadedFile>(std::move(file).error());
        if (!loaded.ok()) {
            whole.addDiagnostic(loaded.error(), Severity::Error);
            whole.setIncomplete();
            continue;
        }
        dropRepeatedValues(loaded->builder, values);
        whole.merge(std::move(loaded->builder), {});
    }
    return whole;
}

} // namespace forkpoint
