// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/h5worker/newer_header.h"

#include "app/h5worker/dense_attributes.h"
#include "app/h5worker/metadata_block.h"
#include "app/h5worker/metadata_checksum.h"
#include "app/h5worker/newer_datatype.h"
#include "app/h5worker/parent_file.h"

#include <set>

namespace forkpoint {

namespace {

constexpr std::uint64_t MostHeaderBytes = std::uint64_t(1) << 24;
constexpr std::size_t MostBlocks = 1000;
constexpr std::size_t SignatureBytes = 4, ChecksumBytes = 4;
constexpr std::uint64_t IsShared = 0x02, Undefined = UndefinedAddress;

enum Message : std::uint64_t {
    DatatypeMessage = 0x03,
    LayoutMessage = 0x08,
    PipelineMessage = 0x0b,
    AttributeMessage = 0x0c,
    ContinuationMessage = 0x10,
    AttributeInfoMessage = 0x15,
};

/// A part of an object header, without its checksum.
struct Block
{
    std::uint64_t address = 0;
    std::size_t firstMessage = 0;
    std::vector<std::byte> bytes = {};
    std::vector<std::size_t> changed = {}; ///< which hold another version now
};

class ObjectHeader
{
public:
    explicit ObjectHeader(std::uint64_t address) : m_address(address) {}

    AdaptedHeader adapt()
    {
        if (!readFirst())
            return {};
        for (std::size_t i = 0; i < m_blocks.size(); ++i)
            readMessages(i);
        if (!m_isSound)
            return {};
        for (const Block &block : m_blocks)
            show(block);
        if (m_dense.heap != Undefined)
            adaptDenseAttributes(m_dense);
        AdaptedHeader adapted{m_isFiltered ? m_index : std::nullopt, m_sources, {}};
        for (std::size_t i = 1; i < m_blocks.size(); ++i)
            adapted.continuations.push_back(m_blocks[i].address);
        return adapted;
    }

private:
    bool readFirst()
    {
        std::vector<std::byte> bytes(SignatureBytes);
        if (!readParentFile(m_address, bytes))
            return false;
        m_isOld = bytes[0] == std::byte(1) && bytes[1] == std::byte(0);
        return m_isOld ? readFirstOld() : readFirstNew();
    }

    /// Version 1: without a signature and without checksums.
    bool readFirstOld()
    {
        constexpr std::size_t Prefix = 16, SizeAt = 8;
        std::vector<std::byte> bytes(Prefix);
        if (!readParentFile(m_address, bytes))
            return false;
        m_messageHead = 8;
        return addBlock(m_address, Prefix + MetadataNumbers(bytes, SizeAt).next(4), Prefix);
    }

    /// Version 2: what stands before the first message, then all of the first block.
    bool readFirstNew()
    {
        constexpr std::size_t Prefix = 6, Times = 16, Limits = 4;
        constexpr std::uint64_t HasTimes = 0x20, HasLimits = 0x10, HasOrder = 0x04, SizeBits = 0x03;
        std::vector<std::byte> bytes(Prefix);
        if (!readParentFile(m_address, bytes) || asText(ByteView(bytes).first(4)) != "OHDR"
            || bytes[4] != std::byte(2))
            return false;
        const auto flags = std::uint64_t(bytes[5]);
        const std::size_t sizeAt = Prefix + ((flags & HasTimes) != 0 ? Times : 0)
            + ((flags & HasLimits) != 0 ? Limits : 0);
        const std::size_t sizeBytes = std::size_t(1) << (flags & SizeBits);
        bytes.resize(sizeAt + sizeBytes);
        if (!readParentFile(m_address, bytes))
            return false;
        m_messageHead = (flags & HasOrder) != 0 ? 6 : 4;
        const std::uint64_t size = MetadataNumbers(bytes, sizeAt).next(sizeBytes);
        return size <= MostHeaderBytes
            && addBlock(m_address, bytes.size() + size + ChecksumBytes, bytes.size());
    }

    bool addBlock(std::uint64_t address, std::uint64_t size, std::size_t firstMessage)
    {
        const bool fits = size <= MostHeaderBytes - m_read && m_blocks.size() < MostBlocks
            && m_addresses.insert(address).second;
        std::vector<std::byte> bytes;
        if (!fits || !readBlock(address, size, bytes) || bytes.size() < firstMessage)
            return m_isSound = false;
        m_read += size;
        m_blocks.push_back({address, firstMessage, std::move(bytes)});
        return true;
    }

    bool readBlock(std::uint64_t address, std::uint64_t size, std::vector<std::byte> &bytes) const
    {
        if (m_isOld) {
            bytes.resize(size);
            return readParentFile(address, bytes);
        }
        auto page = readMetadataPage(address, size);
        if (page.ok())
            bytes = std::move(*page);
        return page.ok();
    }

    void readMessages(std::size_t number)
    {
        MetadataNumbers numbers(m_blocks[number].bytes, m_blocks[number].firstMessage);
        while (m_isSound && m_blocks[number].bytes.size() - numbers.at() >= m_messageHead) {
            const std::uint64_t type = numbers.next(m_isOld ? 2 : 1), size = numbers.next(2);
            const std::uint64_t flags = numbers.next(1);
            numbers.skip(m_messageHead - (m_isOld ? 5 : 4));
            const std::size_t at = numbers.at();
            numbers.skip(size);
            m_isSound = m_isSound && numbers.isWhole();
            m_isFiltered = m_isFiltered || type == PipelineMessage; // shared by others or not
            if (m_isSound && (flags & IsShared) == 0)
                takeMessage(type, number, at, size);
        }
    }

