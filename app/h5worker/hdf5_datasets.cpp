// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/h5worker/hdf5_datasets.h"

#include "app/h5worker/hdf5_chunks.h"
#include "app/h5worker/hdf5_driver.h"
#include "app/h5worker/hdf5_elements.h"
#include "app/h5worker/hdf5_stored.h"
#include "app/h5worker/hdf5_types.h"
#include "app/h5worker/stored_elements.h"
#include "app/h5worker/virtual_layout.h"

#include <algorithm>
#include <optional>

namespace forkpoint {

namespace {

constexpr unsigned Rank = H5S_MAX_RANK;
constexpr unsigned Filters = 32;
constexpr std::size_t FilterParameters = 256;
constexpr std::size_t FillBytes = 1u << 20;
constexpr const char *UnreadFill =
    "may have elements that were never written, whose text or lists are not read";

Error failure()
{
    return {ErrorCode::Malformed, {}, {}, hdf5Failure()};
}

/// What a file of one line may say of another.
std::string elsewhere(const std::string &what, const std::string &file)
{
    return what + ": its data lie in another file ('" + file + "'), which is not opened";
}

/// Nothing where 64 bits do not count them.
std::optional<std::uint64_t> chunksOfGrid(const Hdf5Dataset &dataset)
{
    std::optional<std::uint64_t> all = 1;
    for (std::size_t i = 0; i < dataset.dims.size() && all; ++i) {
        const std::uint64_t chunk = dataset.chunkDims[i];
        all = checkedMul(*all, dataset.dims[i] / chunk + (dataset.dims[i] % chunk != 0));
    }
    return all;
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
        if (isNull) {
            tellElements(m_link, m_dataset, std::move(m_type), path, libraryReader({}));
            return {};
        }
        m_told.path = path;
        m_told.object = object;
        FP_CHECK(describeElements());
        if (H5Pget_layout(m_creation.get()) == H5D_VIRTUAL) {
            describeVirtual();
            m_link.tell(m_told);
            return {};
        }
        if (isValueType(m_type)) {
            FP_TRY(Hdf5Reader read, readerOf({}, m_type, 0));
            tellElements(m_link, m_dataset, std::move(m_type), path, std::move(read));
            return {};
        }
        FP_CHECK(tellTexts());
        describeStorage();
        refuseUnreadFill();
        m_link.tell(m_told);
        if (m_told.layout != Hdf5Dataset::Layout::Chunked)
            return {};
        FP_CHECK(listChunks(m_dataset, m_told, m_header.index,
                            [this](const std::vector<Hdf5Chunk> &some) { m_link.tell(some); }));
        m_link.tell(std::vector<Hdf5Chunk>()); // these are all
        return {};
    }

private:
    /// Of all elements, or of the text that is a member of each, at that offset. libhdf5 would take the
    /// entries of the newer index for others.
    Result<Hdf5Reader> readerOf(const std::vector<std::string> &member, const Hdf5Handle &type,
                                std::uint64_t offset)
    {
        if (!m_header.index)
            return libraryReader(member);
        if (m_stored.empty()) {
            FP_TRY(m_stored, readStored());
        }
        if (member.empty())
            return storedReader(type, m_stored);
        std::vector<std::byte> packed;
        for (std::size_t at = offset; at + heapPlaceBytes() <= m_stored.size();
             at += m_told.elementSize) {
            const ByteView own = ByteView(m_stored).subspan(at, heapPlaceBytes());
            packed.insert(packed.end(), own.begin(), own.end());
        }
        return storedReader(type, packed);
    }

    /// libhdf5 reads the members that the type in memory names: here this one alone.
    Hdf5Reader libraryReader(std::vector<std::string> member) const
    {
        return
            [id = m_dataset.get(), member = std::move(member)](hid_t memory, void *out) -> herr_t {
                Hdf5Handle inner(H5Tcopy(memory));
                for (std::size_t i = member.size(); inner.valid() && i-- > 0;) {
                    Hdf5Handle outer(H5Tcreate(H5T_COMPOUND, H5Tget_size(inner.get())));
                    if (H5Tinsert(outer.get(), member[i].c_str(), 0, inner.get()) < 0)
                        return -1;
                    inner = std::move(outer);
                }
                return H5Dread(id, inner.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, out);
            };
    }

