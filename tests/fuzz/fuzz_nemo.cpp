// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/sharded/nemo_loader.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
    const auto *bytes = reinterpret_cast<const std::byte *>(data);
    auto source = std::make_shared<forkpoint::MemorySource>(
        "fuzz", std::vector<std::byte>(bytes, bytes + size));
    forkpoint::CheckpointBuilder builder;
    (void)forkpoint::nemoLoader().load(source, {}, {}, builder).ok();
    (void)builder.build("nemo");
    return 0;
}
