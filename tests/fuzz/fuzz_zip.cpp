// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/storage/zip_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
    const auto *bytes = reinterpret_cast<const std::byte *>(data);
    auto source = std::make_shared<forkpoint::MemorySource>(
        "fuzz", std::vector<std::byte>(bytes, bytes + size));
    const auto archive = forkpoint::ZipArchive::open(source);
    if (!archive.ok())
        return 0;
    for (const forkpoint::ZipEntry &entry : archive->entries())
        (void)archive->readEntry(entry, 1 << 16).ok();
    return 0;
}
