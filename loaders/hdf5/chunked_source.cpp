// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/hdf5/chunked_source.h"

#include "loaders/elements/extent_geometry.h"
#include "loaders/hdf5/chunk_filters.h"
#include "loaders/limits.h"
#include "model/coordinates.h"

#include <algorithm>
#include <cstring>

namespace forkpoint {

namespace {

/// Stored bytes of a chunk beyond its decoded ones: a filter that gains nothing adds headers.
constexpr std::uint64_t StoredSlack = 1u << 20;

std::uint64_t volumeOf(const std::vector<Index> &dims)
{
    return Shape{dims}.count().value_or(~std::uint64_t(0));
}

/// Repeats the element over `out`, beginning within it.
void fillWith(const std::vector<std::byte> &element, std::uint64_t begin, MutableByteView out)
{
    const bool isZero = std::all_of(element.begin(), element.end(),
                                    [](std::byte byte) { return byte == std::byte(0); });
    if (isZero) {
        std::fill(out.begin(), out.end(), std::byte(0));
        return;
    }
    for (std::size_t i = 0; i < out.size(); ++i)
        out[i] = element[(begin + i) % element.size()];
}

std::string placeOf(const Hdf5Chunk &chunk)
{
    return "chunk at byte " + std::to_string(chunk.offset);
}

/// All that decides what becomes of stored bytes but a chunk's mask.
std::string textOf(const std::vector<Hdf5Filter> &filters, std::uint64_t chunkBytes)
{
    std::string text = std::to_string(chunkBytes);
    for (const Hdf5Filter &filter : filters) {
        text += '/' + std::to_string(filter.id);
        for (const std::uint32_t parameter : filter.parameters)
            text += ',' + std::to_string(parameter);
    }
    return text + '/';
}

} // namespace

/// What one chunk gives to one box of a read.
struct ChunkedSource::Piece
{
    std::vector<Index> chunk; ///< its coordinates in the grid
    Box part;                 ///< in bytes of the array
    std::uint64_t firstByte;  ///< of the array, where `out` begins
};

Result<std::shared_ptr<const ChunkedSource>>
ChunkedSource::make(std::shared_ptr<const ByteSource> file, ChunkedArray array, std::string name)
{
    const std::shared_ptr<ChunkedSource> source(
        new ChunkedSource(std::move(file), std::move(array), std::move(name)));
    FP_CHECK(source->measure());
    return std::shared_ptr<const ChunkedSource>(source);
}

ChunkedSource::~ChunkedSource()
{
    ChunkCache::ofThisProcess().forget(this);
}

Status ChunkedSource::measure()
{
    const std::size_t rank = m_array.shape.rank();
    if (m_array.chunkDims.size() != rank || m_array.fill.size() != m_array.elementSize
        || m_array.elementSize == 0)
        return Error{ErrorCode::Malformed, m_name, {}, "has chunks of another rank or element"};
    m_bytes.dims = m_array.shape.dims;
    m_bytes.dims.push_back(m_array.elementSize);
    m_chunkShape = m_array.chunkDims;
    m_chunkShape.push_back(m_array.elementSize);
    for (std::size_t i = 0; i < rank; ++i) {
        if (m_array.chunkDims[i] == 0)
            return Error{ErrorCode::Malformed, m_name, {}, "has chunks without elements"};
        const Index dim = m_array.shape.dims[i], chunk = m_array.chunkDims[i];
        m_grid.dims.push_back(dim / chunk + (dim % chunk != 0));
    }
    const auto size = m_bytes.count();
    if (!size)
        return Error{ErrorCode::Limit, m_name, {}, "has more bytes than 64 bits count"};
    m_size = *size;
    m_chunkBytes = volumeOf(m_chunkShape);
    m_filters = textOf(m_array.filters, m_chunkBytes);
    if (m_array.chunks.empty())
        return {};
    if (m_chunkBytes > limits::ChunkBytes) {
        return Error{ErrorCode::Limit,
                     m_name,
                     {},
                     "a chunk may have at most " + std::to_string(limits::ChunkBytes)
                         + " bytes, has " + std::to_string(m_chunkBytes)};
    }
    for (std::size_t i = 0; i < m_array.filters.size(); ++i) {
        const std::string why = whyNoFilter(m_array.filters[i].id);
        const bool isApplied =
            std::any_of(m_array.chunks.begin(), m_array.chunks.end(), [i](const Hdf5Chunk &chunk) {
                return i >= 32 || (chunk.mask >> i & 1) == 0;
            });
        if (!why.empty() && isApplied)
            return Error{ErrorCode::Unsupported, m_name, {}, why};
    }
    return {};
}

Status ChunkedSource::read(std::uint64_t offset, MutableByteView out) const
{
    FP_CHECK(checkRange(m_name, offset, out.size(), m_size));
    if (out.empty())
        return {};
    if (m_array.chunks.empty()) {
        fillWith(m_array.fill, offset % m_array.elementSize, out);
        return {};
    }
    for (const Box &box : boxesOfRange(m_bytes, offset, out.size()))
        FP_CHECK(readBox(box, offset, out));
    return {};
}

Status ChunkedSource::readBox(const Box &box, std::uint64_t firstByte, MutableByteView out) const
{
    const std::size_t rank = m_array.shape.rank();
    std::vector<Index> first(rank), count(rank), at(rank, 0);
    for (std::size_t i = 0; i < rank; ++i) {
        first[i] = box.origin[i] / m_chunkShape[i];
        count[i] = (box.origin[i] + box.size[i] - 1) / m_chunkShape[i] - first[i] + 1;
    }
    do {
        Piece piece{std::vector<Index>(rank), {}, firstByte};
        Box whole{std::vector<Index>(rank + 1, 0), m_chunkShape};
        for (std::size_t i = 0; i < rank; ++i) {
            piece.chunk[i] = first[i] + at[i];
            whole.origin[i] = piece.chunk[i] * m_chunkShape[i];
            // The last chunk reaches beyond the array.
            whole.size[i] = std::min(m_chunkShape[i], m_bytes.dims[i] - whole.origin[i]);
        }
        const auto part = intersection(box, whole);
        if (part) {
            piece.part = *part;
            FP_CHECK(readPiece(piece, out));
        }
    } while (advance(at, count));
    return {};
}

Status ChunkedSource::readPiece(const Piece &piece, MutableByteView out) const
{
    const std::size_t rank = m_array.shape.rank();
    std::uint64_t number = 0;
    for (std::size_t i = 0; i < rank; ++i)
        number = number * m_grid.dims[i] + piece.chunk[i];
    const Hdf5Chunk *const chunk = find(number);
    ChunkCache::Bytes bytes;
    if (chunk != nullptr) {
        FP_TRY(bytes,
               ChunkCache::ofThisProcess().get(
                   this, number, [&] { return load(*chunk); },
                   [&](const ChunkCache::Stored &stored) { return decode(*chunk, stored.bytes); }));
    }
    const std::vector<std::int64_t> target = m_bytes.rowMajorStrides();
    const std::vector<std::int64_t> source = Shape{m_chunkShape}.rowMajorStrides();
    // Trailing dimensions that lie together on both sides are one run.
    std::size_t outer = rank;
    std::uint64_t run = piece.part.size[rank];
    while (outer > 0 && piece.part.size[outer] == m_chunkShape[outer]
           && piece.part.size[outer] == m_bytes.dims[outer])
        run *= piece.part.size[--outer];
    std::vector<Index> loops(piece.part.size.begin(),
                             piece.part.size.begin() + std::ptrdiff_t(outer));
    std::vector<Index> at(outer, 0);
    std::uint64_t to = 0 - piece.firstByte, from = 0;
    for (std::size_t i = 0; i <= rank; ++i) {
        const Index corner = i < rank ? piece.chunk[i] * m_chunkShape[i] : 0;
        to += piece.part.origin[i] * std::uint64_t(target[i]);
        from += (piece.part.origin[i] - corner) * std::uint64_t(source[i]);
    }
    do {
        std::uint64_t toRow = to, fromRow = from;
        for (std::size_t i = 0; i < outer; ++i) {
            toRow += at[i] * std::uint64_t(target[i]);
            fromRow += at[i] * std::uint64_t(source[i]);
        }
        const auto row = out.subspan(std::size_t(toRow), std::size_t(run));
        if (bytes)
            std::memcpy(row.data(), bytes->data() + fromRow, row.size());
        else
            fillWith(m_array.fill, piece.part.origin[rank], row);
    } while (advance(at, loops));
    return {};
}

const Hdf5Chunk *ChunkedSource::find(std::uint64_t number) const
{
    const auto found = std::lower_bound(
        m_array.chunks.begin(), m_array.chunks.end(), number,
        [](const Hdf5Chunk &chunk, std::uint64_t wanted) { return chunk.number < wanted; });
    return found == m_array.chunks.end() || found->number != number ? nullptr : &*found;
}

Result<ChunkCache::Stored> ChunkedSource::load(const Hdf5Chunk &chunk) const
{
    if (chunk.size > m_chunkBytes + m_chunkBytes / 8 + StoredSlack) {
        return Error{ErrorCode::Malformed, m_file->name(), placeOf(chunk),
                     "is larger than its filters can make it"};
    }
    ChunkCache::Stored stored;
    FP_CHECK(checkRange(m_file->name(), chunk.offset, chunk.size, m_file->size()));
    stored.bytes.resize(chunk.size);
    FP_CHECK(m_file->read(chunk.offset, stored.bytes));
    if (!m_array.filters.empty())
        stored.filters = m_filters + std::to_string(chunk.mask);
    return stored;
}

Result<std::vector<std::byte>> ChunkedSource::decode(const Hdf5Chunk &chunk, ByteView stored) const
{
    auto decoded = undoFilters(m_array.filters, chunk.mask, {stored.begin(), stored.end()},
                               std::size_t(m_chunkBytes));
    if (!decoded.ok())
        return std::move(decoded).error().inFile(m_file->name()).atPlace(placeOf(chunk));
    return decoded;
}

} // namespace forkpoint
