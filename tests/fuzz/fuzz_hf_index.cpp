// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/sharded/hf_index.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
    const auto *bytes = reinterpret_cast<const std::byte *>(data);
    const forkpoint::MemorySource source("m.index.json",
                                         std::vector<std::byte>(bytes, bytes + size));
    (void)forkpoint::isHfIndex(source);
    const auto index = forkpoint::readHfIndex(source);
    if (!index.ok())
        return 0;
    for (const auto &[shard, names] : index->shards)
        (void)forkpoint::whyNoShardName(shard);
    return 0;
}
