// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/h5worker/hdf5_datasets.h"

#include "app/h5worker/chunk_index.h"
#include "app/h5worker/hdf5_driver.h"
#include "app/h5worker/hdf5_types.h"
#include "app/h5worker/virtual_layout.h"

#include <algorithm>

namespace forkpoint {

namespace {

constexpr unsigned Rank = H5S_MAX_RANK;
/// Places in the grid of chunks that are looked up one by one; a larger grid is listed by its
/// chunks, whose number may then be at most ListedChunks: each is found by walking over those before.
constexpr std::uint64_t LookedUpChunks = 4'000'000;
constexpr std::uint64_t ListedChunks = 8192;
constexpr unsigned Filters = 32;
constexpr std::size_t FilterParameters = 256;
constexpr std::size_t FillBytes = 1u << 20;

Error failure()
{
    return {ErrorCode::Malformed, {}, {}, hdf5Failure()};
}

/// What a file of one line may say of another.
std::string elsewhere(const std::string &what, const std::string &file)
{
    return what + ": its data lie in another file ('" + file + "'), which is not opened";
}

class Description
{
public:
    Description(WorkerLink &link, const Hdf5Handle &dataset, AdaptedHeader header)
        : m_link(link),
          m_dataset(dataset),
          m_header(std::move(header)),
          m_type(H5Dget_type(dataset.get())),
          m_space(H5Dget_space(dataset.get())),
          m_creation(H5Dget_create_plist(dataset.get()))
    {
    }

    Status tell(const Hdf5Path &path, std::uint64_t object)
    {
        if (!m_type.valid() || !m_space.valid() || !m_creation.valid())
            return failure();
        const bool isNull = H5Sget_simple_extent_type(m_space.get()) == H5S_NULL;
        if (isValueType(m_type))
            FP_CHECK(checkReadByLibrary());
        if (isNull || isValueType(m_type)) {
            tellElements(m_link, m_dataset, path);
            return {};
        }
        m_told.path = path;
        m_told.object = object;
        FP_CHECK(describeElements());
        if (m_hasElsewhere)
            FP_CHECK(checkReadByLibrary());
        takeTexts(path);
        describeStorage();
        m_link.tell(m_told);
        if (m_told.layout == Hdf5Dataset::Layout::Chunked)
            return tellChunks();
        return {};
    }

private:
    /// Text and lists are read by libhdf5, which would take the entries of the index for others, and knows
    /// no sources.
    Status checkReadByLibrary() const
    {
        const auto unsupported = [](const char *what) {
            return Error{ErrorCode::Unsupported, {}, {}, what};
        };
        if (m_header.index)
            return unsupported(
                "has text or lists in filtered chunks, with version 5 of the layout message: "
                "written for `libver=\"v110\"` they are read");
        if (H5Pget_layout(m_creation.get()) == H5D_VIRTUAL)
            return unsupported(
                "virtual dataset: shows text, lists or references, which are not read");
        return {};
    }

    Status describeElements()
    {
        hsize_t dims[Rank] = {};
        const int rank = H5Sget_simple_extent_dims(m_space.get(), dims, nullptr);
        if (rank < 0)
            return failure();
        m_told.dims.assign(dims, dims + rank);
        FP_TRY(Hdf5Layout layout, layoutOf(m_type));
        m_told.elementSize = layout.size;
        m_told.fields = std::move(layout.fields);
        m_hasElsewhere = layout.hasElsewhere;
        m_told.declaredType = textAttribute(m_dataset, "dtype");
        describeFill();
        return {};
    }

    /// Members that are text of any length are values: told before the dataset, whose chunks follow it.
    void takeTexts(const Hdf5Path &path)
    {
        const auto isText = [](const Hdf5Field &field) {
            return field.scalar.kind == Hdf5Scalar::Kind::Opaque
                && field.scalar.name == VariableText && field.loops.empty();
        };
        for (const Hdf5Field &field : m_told.fields) {
            if (isText(field))
                tellMemberText(m_link, m_dataset, path, field.path);
        }
        std::erase_if(m_told.fields, isText);
    }

