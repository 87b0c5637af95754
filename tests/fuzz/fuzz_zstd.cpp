// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/storage/zstd_source.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
    const auto *bytes = reinterpret_cast<const std::byte *>(data);
    auto source = std::make_shared<forkpoint::MemorySource>(
        "fuzz", std::vector<std::byte>(bytes, bytes + size));
    const auto opened = forkpoint::openZstd(source, 1 << 20, "fuzz");
    if (!opened.ok())
        return 0;
    std::vector<std::byte> first(std::size_t(std::min<std::uint64_t>((*opened)->size(), 100)));
    (void)(*opened)->read((*opened)->size() - first.size(), first).ok();
    (void)(*opened)->read(0, first).ok();
    return 0;
}
