// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/npy_loader.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
    const auto *bytes = reinterpret_cast<const std::byte *>(data);
    auto source = std::make_shared<forkpoint::MemorySource>(
        "fuzz", std::vector<std::byte>(bytes, bytes + size));
    forkpoint::CheckpointBuilder builder;
    if (!forkpoint::npyLoader().load(source, {}, {}, builder).ok())
        return 0;
    const auto checkpoint = builder.build("npy");
    std::vector<std::byte> first(
        std::min<std::uint64_t>(checkpoint->catalog().tensors[0].bytes, 1000));
    (void)checkpoint->read(0, 0, first).ok();
    return 0;
}
