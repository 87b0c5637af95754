// SPDX-License-Identifier: GPL-3.0-or-later
// Fingerprint files; resources/docs/fpx.md specifies every byte.
#pragma once

#include "loaders/storage/byte_source.h"
#include "model/catalog.h"
#include "model/fingerprint.h"
#include "model/recorded_digests.h"
#include "model/run.h"

#include <optional>
#include <string>
#include <vector>

namespace forkpoint {

constexpr std::uint32_t FpxVersion = 2;
constexpr std::size_t FpxHeaderBytes = 64;

/// One checkpoint without its tensors' bytes.
struct FpxCheckpoint
{
    RunStep step;
    Catalog catalog;                                     ///< without extents
    std::vector<std::optional<RecordedDigests>> digests; ///< parallel; none of unreadable tensors
};

/// All of a run, or of it one step.
struct FpxDocument
{
    std::string format; ///< of the run
    bool complete = true;
    Diagnostics diagnostics; ///< of the run
    std::vector<FpxCheckpoint> checkpoints;
};

/// Whether a file begins as a fingerprint file does.
bool isFpx(ByteView head);

/// The whole file; compressed where this build has zstd and it is worthwhile.
std::vector<std::byte> encodeFpx(const FpxDocument &document);

/// What a fingerprint file says of one tensor's digests, by itself.
std::vector<std::byte> encodeDigests(const RecordedDigests &digests);
Result<RecordedDigests> decodeDigests(ByteView bytes, std::uint64_t bytesOfTensor);

/// Reads and checks everything: version, lengths, checksums, that names rise, that there are as
/// many nodes as a tensor's length has. Memory is bounded by a multiple of the file's own size.
Result<FpxDocument> decodeFpx(const std::shared_ptr<const ByteSource> &file);

} // namespace forkpoint
