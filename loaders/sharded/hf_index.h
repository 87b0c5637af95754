// SPDX-License-Identifier: GPL-3.0-or-later
// The index of a sharded checkpoint as Hugging Face's save_pretrained writes it:
// {"metadata": {"total_size": N, ...}, "weight_map": {tensor name: shard file name}}.
// Source: transformers/modeling_utils.py, huggingface_hub/serialization; resources/docs/formats/
// directories.md says what is checked.
#pragma once

#include "loaders/loader.h"
#include "model/diagnostic.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace forkpoint {

struct HfIndex
{
    std::map<std::string, std::vector<std::string>> shards; ///< tensor names by shard, in order
    std::optional<std::uint64_t> totalSize; ///< advisory: some writers count tied tensors twice
    Diagnostics diagnostics;                ///< repeated names
};

/// Whether a file may be such an index: a JSON object whose first 4 KiB or whose whole text, up to
/// the cap on JSON, has a member "weight_map". Cheap for files that are no JSON.
bool isHfIndex(const ByteSource &source);

/// Parses it. Malformed where weight_map is not an object of strings, Refused where the index names
/// itself as a shard.
Result<HfIndex> readHfIndex(const ByteSource &source);

/// Why a shard name must not be opened, or nothing: it must be a plain file name, without '/', '\',
/// NUL, "..", a drive or a scheme. Decided before anything touches the file system.
std::optional<std::string> whyNoShardName(const std::string &name);

struct HfSharded
{
    CheckpointBuilder builder;
    std::string format; ///< of the shards: "safetensors", "torch", or both joined by ", "
};

/// Opens every shard inside `directory` (never a link out of it) and checks both directions: a
/// tensor that its shard lacks, or whose shard is missing, refused or unreadable, is listed as
/// unreadable and never taken from elsewhere; a tensor that the index does not name is listed with
/// a warning. `prefix` goes before shard names in diagnostics ("checkpoint-4/").
HfSharded openHfSharded(const HfIndex &index, const std::string &indexName,
                        const std::filesystem::path &directory, const std::string &prefix,
                        const OpenOptions &options, std::stop_token stop);

} // namespace forkpoint
