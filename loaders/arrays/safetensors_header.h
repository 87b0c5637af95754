// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/storage/byte_source.h"
#include "model/shape.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace forkpoint {

/// One tensor of a safetensors header, as it stands there.
struct SafetensorsEntry
{
    std::string name;
    std::size_t code = 0; ///< of its element type: into SafetensorsHeader::codes
    Shape shape;          ///< F4 counts single elements here
    std::uint64_t begin = 0,
                  end = 0; ///< bytes, counted from dataBegin; end may lie behind the file
};

/// One member of the metadata.
struct SafetensorsNote
{
    std::string key;
    std::optional<std::string> text;
    std::string_view kindName; ///< of what is not text
};

/// What a safetensors file says before its data: 8 bytes of length, little-endian, then a JSON object
/// (github.com/huggingface/safetensors, "Format"). 10^6 tensors take about 130 bytes each and their names.
struct SafetensorsHeader
{
    std::vector<SafetensorsEntry> entries; ///< in the order of the header
    std::vector<std::string> codes;        ///< "F32", each once
    std::vector<SafetensorsNote> notes;    ///< of `__metadata__`
    std::vector<std::string> extraMembers; ///< "tensor.member" that the format does not know
    std::uint64_t dataBegin = 0;           ///< a byte of the file
    std::optional<Error> truncated;        ///< where the file ends before the last tensor does
};

/// How a member of safetensors' own names its texts.
constexpr std::string_view SafetensorsMetadataKey = "__metadata__";

/// Reads and checks a header: distinct names, ranges that cover the data without hole or overlap. A
/// cut file is none of the errors: its whole tensors can be read.
Result<SafetensorsHeader> readSafetensorsHeader(const ByteSource &source);

/// Whether a file that begins with `head` can be one: the length, then a brace.
bool looksLikeSafetensors(ByteView head);

} // namespace forkpoint
