// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/traces/trace_record.h"

#include "model/traces/trace.h"

#include <set>

namespace forkpoint {

std::string_view toString(DigestKind kind)
{
    switch (kind) {
    case DigestKind::None: return "none";
    case DigestKind::Printed: return "printed";
    case DigestKind::Norm: return "norm";
    case DigestKind::Sampled: return "sampled-sha256";
    case DigestKind::XorLanes: return "xor-64";
    case DigestKind::XorBytes: return "xor-bytes";
    case DigestKind::Crc32: return "crc32";
    case DigestKind::Megatron128: return "megatron-128";
    case DigestKind::Sha256Header: return "sha256-with-header";
    case DigestKind::Fingerprint: return "xxh3-128";
    case DigestKind::Sha256: return "sha256";
    case DigestKind::Value: return "value";
    }
    return "none";
}

Strength strengthOf(DigestKind kind)
{
    switch (kind) {
    case DigestKind::None: return Strength::Metadata;
    case DigestKind::Printed: return Strength::Printed;
    case DigestKind::Norm: return Strength::Norm;
    case DigestKind::Sampled: return Strength::Sampled;
    case DigestKind::XorLanes:
    case DigestKind::XorBytes: return Strength::Xor;
    case DigestKind::Crc32: return Strength::Crc;
    case DigestKind::Megatron128: return Strength::Megatron128;
    case DigestKind::Fingerprint: return Strength::Xxh3;
    case DigestKind::Sha256Header:
    case DigestKind::Sha256: return Strength::Sha256;
    case DigestKind::Value: return Strength::Bytes;
    }
    return Strength::None;
}

std::string_view toString(Absence absence)
{
    switch (absence) {
    case Absence::Recorded: return "recorded";
    case Absence::Null: return "null signature";
    case Absence::Oversize: return "left out for its size";
    case Absence::Unresolved: return "unresolved placeholder";
    case Absence::Unfinished: return "taken before the value was there";
    case Absence::Metadata: return "shape and type only";
    }
    return "null signature";
}

std::optional<int> effectiveBits(DigestKind kind, std::string_view dtype)
{
    if (kind != DigestKind::XorLanes)
        return std::nullopt;
    if (dtype == "bool")
        return 1;
    if (dtype == "int8" || dtype == "uint8" || dtype.starts_with("float8")
        || dtype.starts_with("float4"))
        return 8;
    if (dtype == "int16" || dtype == "uint16")
        return 16;
    if (dtype == "bfloat16" || dtype == "float16")
        return 17;
    if (dtype == "int32" || dtype == "uint32")
        return 32;
    if (dtype == "float32" || dtype == "complex64")
        return 33;
    return 64;
}

std::string TracePlace::toText() const
{
    if (row > 0)
        return "record " + std::to_string(row);
    return (line > 0 ? "line " + std::to_string(line) + ", " : "") + "byte " + std::to_string(byte);
}

std::string TraceCoordinate::toText() const
{
    std::string text;
    for (const auto &[axis, place] : axes)
        text += (text.empty() ? "" : ", ") + axis + " " + std::to_string(place);
    if (!text.empty())
        return text;
    return rank ? "rank " + std::to_string(*rank) : "one process";
}

Status Trace::leafDigests(const TracePlace &, std::uint64_t, MutableByteView) const
{
    return Error{ErrorCode::NotFound, {}, {}, "the trace keeps no digests of leaves"};
}

Result<std::shared_ptr<const TensorSource>> Trace::kept(std::optional<std::int64_t> iteration,
                                                        std::stop_token) const
{
    return Error{ErrorCode::NotFound,
                 {},
                 iteration ? "iteration " + std::to_string(*iteration) : std::string(),
                 "no tensor was kept"};
}

std::vector<std::optional<std::int64_t>> TraceStream::iterations() const
{
    std::vector<std::optional<std::int64_t>> result;
    std::set<std::optional<std::int64_t>> known;
    for (const TraceSegment &segment : segments) {
        if (known.insert(segment.iteration).second)
            result.push_back(segment.iteration);
    }
    return result;
}

} // namespace forkpoint
