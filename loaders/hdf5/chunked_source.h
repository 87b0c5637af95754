// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/hdf5/chunk_cache.h"
#include "loaders/hdf5/hdf5_description.h"
#include "loaders/storage/byte_source.h"
#include "model/shape.h"

#include <span>

namespace forkpoint {

/// An array stored in chunks of a regular grid.
struct ChunkedArray
{
    Shape shape;
    std::vector<Index> chunkDims; ///< of the shape's rank, none of them 0
    std::uint64_t elementSize = 1;
    std::vector<Hdf5Filter> filters; ///< as the writer applied them
    std::vector<Hdf5Chunk> chunks;   ///< by number
    std::vector<std::byte> fill;     ///< one element, for chunks that are not there
};

/// The row-major elements of such an array as plain bytes. Decoded chunks are shared through
/// ChunkCache; memory beside it is that of one chunk a reader.
class ChunkedSource final : public ByteSource
{
public:
    /// Malformed, Limit or Unsupported where the array cannot be read: too large chunks, filters
    /// that this build cannot undo.
    static Result<std::shared_ptr<const ChunkedSource>> make(std::shared_ptr<const ByteSource> file,
                                                             ChunkedArray array, std::string name);
    ~ChunkedSource() override;

    const std::string &name() const override { return m_name; }
    std::uint64_t size() const override { return m_size; }
    Status read(std::uint64_t offset, MutableByteView out) const override;
    Status unchanged() const override { return m_file->unchanged(); }

private:
    struct Piece;

    ChunkedSource(std::shared_ptr<const ByteSource> file, ChunkedArray array, std::string name)
        : m_file(std::move(file)),
          m_array(std::move(array)),
          m_name(std::move(name))
    {
    }
    Status measure();
    Status readBox(const Box &box, std::uint64_t firstByte, MutableByteView out) const;
    Status readPiece(const Piece &piece, MutableByteView out) const;
    Result<ChunkCache::Stored> load(const Hdf5Chunk &chunk) const;
    Result<std::vector<std::byte>> decode(const Hdf5Chunk &chunk, ByteView stored) const;
    const Hdf5Chunk *find(std::uint64_t number) const;

    std::shared_ptr<const ByteSource> m_file;
    ChunkedArray m_array;
    std::string m_name;
    std::string m_filters; ///< tells these filters from others
    std::uint64_t m_size = 0, m_chunkBytes = 0;
    Shape m_bytes, m_grid;           ///< the shape with a dimension of an element's bytes; chunks
    std::vector<Index> m_chunkShape; ///< likewise in bytes
};

} // namespace forkpoint
