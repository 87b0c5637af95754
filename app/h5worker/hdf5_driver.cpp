// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/h5worker/hdf5_driver.h"

#include "app/h5worker/global_heap.h"
#include "app/h5worker/metadata_block.h"

#include <algorithm>
#include <list>
#include <map>
#include <unordered_map>
#include <vector>

namespace forkpoint {

namespace {

constexpr std::uint64_t PageBytes = 8192;
constexpr std::size_t Pages = 4096;
/// Larger reads (raw data of strings) go around the pages.
constexpr std::size_t PagedBytes = 4 * PageBytes;

/// libhdf5 has one file here, and its callbacks carry no pointer of ours.
struct ParentFile
{
    WorkerLink *link = nullptr;
    std::uint64_t size = 0;
    std::uint64_t userBlock = 0; ///< bytes before address 0
    bool isReadable = false;     ///< addresses and lengths of at most 8 bytes
    bool isOpen = false;
    bool isProbing = false;
    bool isOddTreeTold = false;
    std::vector<StoredRange> probed;
    /// Other bytes than the file's, by the page and their places in it.
    std::unordered_map<std::uint64_t, std::vector<std::pair<std::uint16_t, std::byte>>> patches;
    /// Of the object headers that were looked at, by address.
    std::map<std::uint64_t, AdaptedHeader> headers;

    using Page = std::pair<std::uint64_t, std::vector<std::byte>>;
    std::list<Page> pages; ///< the one used last in front
    std::unordered_map<std::uint64_t, std::list<Page>::iterator> places;

    const std::vector<std::byte> *page(std::uint64_t number)
    {
        const auto known = places.find(number);
        if (known != places.end()) {
            pages.splice(pages.begin(), pages, known->second);
            return &pages.front().second;
        }
        const std::uint64_t begin = number * PageBytes;
        std::vector<std::byte> bytes(std::min(PageBytes, size - begin));
        if (!link->readFile(begin, bytes))
            return nullptr;
        if (pages.size() == Pages) {
            places.erase(pages.back().first);
            pages.pop_back();
        }
        pages.emplace_front(number, std::move(bytes));
        places[number] = pages.begin();
        return &pages.front().second;
    }

    bool read(std::uint64_t offset, MutableByteView out)
    {
        if (offset > size || out.size() > size - offset)
            return false;
        if (!readStored(offset, out))
            return false;
        const std::uint64_t end = offset + out.size();
        for (std::uint64_t page = offset / PageBytes; page * PageBytes < end; ++page) {
            const auto changed = patches.find(page);
            if (changed == patches.end())
                continue;
            for (const auto &[at, byte] : changed->second) {
                const std::uint64_t place = page * PageBytes + at;
                if (place >= offset && place < end)
                    out[place - offset] = byte;
            }
        }
        return true;
    }

    void patch(std::uint64_t place, std::byte byte)
    {
        auto &changed = patches[place / PageBytes];
        const auto at = std::uint16_t(place % PageBytes);
        const auto known = std::find_if(changed.begin(), changed.end(),
                                        [at](const auto &each) { return each.first == at; });
        if (known != changed.end())
            known->second = byte;
        else
            changed.emplace_back(at, byte);
    }

