// SPDX-License-Identifier: GPL-3.0-or-later
// A chunk of the filter blosc2 is a contiguous frame with one Blosc chunk (README_CFRAME_FORMAT.rst
// of c-blosc2), whose elements lie in blocks of the array where a "b2nd" layer says so.
#include "loaders/hdf5/chunk_codecs.h"
#include "loaders/limits.h"
#include "loaders/storage/byte_cursor.h"

#include <algorithm>

namespace forkpoint {

namespace {

constexpr std::size_t IndexBytes = 4096;
constexpr unsigned Rank = 16;

/// Numbers of a frame's header: msgpack, of which only fixed forms occur.
class FrameReader
{
public:
    explicit FrameReader(ByteView bytes, std::size_t position = 0) : m_cursor(bytes, position) {}

    template <class T>
    T big()
    {
        const auto bytes = m_cursor.take(sizeof(T));
        m_sound = m_sound && bytes.has_value();
        return m_sound ? loadBig<T>(bytes->data()) : T(0);
    }
    void expect(std::uint8_t byte) { check(big<std::uint8_t>() == byte); }
    void check(bool holds) { m_sound = m_sound && holds; }
    std::string_view text(std::size_t size)
    {
        const auto bytes = m_cursor.take(size);
        m_sound = m_sound && bytes.has_value();
        return m_sound ? asText(*bytes) : std::string_view();
    }
    void skip(std::size_t size) { text(size); }
    bool sound() const { return m_sound; }

private:
    ByteCursor m_cursor;
    bool m_sound = true;
};

struct Frame
{
    std::uint32_t headerBytes = 0;
    std::uint64_t decodedBytes = 0, storedBytes = 0;
    std::size_t element = 0;
    std::vector<std::uint64_t> chunk, block; ///< dimensions, where elements lie in blocks
};

/// [version, rank, [shape], [chunk shape], [block shape], ...]
bool readBlocks(FrameReader &reader, Frame &frame)
{
    reader.check(frame.chunk.empty()); // one such layer is all there is
    reader.expect(0xc6);
    reader.big<std::uint32_t>();
    reader.check(reader.big<std::uint8_t>() >= 0x95);
    reader.big<std::uint8_t>();
    const auto rank = reader.big<std::uint8_t>();
    reader.check(rank >= 1 && rank < Rank);
    reader.expect(std::uint8_t(0x90 | rank));
    for (unsigned i = 0; i < rank; ++i) {
        reader.expect(0xd3);
        reader.big<std::uint64_t>();
    }
    for (auto *const dims : {&frame.chunk, &frame.block}) {
        reader.expect(std::uint8_t(0x90 | rank));
        for (unsigned i = 0; i < rank; ++i) {
            reader.expect(0xd2);
            dims->push_back(reader.big<std::uint32_t>());
            reader.check(dims->back() > 0);
        }
    }
    for (std::size_t i = 0; reader.sound() && i < rank; ++i)
        reader.check(frame.block[i] <= frame.chunk[i]);
    return reader.sound();
}

Result<Frame> readFrame(ByteView stored)
{
    Frame frame;
    FrameReader reader(stored);
    reader.skip(1);
    reader.check(reader.text(9)
                 == std::string_view("\xa8"
                                     "b2frame\0",
                                     9));
    reader.expect(0xd2);
    frame.headerBytes = reader.big<std::uint32_t>();
    reader.skip(9 + 5 + 1); // length of the frame, flags
    frame.decodedBytes = reader.big<std::uint64_t>();
    reader.expect(0xd3);
    frame.storedBytes = reader.big<std::uint64_t>();
    reader.expect(0xd2);
    frame.element = reader.big<std::uint32_t>();
    reader.skip(5 + 5 + 3 + 3 + 1 + 18); // sizes of blocks and chunks, threads, filters
    reader.expect(0x93);
    reader.skip(3);
    reader.expect(0xde);
    const auto layers = reader.big<std::uint16_t>();
    for (unsigned i = 0; i < layers && reader.sound(); ++i) {
        const std::string_view name = reader.text(reader.big<std::uint8_t>() & 0x1f);
        reader.expect(0xd2);
        const auto place = reader.big<std::uint32_t>();
        if (name != "b2nd")
            continue;
        FrameReader layer(stored, std::min<std::size_t>(place, stored.size()));
        reader.check(readBlocks(layer, frame));
    }
    if (!reader.sound() || frame.headerBytes > stored.size()
        || frame.storedBytes > stored.size() - frame.headerBytes)
        return damaged("must be a frame of Blosc 2");
    return frame;
}

/// Bytes of whole blocks, to which each dimension of a chunk is padded; nothing beyond 64 bits.
std::optional<std::uint64_t> paddedBytes(const Frame &frame)
{
    std::optional<std::uint64_t> bytes = frame.element;
    for (std::size_t i = 0; bytes && i < frame.chunk.size(); ++i) {
        const std::uint64_t blocks = (frame.chunk[i] + frame.block[i] - 1) / frame.block[i];
        bytes = checkedMul(*bytes, blocks * frame.block[i]);
    }
    return bytes;
}

/// From blocks to rows. Chunks are padded to whole blocks.
FilterResult unblock(const Frame &frame, const std::vector<std::byte> &blocks, std::size_t cap)
{
    const std::size_t rank = frame.chunk.size();
    std::uint64_t whole = frame.element;
    std::vector<std::uint64_t> grid(rank);
    for (std::size_t i = 0; i < rank; ++i) {
        grid[i] = (frame.chunk[i] + frame.block[i] - 1) / frame.block[i];
        const auto product = checkedMul(whole, frame.chunk[i]);
        if (!product || *product > cap)
            return overCap(cap);
        whole = *product;
    }
    if (paddedBytes(frame) != blocks.size() || frame.element == 0)
        return damaged("must decode to whole blocks");
    std::vector<std::byte> out(whole);
    // Rows of a block, one after another, as they are stored.
    const std::uint64_t row = frame.block[rank - 1] * frame.element;
    const std::uint64_t rows = blocks.size() / row;
    std::uint64_t rowsPerBlock = 1;
    for (std::size_t i = 0; i + 1 < rank; ++i)
        rowsPerBlock *= frame.block[i];
    for (std::uint64_t r = 0; r < rows; ++r) {
        std::uint64_t block = r / rowsPerBlock, inside = r % rowsPerBlock;
        std::uint64_t place = 0, stride = 1;
        bool isPadding = false;
        std::uint64_t length = 0;
        for (std::size_t i = rank; i-- > 0;) {
            std::uint64_t at = block % grid[i] * frame.block[i];
            block /= grid[i];
            if (i + 1 == rank) {
                length = std::min(frame.block[i], frame.chunk[i] - std::min(at, frame.chunk[i]));
            } else {
                at += inside % frame.block[i];
                inside /= frame.block[i];
            }
            isPadding = isPadding || at >= frame.chunk[i];
            place += at * stride;
            stride *= frame.chunk[i];
        }
        if (!isPadding)
            std::copy_n(blocks.begin() + std::ptrdiff_t(r * row), length * frame.element,
                        out.begin() + std::ptrdiff_t(place * frame.element));
    }
    return out;
}

/// The chunk at `place` of the frame's chunks; where the highest bit is set, a special value is all
/// there is, and bits 56 to 58 say which.
FilterResult decodeChunk(const Frame &frame, ByteView chunks, std::uint64_t place, std::size_t cap)
{
    constexpr unsigned KindBits = 56, Kinds = 7;
    if ((place >> 63) != 0) {
        if (frame.decodedBytes > cap)
            return overCap(cap);
        return fillBloscSpecial(place >> KindBits & Kinds, frame.element, frame.decodedBytes, {});
    }
    if (place > chunks.size())
        return damaged("a chunk lies outside");
    return undoBlosc(chunks.subspan(place), {}, cap);
}

} // namespace

FilterResult undoBlosc2(ByteView stored, FilterParameters, std::size_t cap)
{
    constexpr std::size_t OffsetBytes = 8;
    FP_TRY(const Frame frame, readFrame(stored));
    FP_TRY(const auto index,
           undoBlosc(stored.subspan(frame.headerBytes + frame.storedBytes), {}, IndexBytes));
    if (index.size() != OffsetBytes)
        return Error{ErrorCode::Unsupported, {}, {}, "holds more than one chunk of Blosc 2"};
    const auto padded = frame.chunk.empty() ? cap : paddedBytes(frame);
    if (!padded || *padded > std::max<std::uint64_t>(cap, limits::ChunkBytes))
        return overCap(cap);
    const auto place = loadLittle<std::uint64_t>(index.data());
    FP_TRY(auto decoded, decodeChunk(frame, stored.subspan(frame.headerBytes), place, *padded));
    if (frame.chunk.empty())
        return decoded;
    return unblock(frame, decoded, cap);
}

} // namespace forkpoint
