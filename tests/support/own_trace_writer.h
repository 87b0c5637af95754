// SPDX-License-Identifier: GPL-3.0-or-later
// Writes our own trace as resources/docs/trace.md says, for tests: whole or bent.
#pragma once

#include "model/traces/trace_record.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace forkpoint::test {

struct WrittenTensor
{
    std::string path, dtype = "float32", note;
    std::vector<std::uint64_t> shape;
    std::vector<std::byte> stream; ///< of the logical elements
    std::array<std::uint8_t, 16> content{}, tensor{};
    std::uint8_t absence = 0;
    bool isKept = false;
    double absMax = 0, l2 = 0;
    std::uint64_t nan = 0, inf = 0, zero = 0;
    std::uint64_t bytes = 0; ///< where nothing is kept
};

struct WrittenRecord
{
    std::uint8_t role = 0, flags = 0;
    std::int64_t step = 0;
    std::int32_t microBatch = -1;
    std::uint64_t sequence = 0;
    std::string stage, name, scope;
    std::uint32_t call = 0;
    std::vector<WrittenTensor> inputs, outputs;
    std::vector<std::pair<std::string, std::string>> values;
};

struct WrittenFact
{
    std::uint8_t role = 0;
    std::string name, value;
};

/// What the root says. Counts are those of the records unless they are bent.
struct WrittenHeader
{
    std::string format = "forkpoint-trace", kind = "segment", fingerprint = "forkpoint-1";
    std::string run = "00000000000000000000000000000001", axes, reason = "complete";
    std::int64_t version = 1, rank = 0, worldSize = 1;
    std::int64_t segment = 0, firstStep = 1, lastStep = 1, segments = 1;
    std::int64_t records = -1, tensors = -1, values = -1; ///< -1: as they are
};

/// Writes a segment; false where libhdf5 fails.
bool writeSegment(const std::filesystem::path &file, WrittenHeader header,
                  const std::vector<WrittenRecord> &records,
                  const std::vector<WrittenFact> &facts = {});
/// Writes an end marker.
bool writeEnd(const std::filesystem::path &file, WrittenHeader header);

} // namespace forkpoint::test
