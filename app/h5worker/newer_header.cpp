// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/h5worker/newer_header.h"

#include "app/h5worker/dense_attributes.h"
#include "app/h5worker/hdf5_driver.h"
#include "app/h5worker/metadata_block.h"
#include "app/h5worker/metadata_checksum.h"
#include "app/h5worker/newer_datatype.h"

#include <set>

namespace forkpoint {

namespace {

constexpr std::uint64_t MostHeaderBytes = std::uint64_t(1) << 24;
constexpr std::size_t MostBlocks = 1000;
constexpr std::size_t SignatureBytes = 4, ChecksumBytes = 4, AddressBytes = 8;
constexpr std::uint64_t IsShared = 0x02, Undefined = ~std::uint64_t(0);

enum Message : std::uint64_t {
    DatatypeMessage = 0x03,
    LayoutMessage = 0x08,
    PipelineMessage = 0x0b,
    AttributeMessage = 0x0c,
    ContinuationMessage = 0x10,
    AttributeInfoMessage = 0x15,
};

/// A part of an object header of version 2, without its checksum.
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

    std::optional<NewerChunkIndex> adapt()
    {
        if (!readFirst())
            return std::nullopt;
        for (std::size_t i = 0; i < m_blocks.size(); ++i)
            readMessages(i);
        if (!m_isSound)
            return std::nullopt;
        for (const Block &block : m_blocks)
            show(block);
        if (m_dense.heap != Undefined)
            adaptDenseAttributes(m_dense);
        return m_isFiltered ? m_index : std::nullopt;
    }

private:
    /// What stands before the first message, then all of the first block.
    bool readFirst()
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
        auto bytes = fits ? readMetadataPage(address, size)
                          : Result<std::vector<std::byte>>(Error{ErrorCode::Limit, {}, {}, {}});
        if (!bytes.ok() || bytes->size() < firstMessage)
            return m_isSound = false;
        m_read += size;
        m_blocks.push_back({address, firstMessage, std::move(bytes).value()});
        return true;
    }

    void readMessages(std::size_t number)
    {
        MetadataNumbers numbers(m_blocks[number].bytes, m_blocks[number].firstMessage);
        while (m_isSound && m_blocks[number].bytes.size() - numbers.at() >= m_messageHead) {
            const std::uint64_t type = numbers.next(1), size = numbers.next(2);
            const std::uint64_t flags = numbers.next(1);
            numbers.skip(m_messageHead - 4);
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
        const std::uint64_t address = numbers.next(AddressBytes);
        const std::uint64_t length = numbers.next(AddressBytes);
        if (addBlock(address, length, SignatureBytes))
            m_isSound = asText(ByteView(m_blocks.back().bytes).first(SignatureBytes)) == "OCHK";
    }

    void setKnown(std::size_t number, std::size_t at, const std::vector<std::size_t> &versions)
    {
        Block &block = m_blocks[number];
        for (const std::size_t version : versions) {
            block.bytes[at + version] = inKnownVersion(block.bytes[at + version]);
            block.changed.push_back(at + version);
        }
    }

    void takeAttributeInfo(ByteView message)
    {
        constexpr std::uint64_t HasOrder = 1;
        MetadataNumbers numbers(message, 1);
        numbers.skip((numbers.next(1) & HasOrder) != 0 ? 2 : 0);
        m_dense.heap = numbers.next(AddressBytes);
        m_dense.names = numbers.next(AddressBytes);
        m_isSound = m_isSound && numbers.isWhole();
    }

    void takeLayout(std::size_t number, std::size_t at, std::size_t size)
    {
        constexpr std::byte NewerVersion{5}, KnownVersion{4};
        constexpr std::uint64_t Chunked = 2;
        constexpr std::size_t Parameters[] = {1, 5, 6}; // of a FixedArray and so on
        Block &block = m_blocks[number];
        if (size == 0 || block.bytes[at] != NewerVersion)
            return;
        block.bytes[at] = KnownVersion;
        block.changed.push_back(at);
        MetadataNumbers numbers(ByteView(block.bytes).subspan(at, size), 1);
        if (numbers.next(1) != Chunked)
            return;
        numbers.skip(1);
        const std::uint64_t rank = numbers.next(1), bytes = numbers.next(1);
        numbers.skip(rank * bytes);
        const std::uint64_t kind = numbers.next(1);
        const auto first = std::uint64_t(NewerChunkIndex::Kind::FixedArray);
        if (kind < first || kind - first >= std::size(Parameters))
            return; // the other kinds say no sizes, or in the message itself: libhdf5 reads them
        numbers.skip(Parameters[kind - first]);
        const std::uint64_t address = numbers.next(AddressBytes);
        if (numbers.isWhole())
            m_index = NewerChunkIndex{NewerChunkIndex::Kind(kind), address};
    }

    static void show(const Block &block)
    {
        if (block.changed.empty())
            return;
        const ByteView bytes(block.bytes);
        for (const std::size_t at : block.changed)
            patchParentFile(block.address + at, bytes.subspan(at, 1));
        const std::uint32_t checksum = metadataChecksum(bytes);
        patchParentFile(block.address + bytes.size(), std::as_bytes(std::span(&checksum, 1)));
    }

    std::uint64_t m_address;
    std::vector<Block> m_blocks;
    std::set<std::uint64_t> m_addresses;
    std::size_t m_messageHead = 0;
    std::uint64_t m_read = 0; ///< bytes
    bool m_isSound = true, m_isFiltered = false;
    std::optional<NewerChunkIndex> m_index;
    DenseAttributes m_dense;
};

} // namespace

std::optional<NewerChunkIndex> adaptNewerHeader(std::uint64_t address)
{
    return ObjectHeader(address).adapt();
}

} // namespace forkpoint
