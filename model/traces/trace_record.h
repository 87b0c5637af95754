// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compare/verdict.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace forkpoint {

/// What a recorded digest is. Digests of two kinds are never compared with each other.
enum class DigestKind : std::uint8_t {
    None,         ///< shape and type only
    Printed,      ///< decimals as a tool printed them: an interval, not a number
    Norm,         ///< norms and statistics, in the last bits up to the device's order of summation
    Sampled,      ///< SHA-256 of some elements
    XorLanes,     ///< torch.hash_tensor: XOR of elements, each widened to 64 bits
    XorBytes,     ///< XOR of the bytes as 64-bit lanes
    Crc32,        ///< of the bytes
    Megatron128,  ///< position-weighted sums over the bytes
    Sha256Header, ///< of a JSON header and the bytes
    Fingerprint,  ///< our own over all bytes (resources/docs/fingerprint.md): the content digest
    Sha256,       ///< of the bytes: recorded, or computed from a payload while it was read
    Value,        ///< the value itself, every bit of it: a scalar, a list of integers
};

std::string_view toString(DigestKind kind);
Strength strengthOf(DigestKind kind);

/// Why an observation tells nothing of its tensor's value (rule M15).
enum class Absence : std::uint8_t {
    Recorded,   ///< it does tell
    Null,       ///< a null signature: the tool could not take one
    Oversize,   ///< left out for its size
    Unresolved, ///< a placeholder of a digest that never arrived ("__staged...")
    Unfinished, ///< taken before the value was there
    Metadata,   ///< the tool recorded shape and type only
};

std::string_view toString(Absence absence);

/// Rows of a table of leaf digests, which a trace may keep of large tensors (Trace::leafDigests).
struct LeafRows
{
    std::uint64_t first = 0, count = 0;
};

/// One tensor or value as a tool saw it.
struct Observation
{
    std::string path;  ///< "<root>", "a/0", an argument's name; may be empty
    std::string dtype; ///< as torch spells it, without "torch."; empty where unknown
    std::optional<std::vector<std::uint64_t>> shape;
    std::optional<std::uint64_t> count; ///< elements
    DigestKind kind = DigestKind::None;
    Absence absence = Absence::Recorded;
    std::string digest; ///< lower-case hex, or the text of the value; empty with an absence
    /// What is no part of the value: device, stride, layout, requires_grad (rule M17).
    std::vector<std::pair<std::string, std::string>> metadata;
    /// For people, and no evidence: what a tool computed beside the digest.
    std::vector<std::pair<std::string, std::string>> statistics;
    std::string payload; ///< file of the whole tensor, relative to the trace; may be empty
    /// Where in that file's store of payloads its bytes begin, if it is one for many tensors.
    std::optional<std::uint64_t> payloadOffset;
    std::optional<LeafRows> leaves; ///< in the table of the record's file

    bool isEmpty() const { return count == std::uint64_t(0); }
};

/// Number of free bits that equality of a digest speaks of: XOR digests of narrow types have few
/// (8 for one-byte types, 1 for bool). Nothing for digests without that weakness.
std::optional<int> effectiveBits(DigestKind kind, std::string_view dtype);

/// The line (or the entry of a document) that a record came from, to be shown verbatim.
struct TracePlace
{
    std::uint32_t file = 0; ///< into Trace::files()
    std::uint64_t line = 0; ///< from 1; 0: not a file of lines
    std::uint64_t byte = 0; ///< of the first byte
    std::uint64_t size = 0; ///< bytes, without the line break
    std::uint64_t row = 0;  ///< from 1, of a file that is a table: its bytes mean nothing then

    std::string toText() const; ///< "line 3, byte 90", "byte 90" or "record 7"
    bool operator==(const TracePlace &) const = default;
};

enum class RecordRole : std::uint8_t {
    Tensor,          ///< a named tensor at a boundary
    Op,              ///< a call: inputs and outputs
    Kernel,          ///< a launch of a kernel that is named: inputs and outputs
    Collective,      ///< a whole collective: inputs and outputs
    CollectiveBegin, ///< its inputs
    CollectiveEnd,   ///< its outputs
    Values,          ///< values only
    Runtime,         ///< versions and settings of the process: never a value that may differ
    IterationBegin,
    IterationEnd,
    Failure,   ///< the iteration ended by an error
    Truncated, ///< the tool stopped recording
    Phase,     ///< any other mark without values
};

/// One observed event in a rank's own execution order. Two runs' records meet by `key` and `call`,
/// which together are unique within an iteration of a rank (rule M2); a dialect puts into `key`
/// everything else that makes the identity, such as micro-batch and group.
struct TraceRecord
{
    std::optional<std::int64_t> iteration; ///< as the file numbers them
    std::optional<std::int64_t> microBatch;
    RecordRole role = RecordRole::Tensor;
    std::string stage; ///< of the causal chain (model/traces/trace_stage.h); empty: unknown
    std::string name;  ///< as the trace spells it
    std::string key;
    std::uint64_t call = 0;    ///< of that key, counted as the dialect counts
    bool callIsStated = false; ///< the file says `call`: a slip shifts it (rule M6)
    std::string group;         ///< process group of a collective, an opaque word
    std::string scope;         ///< module, "a.b.c"; may be empty
    std::string caller;        ///< source line of the traced program; may be empty
    std::vector<Observation> inputs, outputs;
    /// Named values that are compared as they are: scalars of events.
    std::vector<std::pair<std::string, std::string>> fields;
    std::optional<std::uint64_t> sequence; ///< as recorded
    bool isPlaced = true; ///< false: the order of the records is not that of execution
    TracePlace place;
};

/// Where a stream's rank stands. Streams of two runs meet by the axes where both have them, else by
/// the rank (rule M1); hosts and file names mean nothing.
struct TraceCoordinate
{
    std::optional<std::int64_t> rank;                       ///< global
    std::vector<std::pair<std::string, std::int64_t>> axes; ///< pp, tp, cp, dp as far as recorded

    std::string toText() const; ///< "rank 3" or "pp 0, tp 1, cp 0, dp 0"
    bool operator==(const TraceCoordinate &) const = default;
};

/// What a trace says of itself and of its process.
struct TraceFact
{
    enum class Role : std::uint8_t {
        Schema,    ///< version, digest definition: unlike ones are not compared (rule M7)
        Parallel,  ///< sizes of the process grid: likewise
        Runtime,   ///< versions, settings: a recipe difference
        Placement, ///< hosts and devices: shown, never part of equality
    };
    Role role = Role::Runtime;
    std::string name, value;

    bool operator==(const TraceFact &) const = default;
};

} // namespace forkpoint
