// SPDX-License-Identifier: GPL-3.0-or-later
// The filters whose chunk is a row of blocks, each behind its big-endian length: lz4 and bitshuffle.
#include "loaders/hdf5/bit_planes.h"
#include "loaders/hdf5/chunk_codecs.h"
#include "loaders/hdf5/lz_decoders.h"
#include "loaders/storage/byte_cursor.h"

#include <algorithm>

namespace forkpoint {

namespace {

template <class T>
std::optional<T> big(ByteCursor &cursor)
{
    const auto bytes = cursor.take(sizeof(T));
    return bytes ? std::optional(loadBig<T>(bytes->data())) : std::nullopt;
}

struct FrameHead
{
    std::size_t decoded = 0; ///< bytes of the chunk
    std::size_t block = 0;   ///< bytes of a block
};

Result<FrameHead> readHead(ByteCursor &cursor, std::size_t cap)
{
    const auto decoded = big<std::uint64_t>(cursor);
    const auto block = big<std::uint32_t>(cursor);
    if (!decoded || !block)
        return damaged("ends too early");
    if (*decoded > cap)
        return overCap(cap);
    return FrameHead{std::size_t(*decoded), *block};
}

Result<ByteView> nextBlock(ByteCursor &cursor)
{
    const auto size = big<std::uint32_t>(cursor);
    const auto block = size ? cursor.take(*size) : std::nullopt;
    if (!block)
        return damaged("a block ends too early");
    return *block;
}

void append(std::vector<std::byte> &to, ByteView bytes)
{
    to.insert(to.end(), bytes.begin(), bytes.end());
}

constexpr std::size_t BitBlock = 8; ///< elements that a bit shuffle takes at least

/// Blocks of shuffled elements, and what no block takes.
struct BitShuffle
{
    std::size_t elementSize = 0, block = 0; ///< block in elements

    static Result<BitShuffle> of(FilterParameters parameters)
    {
        constexpr std::size_t AutoBytes = 8192, LeastElements = 128;
        if (parameters.size() < 3 || parameters[2] == 0 || parameters[2] > AutoBytes)
            return damaged("must say how large an element is");
        BitShuffle shuffle{parameters[2], parameters.size() > 3 ? parameters[3] : 0};
        if (shuffle.block == 0)
            shuffle.block =
                std::max(AutoBytes / shuffle.elementSize / BitBlock * BitBlock, LeastElements);
        if (shuffle.block % BitBlock != 0)
            return damaged("must have blocks of a multiple of 8 elements");
        return shuffle;
    }
    /// Bytes of the next block of `left` bytes; 0 where the rest is too short.
    std::size_t next(std::size_t left) const
    {
        return std::min(block, left / elementSize / BitBlock * BitBlock) * elementSize;
    }
    void join(ByteView planes, std::vector<std::byte> &out) const
    {
        const std::size_t begin = out.size();
        out.resize(begin + planes.size());
        joinBitPlanes(planes, elementSize, MutableByteView(out).subspan(begin));
    }
};

FilterResult undoPlainBitshuffle(ByteView stored, const BitShuffle &shuffle, std::size_t cap)
{
    if (stored.size() > cap)
        return overCap(cap);
    std::vector<std::byte> out;
    out.reserve(stored.size());
    while (const std::size_t now = shuffle.next(stored.size())) {
        shuffle.join(stored.first(now), out);
        stored = stored.subspan(now);
    }
    append(out, stored);
    return out;
}

} // namespace

FilterResult undoLzf(ByteView stored, FilterParameters, std::size_t cap)
{
    return decodeLzf(stored, cap);
}

FilterResult undoLz4(ByteView stored, FilterParameters, std::size_t cap)
{
    ByteCursor cursor(stored);
    FP_TRY(const FrameHead head, readHead(cursor, cap));
    std::vector<std::byte> out;
    while (out.size() < head.decoded) {
        const std::size_t now = std::min(head.block, head.decoded - out.size());
        FP_TRY(const ByteView block, nextBlock(cursor));
        if (now == 0)
            return damaged("has blocks without bytes");
        if (block.size() == now) {
            append(out, block); // did not become smaller
            continue;
        }
        FP_TRY(const auto decoded, decodeLz4Block(block, now));
        if (decoded.size() != now)
            return damaged("a block decodes to too few bytes");
        append(out, decoded);
    }
    return out;
}

FilterResult undoBitshuffle(ByteView stored, FilterParameters parameters, std::size_t cap)
{
    constexpr std::uint32_t Lz4 = 2, Zstd = 3;
    FP_TRY(BitShuffle shuffle, BitShuffle::of(parameters));
    const std::uint32_t codec = parameters.size() > 4 ? parameters[4] : 0;
    if (codec == 0)
        return undoPlainBitshuffle(stored, shuffle, cap);
    if (codec != Lz4 && codec != Zstd)
        return damaged("must be compressed by lz4 or zstd");
    ByteCursor cursor(stored);
    FP_TRY(const FrameHead head, readHead(cursor, cap));
    shuffle.block = head.block / shuffle.elementSize;
    if (shuffle.block % BitBlock != 0)
        return damaged("must have blocks of a multiple of 8 elements");
    std::vector<std::byte> out;
    while (const std::size_t now = shuffle.next(head.decoded - out.size())) {
        FP_TRY(const ByteView block, nextBlock(cursor));
        FP_TRY(const auto planes,
               codec == Lz4 ? decodeLz4Block(block, now) : undoZstd(block, {}, now));
        if (planes.size() != now)
            return damaged("a block decodes to too few bytes");
        shuffle.join(planes, out);
    }
    const auto rest = cursor.take(head.decoded - out.size());
    if (!rest)
        return damaged("ends too early");
    append(out, *rest);
    return out;
}

} // namespace forkpoint
