// SPDX-License-Identifier: GPL-3.0-or-later
// Chunks of Blosc 1 and 2 (README_CHUNK_FORMAT.rst of c-blosc2): blocks, each of one or more
// compressed streams, shuffled.
#include "loaders/hdf5/bit_planes.h"
#include "loaders/hdf5/chunk_codecs.h"
#include "loaders/hdf5/lz_decoders.h"

#include <algorithm>
#include <array>

namespace forkpoint {

namespace {

constexpr std::size_t HeaderBytes = 16, LongHeaderBytes = 32;
constexpr std::uint8_t ShuffledFlag = 0x01, CopiedFlag = 0x02, BitShuffledFlag = 0x04,
                       WholeFlag = 0x10;
constexpr std::uint8_t NoFilter = 0, ByteShuffle = 1, BitShuffle = 2, TruncatedPrecision = 4;
constexpr std::size_t Filters = 6;
/// Splitting a block into a stream for each byte of an element is for such elements alone.
constexpr std::size_t MostStreams = 16, LeastStreamBytes = 128;

FilterResult decodeStream(unsigned codec, ByteView stream, std::size_t cap)
{
    switch (codec) {
    case 0: return decodeBloscLz(stream, cap);
    case 1: return decodeLz4Block(stream, cap);
    case 2: return decodeSnappy(stream, cap);
    case 3: return undoDeflate(stream, {}, cap);
    case 4: return undoZstd(stream, {}, cap);
    default:
        return Error{
            ErrorCode::Unsupported, {}, {}, "needs codec " + std::to_string(codec) + " of Blosc"};
    }
}

class BloscChunk
{
public:
    explicit BloscChunk(ByteView chunk) : m_chunk(chunk) {}

    FilterResult decode(std::size_t cap)
    {
        FP_CHECK(readHeader(cap));
        if (m_special != 0)
            return fillBloscSpecial(m_special, m_element, m_bytes, m_chunk.subspan(m_header));
        if ((m_flags & CopiedFlag) != 0) {
            if (m_chunk.size() - m_header < m_bytes)
                return damaged("ends too early");
            const auto bytes = m_chunk.subspan(m_header, m_bytes);
            return std::vector<std::byte>(bytes.begin(), bytes.end());
        }
        std::vector<std::byte> out;
        for (std::size_t i = 0; out.size() < m_bytes; ++i) {
            const std::size_t now = std::min(m_block, m_bytes - out.size());
            FP_TRY(const auto block, decodeBlock(i, now));
            out.insert(out.end(), block.begin(), block.end());
        }
        return out;
    }

private:
    std::uint8_t at(std::size_t place) const
    {
        return std::to_integer<std::uint8_t>(m_chunk[place]);
    }
    std::uint32_t number(std::size_t place) const
    {
        return loadLittle<std::uint32_t>(m_chunk.data() + place);
    }

    Status readHeader(std::size_t cap)
    {
        if (m_chunk.size() < HeaderBytes)
            return damaged("is shorter than its header");
        m_version = at(0);
        m_flags = at(2);
        m_element = std::max<std::size_t>(at(3), 1);
        m_bytes = number(4);
        m_block = number(8);
        if (number(12) > m_chunk.size())
            return damaged("ends too early");
        m_chunk = m_chunk.first(std::max<std::size_t>(number(12), HeaderBytes));
        if (m_bytes > cap)
            return overCap(cap);
        if (m_bytes > 0 && m_block == 0)
            return damaged("has blocks without bytes");
        const bool isLong = (m_flags & ShuffledFlag) != 0 && (m_flags & BitShuffledFlag) != 0;
        if (isLong)
            return readLongHeader();
        if ((m_flags & ShuffledFlag) != 0 && m_element > 1)
            m_filters[0] = ByteShuffle;
        if ((m_flags & BitShuffledFlag) != 0 && m_block >= m_element)
            m_filters[0] = BitShuffle;
        return {};
    }

    Status readLongHeader()
    {
        constexpr std::size_t FiltersAt = 16, MetaAt = 24, Flags2At = 30, FlagsAt = 31;
        constexpr unsigned Dictionary = 0x01, Lazy = 0x08, Instrumented = 0x80;
        if (m_chunk.size() < LongHeaderBytes)
            return damaged("is shorter than its header");
        m_header = LongHeaderBytes;
        if ((at(FlagsAt) & (Dictionary | Lazy | Instrumented)) != 0 || at(Flags2At) != 0) {
            return Error{ErrorCode::Unsupported,
                         {},
                         {},
                         "needs dictionaries or blocks of varying length of Blosc 2"};
        }
        m_special = at(FlagsAt) >> 4 & 7;
        for (std::size_t i = 0; i < Filters; ++i) {
            m_filters[i] = at(FiltersAt + i);
            const bool isKnown = m_filters[i] == NoFilter || m_filters[i] == BitShuffle
                || m_filters[i] == TruncatedPrecision
                || (m_filters[i] == ByteShuffle && at(MetaAt + i) == 0);
            if (!isKnown) {
                return Error{ErrorCode::Unsupported,
                             {},
                             {},
                             "needs filter " + std::to_string(m_filters[i]) + " of Blosc 2"};
            }
        }
        return {};
    }