    void takeMessage(std::uint64_t type, std::size_t number, std::size_t at, std::size_t size)
    {
        const ByteView message = ByteView(m_blocks[number].bytes).subspan(at, size);
        MetadataNumbers numbers(message);
        switch (type) {
        case DatatypeMessage: return setKnown(number, at, newerDatatypeVersions(message));
        case LayoutMessage: return takeLayout(number, at, size);
        case AttributeMessage: return setKnown(number, at, newerAttributeVersions(message));
        case AttributeInfoMessage: return takeAttributeInfo(message);
        case ContinuationMessage: break;
        default: return;
        }
        const std::uint64_t address = numbers.nextAddress(), length = numbers.nextLength();
        if (addBlock(address, length, m_isOld ? 0 : SignatureBytes) && !m_isOld)
            m_isSound = asText(ByteView(m_blocks.back().bytes).first(SignatureBytes)) == "OCHK";
    }

    void setKnown(std::size_t number, std::size_t at, const std::vector<std::size_t> &versions)
    {
        Block &block = m_blocks[number];
        for (const std::size_t version : versions)
            change(block, at + version, inKnownVersion(block.bytes[at + version]));
    }

    void takeAttributeInfo(ByteView message)
    {
        constexpr std::uint64_t HasOrder = 1;
        MetadataNumbers numbers(message, 1);
        numbers.skip((numbers.next(1) & HasOrder) != 0 ? 2 : 0);
        m_dense.heap = numbers.nextAddress();
        m_dense.names = numbers.nextAddress();
        m_isSound = m_isSound && numbers.isWhole();
    }

    void takeLayout(std::size_t number, std::size_t at, std::size_t size)
    {
        constexpr std::uint64_t KnownVersion = 4, NewerVersion = 5, Chunked = 2, Virtual = 3;
        Block &block = m_blocks[number];
        MetadataNumbers numbers(ByteView(block.bytes).subspan(at, size));
        const std::uint64_t version = numbers.next(1), kind = numbers.next(1);
        if (version == NewerVersion)
            change(block, at, std::byte(KnownVersion));
        if (version >= KnownVersion && version <= NewerVersion && kind == Virtual)
            takeVirtual(block, at + numbers.at(), size - numbers.at());
        if (version == NewerVersion && kind == Chunked)
            takeChunks(numbers);
    }

    /// An address that is not there is that of no sources.
    void takeVirtual(Block &block, std::size_t at, std::size_t size)
    {
        if (size < GlobalHeapId::bytes()) {
            m_isSound = false;
            return;
        }
        m_sources = globalHeapId(ByteView(block.bytes).subspan(at, GlobalHeapId::bytes()));
        for (std::size_t i = 0; i < metadataWidths().address; ++i)
            change(block, at + i, std::byte(0xff));
    }

    void takeChunks(MetadataNumbers &numbers)
    {
        constexpr std::size_t Parameters[] = {1, 5, 6}; // of a FixedArray and so on
        numbers.skip(1);
        const std::uint64_t rank = numbers.next(1), bytes = numbers.next(1);
        numbers.skip(rank * bytes);
        const std::uint64_t kind = numbers.next(1);
        const auto first = std::uint64_t(NewerChunkIndex::Kind::FixedArray);
        if (kind < first || kind - first >= std::size(Parameters))
            return; // the other kinds say no sizes, or in the message itself: libhdf5 reads them
        numbers.skip(Parameters[kind - first]);
        const std::uint64_t address = numbers.nextAddress();
        if (numbers.isWhole())
            m_index = NewerChunkIndex{NewerChunkIndex::Kind(kind), address};
    }

    static void change(Block &block, std::size_t at, std::byte byte)
    {
        block.bytes[at] = byte;
        block.changed.push_back(at);
    }

    void show(const Block &block) const
    {
        if (block.changed.empty())
            return;
        const ByteView bytes(block.bytes);
        for (const std::size_t at : block.changed)
            patchParentFile(block.address + at, bytes.subspan(at, 1));
        if (m_isOld)
            return;
        const std::uint32_t checksum = metadataChecksum(bytes);
        patchParentFile(block.address + bytes.size(), std::as_bytes(std::span(&checksum, 1)));
    }

    std::uint64_t m_address;
    std::vector<Block> m_blocks;
    std::set<std::uint64_t> m_addresses;
    std::size_t m_messageHead = 0;
    std::uint64_t m_read = 0; ///< bytes
    bool m_isOld = false;     ///< of version 1
    bool m_isSound = true, m_isFiltered = false;
    std::optional<NewerChunkIndex> m_index;
    std::optional<GlobalHeapId> m_sources;
    DenseAttributes m_dense;
};

} // namespace

AdaptedHeader adaptNewerHeader(std::uint64_t address)
{
    return ObjectHeader(address).adapt();
}

} // namespace forkpoint