    bool readStored(std::uint64_t offset, MutableByteView out)
    {
        if (out.size() > PagedBytes)
            return link->readFile(offset, out);
        while (!out.empty()) {
            const auto *const bytes = page(offset / PageBytes);
            if (bytes == nullptr)
                return false;
            const std::size_t skipped = offset % PageBytes;
            const std::size_t now = std::min(out.size(), bytes->size() - skipped);
            std::copy_n(bytes->begin() + std::ptrdiff_t(skipped), now, out.begin());
            offset += now;
            out = out.subspan(now);
        }
        return true;
    }
};

ParentFile file;

/// libhdf5 casts what open() returns to its own type, which must come first.
struct DriverFile
{
    H5FD_t base = {};
    haddr_t end = 0;
};

haddr_t endOf(const H5FD_t *opened)
{
    return reinterpret_cast<const DriverFile *>(opened)->end;
}

H5FD_t *openFile(const char *, unsigned flags, hid_t, haddr_t)
{
    if (file.isOpen || flags != H5F_ACC_RDONLY)
        return nullptr;
    file.isOpen = true;
    return &(new DriverFile)->base;
}

herr_t closeFile(H5FD_t *opened)
{
    delete reinterpret_cast<DriverFile *>(opened);
    return 0;
}

/// libhdf5 walks over children alone and does not look at neighbours. One that is the node itself
/// would lead any other reader in a circle.
void checkTreeNode(std::uint64_t offset, ByteView node)
{
    constexpr std::size_t LeftAt = 8;
    if (node.size() < LeftAt + 2 * metadataWidths().address || asText(node.first(4)) != "TREE"
        || file.isOddTreeTold)
        return;
    MetadataNumbers numbers(node, LeftAt);
    const std::uint64_t left = numbers.nextAddress(), right = numbers.nextAddress();
    const bool isOdd = left == offset || right == offset;
    if (!isOdd)
        return;
    file.isOddTreeTold = true;
    file.link->tell(Hdf5Problem{Severity::Warning,
                                ErrorCode::Malformed,
                                {},
                                false,
                                false,
                                "the B-tree node at byte " + std::to_string(offset)
                                    + " names itself as its neighbour"});
}

/// Its continuations are read as it is: they are no headers of their own.
void adaptHeader(std::uint64_t address)
{
    AdaptedHeader adapted = adaptNewerHeader(address);
    for (const std::uint64_t continuation : adapted.continuations)
        file.headers.try_emplace(continuation);
    adapted.continuations.clear();
    file.headers.insert_or_assign(address, std::move(adapted));
}

herr_t readFile(H5FD_t *, H5FD_mem_t type, hid_t, haddr_t offset, size_t size, void *buffer)
{
    if (file.isProbing && type == H5FD_MEM_DRAW) {
        file.probed.push_back({offset, size});
        return 0;
    }
    const MutableByteView out(static_cast<std::byte *>(buffer), size);
    // Whoever leads libhdf5 to an object: a link, a reference, a type that others share.
    const std::uint64_t address = offset - file.userBlock;
    if (type == H5FD_MEM_OHDR && file.headers.count(address) == 0)
        adaptHeader(address);
    if (!file.read(offset, out))
        return -1;
    checkTreeNode(offset, out);
    return 0;
}

herr_t refuseWrite(H5FD_t *, H5FD_mem_t, hid_t, haddr_t, size_t, const void *)
{
    return -1;
}

H5FD_class_t driverClass()
{
    H5FD_class_t driver = {};
    driver.name = "parent";
    driver.maxaddr = (haddr_t(1) << 63) - 1;
    driver.fc_degree = H5F_CLOSE_STRONG;
    driver.open = openFile;
    driver.close = closeFile;
    driver.cmp = [](const H5FD_t *a, const H5FD_t *b) { return a == b ? 0 : a < b ? -1 : 1; };
    driver.query = [](const H5FD_t *, unsigned long *flags) -> herr_t {
        if (flags != nullptr)
            *flags = 0;
        return 0;
    };
    driver.get_eoa = [](const H5FD_t *opened, H5FD_mem_t) { return endOf(opened); };
    driver.set_eoa = [](H5FD_t *opened, H5FD_mem_t, haddr_t end) -> herr_t {
        reinterpret_cast<DriverFile *>(opened)->end = end;
        return 0;
    };
    driver.get_eof = [](const H5FD_t *, H5FD_mem_t) { return haddr_t(file.size); };
    driver.read = readFile;
    driver.write = refuseWrite;
    std::fill(std::begin(driver.fl_map), std::end(driver.fl_map), H5FD_MEM_DEFAULT);
    return driver;
}

/// Where addresses begin, and how long they are: needed before libhdf5 reads the first object.
void readSuperblock()
{
    constexpr std::string_view Signature = "\x89HDF\r\n\x1a\n";
    constexpr std::size_t VersionAt = 8, OldSizesAt = 13, SizesAt = 9, Most = 16;
    std::vector<std::byte> bytes(Most);
    for (std::uint64_t at = 0; file.read(at, bytes); at = std::max<std::uint64_t>(2 * at, 512)) {
        if (asText(ByteView(bytes).first(Signature.size())) != Signature)
            continue;
        const std::size_t sizes = bytes[VersionAt] < std::byte(2) ? OldSizesAt : SizesAt;
        const MetadataWidths widths{std::size_t(bytes[sizes]), std::size_t(bytes[sizes + 1])};
        const auto isUsual = [](std::size_t width) {
            return width == 2 || width == 4 || width == 8;
        };
        file.userBlock = at;
        file.isReadable = isUsual(widths.address) && isUsual(widths.length);
        if (file.isReadable)
            setMetadataWidths(widths);
        return;
    }
}

} // namespace

Result<Hdf5Handle> openParentFile(WorkerLink &link, std::uint64_t fileBytes)
{
    static const H5FD_class_t driver = driverClass();
    file.link = &link;
    file.size = fileBytes;
    forgetGlobalHeaps();
    readSuperblock();
    const Hdf5Handle access(H5Pcreate(H5P_FILE_ACCESS));
    const hid_t number = H5FDregister(&driver);
    if (number < 0 || H5Pset_driver(access.get(), number, nullptr) < 0)
        return Error{ErrorCode::Io, {}, {}, hdf5Failure()};
    // Chunks are never read here but for strings: no cache.
    H5Pset_cache(access.get(), 0, 1, 0, 0);
    Hdf5Handle opened(H5Fopen("parent", H5F_ACC_RDONLY, access.get()));
    if (!opened.valid()) // asked at once: the next call forgets why
        return Error{ErrorCode::Malformed, {}, {}, hdf5Failure()};
    return opened;
}

bool readParentFile(std::uint64_t address, MutableByteView out)
{
    const auto offset = checkedAdd(address, file.userBlock);
    return file.isReadable && offset && file.read(*offset, out);
}

void patchParentFile(std::uint64_t address, ByteView bytes)
{
    for (std::size_t i = 0; i < bytes.size(); ++i)
        file.patch(parentFileByte(address + i), bytes[i]);
}

std::uint64_t parentFileByte(std::uint64_t address)
{
    return address + file.userBlock;
}

AdaptedHeader adaptedHeader(std::uint64_t address)
{
    const auto header = file.headers.find(address);
    return header == file.headers.end() ? AdaptedHeader() : header->second;
}

RawDataProbe::RawDataProbe()
{
    file.isProbing = true;
    file.probed.clear();
}

RawDataProbe::~RawDataProbe()
{
    file.isProbing = false;
}

std::optional<StoredRange> RawDataProbe::take()
{
    const bool isOne = file.probed.size() == 1;
    const StoredRange range = isOne ? file.probed.front() : StoredRange();
    file.probed.clear();
    return isOne ? std::optional(range) : std::nullopt;
}

} // namespace forkpoint