    /// Zeros where none is defined, as libhdf5 reads them.
    void describeFill()
    {
        H5D_fill_value_t defined = H5D_FILL_VALUE_UNDEFINED;
        if (m_told.elementSize > FillBytes)
            return;
        m_told.fill.assign(m_told.elementSize, std::byte(0));
        if (H5Pfill_value_defined(m_creation.get(), &defined) < 0
            || defined != H5D_FILL_VALUE_USER_DEFINED || m_hasElsewhere)
            return;
        if (H5Pget_fill_value(m_creation.get(), m_type.get(), m_told.fill.data()) < 0)
            refuse(ErrorCode::Malformed, hdf5Failure());
    }

    void refuse(ErrorCode code, std::string why)
    {
        m_told.layout = Hdf5Dataset::Layout::Unreadable;
        m_told.problemCode = code;
        m_told.problem = std::move(why);
    }

    void describeStorage()
    {
        if (m_told.layout == Hdf5Dataset::Layout::Unreadable)
            return;
        if (H5Pget_external_count(m_creation.get()) > 0)
            return refuse(ErrorCode::Refused, elsewhere("external storage", externalName()));
        switch (H5Pget_layout(m_creation.get())) {
        case H5D_COMPACT: return readCompact();
        case H5D_CONTIGUOUS: return describeContiguous();
        case H5D_CHUNKED: return describeChunks();
        case H5D_VIRTUAL: return describeVirtual();
        default: return refuse(ErrorCode::Unsupported, "is stored in a way that is not known");
        }
    }

    std::string externalName() const
    {
        char name[256] = {};
        off_t offset = 0;
        hsize_t size = 0;
        H5Pget_external(m_creation.get(), 0, sizeof name - 1, name, &offset, &size);
        return name;
    }

    void describeVirtual()
    {
        if (!m_header.sources)
            return refuse(
                ErrorCode::Unsupported,
                "virtual dataset: its header is damaged, or addresses have other than 8 bytes");
        auto mappings = readVirtualLayout(*m_header.sources, m_told.dims);
        if (!mappings.ok())
            return refuse(mappings.error().code, "virtual dataset: " + mappings.error().text);
        m_told.layout = Hdf5Dataset::Layout::Virtual;
        m_told.mappings = std::move(*mappings);
    }

    void describeContiguous()
    {
        const haddr_t offset = H5Dget_offset(m_dataset.get());
        H5Eclear2(H5E_DEFAULT);
        if (offset == HADDR_UNDEF)
            return; // never written
        m_told.layout = Hdf5Dataset::Layout::Contiguous;
        m_told.offset = offset;
        m_told.length = H5Dget_storage_size(m_dataset.get());
    }

    /// At most 64 KiB, in the object's own header.
    void readCompact()
    {
        const std::uint64_t size = H5Dget_storage_size(m_dataset.get());
        if (size > Hdf5FrameBytes / 2)
            return refuse(ErrorCode::Malformed, "has more bytes than a compact dataset may have");
        m_told.layout = Hdf5Dataset::Layout::Compact;
        m_told.bytes.resize(size);
        if (m_hasElsewhere)
            return refuse(ErrorCode::Unsupported,
                          "is compact and has text, lists or references: its other members are not "
                          "read");
        const Hdf5Handle memory(H5Tcopy(m_type.get()));
        const hssize_t points = H5Sget_simple_extent_npoints(m_space.get());
        if (points < 0
            || std::uint64_t(points) != size / std::max<std::uint64_t>(m_told.elementSize, 1))
            return refuse(ErrorCode::Malformed,
                          "has another number of bytes than its elements need");
        if (size > 0
            && H5Dread(m_dataset.get(), memory.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT,
                       m_told.bytes.data())
                < 0)
            refuse(ErrorCode::Malformed, hdf5Failure());
    }

