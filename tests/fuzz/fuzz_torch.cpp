// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/limits.h"
#include "loaders/torch_loaders.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
    const auto *bytes = reinterpret_cast<const std::byte *>(data);
    auto source = std::make_shared<forkpoint::MemorySource>(
        "fuzz", std::vector<std::byte>(bytes, bytes + size));
    for (const auto *loader : {&forkpoint::torchZipLoader(), &forkpoint::torchLegacyLoader(),
                               &forkpoint::torchTarLoader()}) {
        forkpoint::CheckpointBuilder builder;
        (void)loader->load(source, {}, {}, builder).ok();
        (void)builder.build("torch");
    }
    return 0;
}
