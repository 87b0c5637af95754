// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/loader.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace forkpoint::fuzz {

inline std::shared_ptr<const ByteSource> sourceOf(const std::uint8_t *data, std::size_t size)
{
    const auto *bytes = reinterpret_cast<const std::byte *>(data);
    return std::make_shared<MemorySource>("fuzz", std::vector<std::byte>(bytes, bytes + size));
}

/// The first and the last bytes of the first tensors: what a comparison would read, within bounds.
inline void readSome(const Checkpoint &checkpoint)
{
    constexpr std::size_t Tensors = 32;
    constexpr std::uint64_t Bytes = 1000;
    const auto &tensors = checkpoint.catalog().tensors;
    std::vector<std::byte> some;
    for (std::size_t i = 0; i < std::min(tensors.size(), Tensors); ++i) {
        const std::uint64_t all = tensors[i].bytes;
        some.resize(std::size_t(std::min(all, Bytes)));
        (void)checkpoint.read(TensorIndex(i), 0, some).ok();
        (void)checkpoint.read(TensorIndex(i), all - some.size(), some).ok();
    }
}

/// Loads, and reads some of what was listed, also of a file that was refused half-way.
inline void loadAndRead(const Loader &loader, const std::shared_ptr<const ByteSource> &source)
{
    CheckpointBuilder builder;
    (void)loader.load(source, {}, {}, builder).ok();
    readSome(*builder.build(std::string(loader.name())));
}

} // namespace forkpoint::fuzz
