// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/h5worker/hdf5_chunks.h"

#include "app/h5worker/chunk_index.h"
#include "app/h5worker/hdf5_driver.h"
#include "loaders/hdf5/hdf5_protocol.h"

#include <algorithm>

namespace forkpoint {

namespace {

constexpr unsigned Rank = H5S_MAX_RANK;
/// Places in the grid of chunks that are looked up one by one; a larger grid is listed by its
/// chunks, whose number may then be at most ListedChunks: each is found by walking over those before.
constexpr std::uint64_t LookedUpChunks = 4'000'000;
constexpr std::uint64_t ListedChunks = 8192;

Error failure()
{
    return {ErrorCode::Malformed, {}, {}, hdf5Failure()};
}

class ChunkList
{
public:
    using Take = std::function<void(const std::vector<Hdf5Chunk> &)>;

    ChunkList(const Hdf5Handle &handle, const Hdf5Dataset &dataset,
              const std::optional<NewerChunkIndex> &index, const Take &take)
        : m_handle(handle),
          m_dataset(dataset),
          m_index(index),
          m_take(take),
          m_space(H5Dget_space(handle.get()))
    {
        const Hdf5Handle creation(H5Dget_create_plist(handle.get()));
        unsigned options = 0;
        m_isWholeFiltered = H5Pget_chunk_opts(creation.get(), &options) >= 0
            && (options & H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS) != 0;
    }

    Status list()
    {
        Status status = listAll();
        flush();
        return status;
    }

private:
    Status listAll()
    {
        if (m_index)
            return listIndexed();
        hsize_t count = 0;
        if (H5Dget_num_chunks(m_handle.get(), m_space.get(), &count) < 0)
            return failure();
        if (count == 0)
            return {};
        const auto size = gridSize();
        if (size && *size <= LookedUpChunks) {
            FP_CHECK(lookUpChunks(*size));
        } else if (!size || count > ListedChunks) {
            return Error{ErrorCode::Limit,
                         {},
                         {},
                         "has a grid of more than " + std::to_string(LookedUpChunks)
                             + " chunks with " + std::to_string(count) + " of them stored"};
        } else {
            FP_CHECK(listStored(count));
        }
        if (m_count == count)
            return {};
        return Error{ErrorCode::Malformed,
                     {},
                     {},
                     std::to_string(count) + " chunks are stored, " + std::to_string(m_count)
                         + " of them can be found"};
    }

    /// The filters that a chunk was written without: all of one at an edge, where that was asked for.
    std::uint32_t maskOf(std::uint32_t stored, const std::vector<hsize_t> &at) const
    {
        for (std::size_t i = 0; i < at.size() && m_isWholeFiltered; ++i) {
            if (m_dataset.dims[i] - at[i] < m_dataset.chunkDims[i])
                return ~std::uint32_t(0);
        }
        return stored;
    }

    /// Chunks of the grid; nothing where 64 bits do not suffice.
    std::optional<std::uint64_t> gridSize() const
    {
        std::uint64_t size = 1;
        for (std::size_t i = 0; i < m_dataset.dims.size(); ++i) {
            const std::uint64_t chunk = m_dataset.chunkDims[i];
            const std::uint64_t count =
                m_dataset.dims[i] / chunk + (m_dataset.dims[i] % chunk != 0);
            const auto product = checkedMul(size, count);
            if (!product)
                return std::nullopt;
            size = *product;
        }
        return size;
    }

    /// Places for chunks in the present shape, and in the largest one.
    ChunkGrid grid(std::uint64_t size) const
    {
        ChunkGrid grid;
        hsize_t dims[Rank] = {}, most[Rank] = {};
        H5Sget_simple_extent_dims(m_space.get(), dims, most);
        const auto along = [&](std::size_t i, std::uint64_t length) {
            return length / m_dataset.chunkDims[i] + (length % m_dataset.chunkDims[i] != 0);
        };
        for (std::size_t i = 0; i < m_dataset.dims.size(); ++i) {
            grid.dims.push_back(along(i, dims[i]));
            grid.most.push_back(most[i] == H5S_UNLIMITED ? ~std::uint64_t(0) : along(i, most[i]));
        }
        grid.count = size;
        return grid;
    }

