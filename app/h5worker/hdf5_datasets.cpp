// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/h5worker/hdf5_datasets.h"

#include "app/h5worker/hdf5_chunks.h"
#include "app/h5worker/hdf5_driver.h"
#include "app/h5worker/hdf5_types.h"
#include "app/h5worker/virtual_layout.h"

#include <algorithm>

namespace forkpoint {

namespace {

constexpr unsigned Rank = H5S_MAX_RANK;
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
        if (m_told.layout != Hdf5Dataset::Layout::Chunked)
            return {};
        FP_CHECK(listChunks(m_dataset, m_told, m_header.index,
                            [this](const std::vector<Hdf5Chunk> &some) { m_link.tell(some); }));
        m_link.tell(std::vector<Hdf5Chunk>()); // these are all
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
        m_told.layout = Hdf5Dataset::Layout::Chunked;
    }

    WorkerLink &m_link;
    const Hdf5Handle &m_dataset;
    AdaptedHeader m_header;
    Hdf5Handle m_type, m_space, m_creation;
    Hdf5Dataset m_told;
    bool m_hasElsewhere = false;
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