    FilterResult decodeBlock(std::size_t index, std::size_t size)
    {
        const std::size_t place = m_header + 4 * index;
        if (place + 4 > m_chunk.size())
            return damaged("the list of blocks ends too early");
        std::size_t from = number(place);
        if (from > m_chunk.size())
            return damaged("a block lies outside");
        std::vector<std::byte> block;
        const std::size_t streams = streamsOf(size);
        for (std::size_t i = 0; i < streams; ++i)
            FP_CHECK(appendStream(from, size / streams, block));
        return unfilter(std::move(block));
    }

    std::size_t streamsOf(std::size_t size) const
    {
        const bool isWhole = (m_flags & WholeFlag) != 0 || size != m_block;
        // Blosc 1 splits only what is worth it; Blosc 2 says so by the flag alone.
        const bool isWorth = m_header == LongHeaderBytes
            || (m_element <= MostStreams && m_block / m_element >= LeastStreamBytes);
        return isWhole || !isWorth || size % m_element != 0 ? 1 : m_element;
    }

    Status appendStream(std::size_t &from, std::size_t size, std::vector<std::byte> &block)
    {
        constexpr std::uint32_t Sign = 0x80000000u;
        if (m_chunk.size() - from < 4)
            return damaged("a stream ends too early");
        const std::uint32_t stored = number(from);
        from += 4;
        if (stored == 0) {
            block.resize(block.size() + size);
            return {};
        }
        if ((stored & Sign) != 0) { // minus the byte that is repeated, and a token
            if (from == m_chunk.size() || (at(from) & 1) == 0)
                return damaged("a stream is of a kind that is not known");
            ++from;
            block.resize(block.size() + size, std::byte(0u - stored));
            return {};
        }
        if (stored > m_chunk.size() - from)
            return damaged("a stream ends too early");
        const ByteView stream = m_chunk.subspan(from, stored);
        from += stored;
        if (stored == size) {
            block.insert(block.end(), stream.begin(), stream.end());
            return {};
        }
        FP_TRY(const auto decoded, decodeStream(m_flags >> 5, stream, size));
        if (decoded.size() != size)
            return damaged("a stream decodes to too few bytes");
        block.insert(block.end(), decoded.begin(), decoded.end());
        return {};
    }

    FilterResult unfilter(std::vector<std::byte> block) const
    {
        const std::uint32_t width[] = {std::uint32_t(m_element)};
        for (std::size_t i = Filters; i-- > 0;) {
            if (m_filters[i] == ByteShuffle) {
                FP_TRY(block, undoShuffle(block, width, block.size()));
            } else if (m_filters[i] == BitShuffle) {
                unshuffleBits(block);
            }
        }
        return block;
    }

    void unshuffleBits(std::vector<std::byte> &block) const
    {
        constexpr std::uint8_t FirstBlosc2 = 3;
        std::size_t count = block.size() / m_element;
        // Blosc 1 leaves a block alone whose elements are no multiple of 8, Blosc 2 the rest of it.
        if (count % 8 != 0 && m_version < FirstBlosc2)
            return;
        count -= count % 8;
        const std::vector<std::byte> planes(block.begin(),
                                            block.begin() + std::ptrdiff_t(count * m_element));
        joinBitPlanes(planes, m_element, MutableByteView(block).first(planes.size()));
    }

    ByteView m_chunk;
    std::size_t m_header = HeaderBytes, m_element = 1, m_bytes = 0, m_block = 0;
    std::uint8_t m_version = 0, m_flags = 0;
    unsigned m_special = 0;
    std::uint8_t m_filters[Filters] = {};
};

/// The quiet NaN that C's nan("") is, little-endian; for other widths there is none.
ByteView nanOf(std::size_t element)
{
    static constexpr std::array<std::byte, 4> Single{std::byte(0), std::byte(0), std::byte(0xc0),
                                                     std::byte(0x7f)};
    static constexpr std::array<std::byte, 8> Double{std::byte(0),    std::byte(0),   std::byte(0),
                                                     std::byte(0),    std::byte(0),   std::byte(0),
                                                     std::byte(0xf8), std::byte(0x7f)};
    if (element == Single.size())
        return Single;
    return element == Double.size() ? ByteView(Double) : ByteView();
}

} // namespace

FilterResult fillBloscSpecial(unsigned kind, std::size_t element, std::size_t bytes, ByteView value)
{
    constexpr unsigned Zeros = 1, Nan = 2, Repeated = 3, NeverSet = 4;
    if (kind == Zeros)
        return std::vector<std::byte>(bytes, std::byte(0));
    if (kind == NeverSet)
        return Error{ErrorCode::Unsupported, {}, {}, "holds elements that were never set"};
    const ByteView repeated = kind == Nan ? nanOf(element) : value;
    if ((kind != Nan && kind != Repeated) || element == 0 || repeated.size() < element
        || bytes % element != 0)
        return Error{ErrorCode::Unsupported, {}, {}, "holds special values of Blosc 2"};
    std::vector<std::byte> out(bytes);
    for (std::size_t i = 0; i < bytes; ++i)
        out[i] = repeated[i % element];
    return out;
}

FilterResult undoBlosc(ByteView stored, FilterParameters, std::size_t cap)
{
    return BloscChunk(stored).decode(cap);
}

} // namespace forkpoint
