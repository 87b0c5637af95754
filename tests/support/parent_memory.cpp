// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/parent_memory.h"

#include "app/h5worker/global_heap.h"
#include "app/h5worker/metadata_block.h"
#include "app/h5worker/metadata_checksum.h"
#include "app/h5worker/parent_file.h"

#include <algorithm>
#include <span>

namespace forkpoint {

namespace {

std::vector<std::byte> bytes;
bool isSigned = false;

} // namespace

bool readParentFile(std::uint64_t address, MutableByteView out)
{
    constexpr std::size_t ChecksumBytes = 4;
    if (address > bytes.size() || out.size() > bytes.size() - address)
        return false;
    std::copy_n(bytes.begin() + std::ptrdiff_t(address), out.size(), out.begin());
    if (isSigned && out.size() > 2 * ChecksumBytes) {
        const std::size_t end = out.size() - ChecksumBytes;
        const std::uint32_t checksum = metadataChecksum(ByteView(out).first(end));
        std::ranges::copy(std::as_bytes(std::span(&checksum, 1)),
                          out.begin() + std::ptrdiff_t(end));
    }
    return true;
}

void patchParentFile(std::uint64_t address, ByteView patch)
{
    for (std::size_t i = 0; i < patch.size() && address + i < bytes.size(); ++i)
        bytes[address + i] = patch[i];
}

std::uint64_t parentFileByte(std::uint64_t address)
{
    return address;
}

namespace test {

void openParentMemory(std::vector<std::byte> file, bool isSignedFile)
{
    bytes = std::move(file);
    isSigned = isSignedFile;
    forgetGlobalHeaps();
    setMetadataWidths({});
}

const std::vector<std::byte> &parentMemory()
{
    return bytes;
}

} // namespace test

} // namespace forkpoint
