// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/storage/byte_source.h"

#include <string_view>

namespace forkpoint {

/// Why this build cannot decode zstd; empty where it can.
std::string_view whyNoZstd();

/// `bytes` as one zstd frame; nothing where this build cannot, or zstd failed.
std::vector<std::byte> compressZstd(ByteView bytes);

/// The decoded bytes of one zstd frame (RFC 8878), in bounded memory. Opening decodes once to learn
/// the size, which may be at most `cap`; reading forward decodes once more, a jump back begins anew.
/// Windows above 128 MiB and bytes behind the frame are refused.
Result<std::shared_ptr<const ByteSource>> openZstd(std::shared_ptr<const ByteSource> compressed,
                                                   std::uint64_t cap, std::string name);

} // namespace forkpoint