    Status listIndexed()
    {
        const auto size = gridSize();
        if (!size)
            return Error{ErrorCode::Limit, {}, {}, "has a grid of more chunks than 64 bits count"};
        const ChunkGrid places = grid(*size);
        FP_TRY(const auto chunks, readChunkIndex(*m_index, places));
        for (const Hdf5Chunk &chunk : chunks) {
            std::vector<hsize_t> at(places.dims.size());
            std::uint64_t rest = chunk.number;
            for (std::size_t i = at.size(); i-- > 0; rest /= places.dims[i])
                at[i] = rest % places.dims[i] * m_dataset.chunkDims[i];
            add({chunk.number, parentFileByte(chunk.offset), chunk.size, maskOf(chunk.mask, at)});
        }
        return {};
    }

    Status lookUpChunks(std::uint64_t size)
    {
        std::vector<hsize_t> at(m_dataset.dims.size(), 0);
        for (std::uint64_t number = 0; number < size; ++number) {
            FP_CHECK(lookUp(number, at));
            for (std::size_t i = at.size(); i-- > 0;) {
                at[i] += m_dataset.chunkDims[i];
                if (at[i] < m_dataset.dims[i])
                    break;
                at[i] = 0;
            }
        }
        return {};
    }

    Status listStored(hsize_t count)
    {
        std::vector<std::pair<std::uint64_t, std::vector<hsize_t>>> found;
        for (hsize_t i = 0; i < count; ++i) {
            std::vector<hsize_t> at(m_dataset.dims.size(), 0);
            unsigned mask = 0;
            haddr_t address = 0;
            hsize_t bytes = 0;
            if (H5Dget_chunk_info(m_handle.get(), m_space.get(), i, at.data(), &mask, &address,
                                  &bytes)
                < 0)
                return failure();
            std::uint64_t number = 0;
            for (std::size_t d = 0; d < at.size(); ++d) {
                const std::uint64_t chunk = m_dataset.chunkDims[d];
                const std::uint64_t along =
                    m_dataset.dims[d] / chunk + (m_dataset.dims[d] % chunk != 0);
                number = number * along + at[d] / chunk;
            }
            found.emplace_back(number, std::move(at));
        }
        std::sort(found.begin(), found.end());
        found.erase(std::unique(found.begin(), found.end()), found.end());
        for (const auto &[number, at] : found)
            FP_CHECK(lookUp(number, at));
        return {};
    }

    Status lookUp(std::uint64_t number, const std::vector<hsize_t> &at)
    {
        hsize_t size = 0;
        if (H5Dget_chunk_storage_size(m_handle.get(), at.data(), &size) < 0 || size == 0) {
            H5Eclear2(H5E_DEFAULT);
            return {}; // never written, or damaged: then the count will not be reached
        }
        RawDataProbe probe;
        std::uint32_t mask = 0;
        std::byte untouched{};
        if (H5Dread_chunk(m_handle.get(), H5P_DEFAULT, at.data(), &mask, &untouched) < 0)
            return failure();
        const auto range = probe.take();
        if (!range || range->size != size)
            return Error{ErrorCode::Malformed, {}, {}, "the place of a chunk cannot be told"};
        ++m_count;
        add({number, range->offset, std::uint32_t(range->size), maskOf(mask, at)});
        return {};
    }

    void add(const Hdf5Chunk &chunk)
    {
        m_found.push_back(chunk);
        if (m_found.size() == Hdf5ChunksPerFrame)
            flush();
    }

    void flush()
    {
        if (!m_found.empty())
            m_take(m_found);
        m_found.clear();
    }

    const Hdf5Handle &m_handle;
    const Hdf5Dataset &m_dataset;
    const std::optional<NewerChunkIndex> &m_index;
    const Take &m_take;
    Hdf5Handle m_space;
    bool m_isWholeFiltered = false; ///< chunks that reach beyond the shape are not filtered
    std::vector<Hdf5Chunk> m_found; ///< not handed over yet
    std::uint64_t m_count = 0;
};

} // namespace

Status listChunks(const Hdf5Handle &dataset, const Hdf5Dataset &described,
                  const std::optional<NewerChunkIndex> &index,
                  const std::function<void(const std::vector<Hdf5Chunk> &)> &take)
{
    return ChunkList(dataset, described, index, take).list();
}

} // namespace forkpoint
