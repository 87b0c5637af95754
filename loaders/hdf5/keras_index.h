// SPDX-License-Identifier: GPL-3.0-or-later
// The index of Keras' sharded weights (.weights.json): {"metadata": …, "weight_map": {group: [shard,
// …]}}. Unlike Hugging Face's it names groups, each in one shard or over several.
#pragma once

#include "loaders/loader.h"

#include <filesystem>
#include <string>
#include <vector>

namespace forkpoint {

/// Whether a JSON text with a "weight_map" is Keras': its members are lists.
bool isKerasIndex(const ByteSource &source);

/// The shards that it names, sorted, each once. Malformed where weight_map is no object of lists of
/// names, Refused where a name is none of a file beside the index.
Result<std::vector<std::string>> readKerasIndex(const ByteSource &source);

/// Opens every shard beneath `directory` and joins what they hold; groups that shards share have
/// their weights in all of them. A shard that cannot be opened makes the whole incomplete.
CheckpointBuilder openKerasShards(const std::vector<std::string> &shards,
                                  const std::filesystem::path &directory, const std::string &prefix,
                                  const OpenOptions &options, const std::stop_token &stop);

} // namespace forkpoint