    Result<std::vector<std::byte>> readStored()
    {
        describeChunks();
        refuseUnreadFill();
        if (m_told.layout != Hdf5Dataset::Layout::Chunked)
            return Error{m_told.problemCode, {}, {}, m_told.problem};
        std::vector<Hdf5Chunk> chunks;
        FP_CHECK(listChunks(m_dataset, m_told, m_header.index, [&](const auto &some) {
            chunks.insert(chunks.end(), some.begin(), some.end());
        }));
        return readStoredElements(m_link, m_told, chunks);
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
    Status tellTexts()
    {
        for (const Hdf5Field &field : m_told.fields) {
            if (!field.isText())
                continue;
            Hdf5Handle type = memberTypeOf(m_dataset, field.path);
            FP_TRY(Hdf5Reader read, readerOf(field.path, type, field.offset));
            Hdf5Path path = m_told.path;
            path.insert(path.end(), field.path.begin(), field.path.end());
            tellElements(m_link, m_dataset, std::move(type), path, std::move(read));
        }
        std::erase_if(m_told.fields, [](const Hdf5Field &field) { return field.isText(); });
        return {};
    }

    /// Zeros where none is defined, as libhdf5 reads them.
    void describeFill()
    {
        H5D_fill_value_t defined = H5D_FILL_VALUE_UNDEFINED;
        if (m_told.elementSize > FillBytes)
            return;
        m_told.fill.assign(m_told.elementSize, std::byte(0));
        if (H5Pfill_value_defined(m_creation.get(), &defined) < 0
            || defined != H5D_FILL_VALUE_USER_DEFINED)
            return;
        m_isFillUnread = m_hasElsewhere;
        if (m_isFillUnread)
            return;
        if (H5Pget_fill_value(m_creation.get(), m_type.get(), m_told.fill.data()) < 0)
            refuse(ErrorCode::Malformed, hdf5Failure());
    }

    /// No element has the fill value where every chunk of the grid is stored.
    void refuseUnreadFill()
    {
        const bool isChunked = m_told.layout == Hdf5Dataset::Layout::Chunked;
        if (!m_isFillUnread || (!isChunked && m_told.layout != Hdf5Dataset::Layout::Unallocated))
            return;
        std::uint64_t stored = 0;
        if (isChunked) {
            const Status status = listChunks(m_dataset, m_told, m_header.index,
                                             [&](const auto &some) { stored += some.size(); });
            if (!status.ok())
                return refuse(status.error().code, status.error().text);
        }
        if (!isChunked || chunksOfGrid(m_told) != stored)
            refuse(ErrorCode::Unsupported, UnreadFill);
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

    /// Its sources are found by the parent, with all that lies in them.
    void describeVirtual()
    {
        if (m_told.layout == Hdf5Dataset::Layout::Unreadable)
            return;
        if (isValueType(m_type))
            m_told.valueType = valueTypeOf(m_type);
        describeFillText();
        if (!m_header.sources)
            return refuse(
                ErrorCode::Unsupported,
                "virtual dataset: its header is damaged, or addresses have more than 8 bytes");
        auto mappings = readVirtualLayout(*m_header.sources);
        if (!mappings.ok())
            return refuse(mappings.error().code, "virtual dataset: " + mappings.error().text);
        m_told.layout = Hdf5Dataset::Layout::Virtual;
        m_told.mappings = std::move(*mappings);
    }

    /// Of what no source shows, where this is text; an unread fill value is not known.
    void describeFillText()
    {
        if (!m_isFillUnread)
            m_told.fillText = "";
        else
            m_told.fill.clear();
        if (m_told.valueType.empty())
            return;
        H5D_fill_value_t defined = H5D_FILL_VALUE_UNDEFINED;
        H5Pfill_value_defined(m_creation.get(), &defined);
        const bool isSet = defined == H5D_FILL_VALUE_USER_DEFINED;
        const auto read = [&](hid_t memory, void *out) -> herr_t {
            return isSet ? H5Pget_fill_value(m_creation.get(), memory, out) : 0;
        };
        const Hdf5Holder one{Hdf5Handle(H5Tcopy(m_type.get())), 1, false, read};
        const auto told = readElements(one, m_dataset.get());
        const auto *const texts =
            told.ok() ? std::get_if<std::vector<std::string>>(&*told) : nullptr;
        m_told.fillText =
            texts != nullptr && texts->size() == 1 ? std::optional(texts->front()) : std::nullopt;
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
        m_told.filters.clear();
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
    bool m_isFillUnread = false;
    std::vector<std::byte> m_stored; ///< all elements, where they are read here
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