    void describeChunks()
    {
        hsize_t dims[Rank] = {};
        const int rank = H5Pget_chunk(m_creation.get(), Rank, dims);
        if (rank < 0 || std::size_t(rank) != m_told.dims.size())
            return refuse(ErrorCode::Malformed, "has chunks of another rank than its shape");
        m_told.chunkDims.assign(dims, dims + rank);
        if (std::count(dims, dims + rank, hsize_t(0)) > 0)
            return refuse(ErrorCode::Malformed, "has chunks without elements");
        const int filters = H5Pget_nfilters(m_creation.get());
        if (filters < 0 || unsigned(filters) > Filters)
            return refuse(ErrorCode::Malformed, "has more filters than there may be");
        for (unsigned i = 0; i < unsigned(filters); ++i) {
            unsigned parameters[FilterParameters] = {}, flags = 0, config = 0;
            std::size_t count = FilterParameters;
            const H5Z_filter_t id = H5Pget_filter2(m_creation.get(), i, &flags, &count, parameters,
                                                   0, nullptr, &config);
            if (id < 0)
                return refuse(ErrorCode::Malformed, hdf5Failure());
            count = std::min(count, FilterParameters);
            m_told.filters.push_back({std::uint32_t(id), {parameters, parameters + count}});
        }
        unsigned options = 0;
        m_isWholeFiltered = H5Pget_chunk_opts(m_creation.get(), &options) >= 0
            && (options & H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS) != 0;
        m_told.layout = Hdf5Dataset::Layout::Chunked;
    }

    /// The filters that a chunk was written without: all of one at an edge, where that was asked for.
    std::uint32_t maskOf(std::uint32_t stored, const std::vector<hsize_t> &at) const
    {
        for (std::size_t i = 0; i < at.size() && m_isWholeFiltered; ++i) {
            if (m_told.dims[i] - at[i] < m_told.chunkDims[i])
                return ~std::uint32_t(0);
        }
        return stored;
    }

    /// Chunks of the grid; nothing where 64 bits do not suffice.
    std::optional<std::uint64_t> gridSize() const
    {
        std::uint64_t size = 1;
        for (std::size_t i = 0; i < m_told.dims.size(); ++i) {
            const std::uint64_t chunk = m_told.chunkDims[i];
            const std::uint64_t count = m_told.dims[i] / chunk + (m_told.dims[i] % chunk != 0);
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
            return length / m_told.chunkDims[i] + (length % m_told.chunkDims[i] != 0);
        };
        for (std::size_t i = 0; i < m_told.dims.size(); ++i) {
            grid.dims.push_back(along(i, dims[i]));
            grid.most.push_back(most[i] == H5S_UNLIMITED ? ~std::uint64_t(0) : along(i, most[i]));
        }
        grid.count = size;
        return grid;
    }

    Status tellIndexedChunks()
    {
        const auto size = gridSize();
        if (!size)
            return Error{ErrorCode::Limit, {}, {}, "has a grid of more chunks than 64 bits count"};
        const ChunkGrid places = grid(*size);
        FP_TRY(const auto chunks, readChunkIndex(*m_header.index, places));
        for (const Hdf5Chunk &chunk : chunks) {
            std::vector<hsize_t> at(places.dims.size());
            std::uint64_t rest = chunk.number;
            for (std::size_t i = at.size(); i-- > 0; rest /= places.dims[i])
                at[i] = rest % places.dims[i] * m_told.chunkDims[i];
            m_found.push_back(
                {chunk.number, parentFileByte(chunk.offset), chunk.size, maskOf(chunk.mask, at)});
            if (m_found.size() == Hdf5ChunksPerFrame)
                flush();
        }
        flush();
        return {};
    }

