// SPDX-License-Identifier: GPL-3.0-or-later
// What this process and its HDF5 worker say to each other: frames of a length (u32), a kind (u8)
// and a payload, all numbers little-endian. The worker reads the file through its parent: it asks
// for byte ranges (Read) and gets them (Bytes) or not (Failed), and for chunks of text without their
// filters (Decode). Neither side trusts the other's lengths.
#pragma once

#include "loaders/hdf5/hdf5_description.h"
#include "model/bytes.h"
#include "model/result.h"

#include <cstdint>
#include <string>
#include <vector>

namespace forkpoint {

constexpr std::uint32_t Hdf5ProtocolVersion = 4;
/// Payload of a frame, at most.
constexpr std::uint32_t Hdf5FrameBytes = 4u << 20;
constexpr std::size_t Hdf5FrameHeader = 5;
/// Bytes asked for at once, at most.
constexpr std::uint32_t Hdf5ReadBytes = 1u << 20;
/// Bytes, stored and decoded, of all chunks that a worker may have decoded.
constexpr std::uint64_t Hdf5DecodedBytes = std::uint64_t(1) << 30;
/// Chunks of a dataset in one frame, at most.
constexpr std::size_t Hdf5ChunksPerFrame = 32768;

enum class Hdf5Message : std::uint8_t {
    // from the parent
    Open = 1, ///< Hdf5Open
    Bytes,    ///< what was asked for
    Failed,   ///< text: why it could not be had
    // from the worker
    Read = 64, ///< Hdf5Read
    Dataset,   ///< Hdf5Dataset without chunks
    Chunks,    ///< more chunks of the dataset before; none: these were all
    Value,     ///< Hdf5Value
    Problem,   ///< Hdf5Problem
    Refused,   ///< text: the file cannot be opened
    End,       ///< everything was told
    Decode,    ///< Hdf5Decode
};

struct Hdf5Open
{
    std::uint32_t version = Hdf5ProtocolVersion;
    std::uint64_t fileBytes = 0;
    std::uint64_t memoryBytes = 0; ///< address space the worker may have
    std::uint64_t cpuSeconds = 0;

    bool operator==(const Hdf5Open &) const = default;
};

struct Hdf5Read
{
    std::uint64_t offset = 0;
    std::uint32_t size = 0;

    bool operator==(const Hdf5Read &) const = default;
};

/// Asks for a chunk as it was before its filters: decoders stay with the parent.
struct Hdf5Decode
{
    std::vector<Hdf5Filter> filters;
    Hdf5Chunk chunk;
    std::uint32_t bytes = 0; ///< of the chunk; a frame holds them

    bool operator==(const Hdf5Decode &) const = default;
};

/// A whole frame of that kind.
std::vector<std::byte> hdf5Frame(Hdf5Message kind, ByteView payload);
std::vector<std::byte> hdf5Frame(const Hdf5Open &message);
std::vector<std::byte> hdf5Frame(const Hdf5Read &message);
std::vector<std::byte> hdf5Frame(const Hdf5Decode &message);
std::vector<std::byte> hdf5Frame(const Hdf5Dataset &dataset); ///< its chunks are left out
std::vector<std::byte> hdf5Frame(const std::vector<Hdf5Chunk> &chunks);
std::vector<std::byte> hdf5Frame(const Hdf5Value &value);
std::vector<std::byte> hdf5Frame(const Hdf5Problem &problem);

struct Hdf5FrameHead
{
    Hdf5Message kind = Hdf5Message::End;
    std::uint32_t size = 0;
};

/// Of exactly Hdf5FrameHeader bytes; Malformed over Hdf5FrameBytes.
Result<Hdf5FrameHead> parseHdf5FrameHead(ByteView bytes);

// Payloads; Malformed where bytes lack or are left over.
Result<Hdf5Open> parseHdf5Open(ByteView payload);
Result<Hdf5Read> parseHdf5Read(ByteView payload);
Result<Hdf5Decode> parseHdf5Decode(ByteView payload);
Result<Hdf5Dataset> parseHdf5Dataset(ByteView payload);
Result<std::vector<Hdf5Chunk>> parseHdf5Chunks(ByteView payload);
Result<Hdf5Value> parseHdf5Value(ByteView payload);
Result<Hdf5Problem> parseHdf5Problem(ByteView payload);

} // namespace forkpoint