    Status tellChunks()
    {
        if (m_header.index)
            return tellIndexedChunks();
        hsize_t count = 0;
        if (H5Dget_num_chunks(m_dataset.get(), m_space.get(), &count) < 0)
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
            FP_CHECK(listChunks(count));
        }
        if (m_count == count)
            return {};
        return Error{ErrorCode::Malformed,
                     {},
                     {},
                     std::to_string(count) + " chunks are stored, " + std::to_string(m_count)
                         + " of them can be found"};
    }

    Status lookUpChunks(std::uint64_t size)
    {
        std::vector<hsize_t> at(m_told.dims.size(), 0);
        for (std::uint64_t number = 0; number < size; ++number) {
            FP_CHECK(lookUp(number, at));
            for (std::size_t i = at.size(); i-- > 0;) {
                at[i] += m_told.chunkDims[i];
                if (at[i] < m_told.dims[i])
                    break;
                at[i] = 0;
            }
        }
        flush();
        return {};
    }

    Status listChunks(hsize_t count)
    {
        std::vector<std::pair<std::uint64_t, std::vector<hsize_t>>> found;
        for (hsize_t i = 0; i < count; ++i) {
            std::vector<hsize_t> at(m_told.dims.size(), 0);
            unsigned mask = 0;
            haddr_t address = 0;
            hsize_t bytes = 0;
            if (H5Dget_chunk_info(m_dataset.get(), m_space.get(), i, at.data(), &mask, &address,
                                  &bytes)
                < 0)
                return failure();
            std::uint64_t number = 0;
            for (std::size_t d = 0; d < at.size(); ++d) {
                const std::uint64_t chunk = m_told.chunkDims[d];
                const std::uint64_t along = m_told.dims[d] / chunk + (m_told.dims[d] % chunk != 0);
                number = number * along + at[d] / chunk;
            }
            found.emplace_back(number, std::move(at));
        }
        std::sort(found.begin(), found.end());
        found.erase(std::unique(found.begin(), found.end()), found.end());
        for (const auto &[number, at] : found)
            FP_CHECK(lookUp(number, at));
        flush();
        return {};
    }

    Status lookUp(std::uint64_t number, const std::vector<hsize_t> &at)
    {
        hsize_t size = 0;
        if (H5Dget_chunk_storage_size(m_dataset.get(), at.data(), &size) < 0 || size == 0) {
            H5Eclear2(H5E_DEFAULT);
            return {}; // never written, or damaged: then the count will not be reached
        }
        RawDataProbe probe;
        std::uint32_t mask = 0;
        std::byte untouched{};
        if (H5Dread_chunk(m_dataset.get(), H5P_DEFAULT, at.data(), &mask, &untouched) < 0)
            return failure();
        const auto range = probe.take();
        if (!range || range->size != size)
            return Error{ErrorCode::Malformed, {}, {}, "the place of a chunk cannot be told"};
        ++m_count;
        m_found.push_back({number, range->offset, std::uint32_t(range->size), maskOf(mask, at)});
        if (m_found.size() == Hdf5ChunksPerFrame)
            flush();
        return {};
    }

    void flush()
    {
        m_link.tell(m_found);
        m_found.clear();
    }

    WorkerLink &m_link;
    const Hdf5Handle &m_dataset;
    AdaptedHeader m_header;
    Hdf5Handle m_type, m_space, m_creation;
    Hdf5Dataset m_told;
    bool m_hasElsewhere = false;
    bool m_isWholeFiltered = false; ///< chunks that reach beyond the shape are not filtered
    std::vector<Hdf5Chunk> m_found; ///< not told yet
    std::uint64_t m_count = 0;
};

} // namespace

void tellDataset(WorkerLink &link, const Hdf5Handle &dataset, const Hdf5Path &path,
                 std::uint64_t object)
{
    Status status = Description(link, dataset, adaptedHeader(object)).tell(path, object);
    if (!status.ok()) {
        link.tell(Hdf5Problem{Severity::Error, status.error().code, path, true, false,
                              status.error().text});
    }
}

} // namespace forkpoint
