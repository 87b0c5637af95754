// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/h5worker/newer_layout.h"

#include "app/h5worker/hdf5_driver.h"
#include "app/h5worker/metadata_block.h"

namespace forkpoint {

namespace {

constexpr std::uint64_t MostHeaderBytes = std::uint64_t(1) << 24;
constexpr std::size_t MostBlocks = 1000;
constexpr std::size_t SignatureBytes = 4, ChecksumBytes = 4, AddressBytes = 8;
constexpr std::uint64_t Continuation = 0x10, Layout = 0x08, Pipeline = 0x0b;
constexpr std::uint64_t NewerVersion = 5;
constexpr std::byte KnownVersion{4};
constexpr std::uint64_t Chunked = 2;

struct Range
{
    std::uint64_t address = 0, size = 0;
};

/// An object header of version 2: its messages, in blocks that end with a checksum each.
class ObjectHeader
{
public:
    explicit ObjectHeader(std::uint64_t address) : m_address(address) {}

    std::optional<NewerChunkIndex> adapt()
    {
        if (!readFirst())
            return std::nullopt;
        for (std::size_t i = 0; i < m_blocks.size() && i < MostBlocks; ++i) {
            if (!readMessages(m_blocks[i], i == 0 ? m_firstMessage : SignatureBytes))
                return std::nullopt;
        }
        if (!m_isNewer)
            return std::nullopt;
        patchParentFile(m_version, {&KnownVersion, 1});
        patchChecksum();
        return m_isFiltered ? m_index : std::nullopt;
    }

private:
    bool read(std::uint64_t address, std::uint64_t size, std::vector<std::byte> &bytes)
    {
        m_read += size;
        if (m_read > MostHeaderBytes)
            return false;
        bytes.resize(size);
        return readParentFile(address, bytes);
    }

    /// What stands before the first message.
    bool readFirst()
    {
        constexpr std::size_t Most = 6 + 16 + 4 + 8;
        constexpr std::uint64_t HasTimes = 0x20, HasLimits = 0x10, HasOrder = 0x04, SizeBits = 0x03;
        std::vector<std::byte> bytes;
        if (!read(m_address, Most, bytes) || asText(ByteView(bytes).first(4)) != "OHDR")
            return false;
        MetadataNumbers numbers(bytes, SignatureBytes);
        const std::uint64_t version = numbers.next(1), flags = numbers.next(1);
        if (version != 2)
            return false;
        numbers.skip((flags & HasTimes) != 0 ? 16 : 0);
        numbers.skip((flags & HasLimits) != 0 ? 4 : 0);
        const std::uint64_t size = numbers.next(std::size_t(1) << (flags & SizeBits));
        m_firstMessage = numbers.at();
        m_hasOrder = (flags & HasOrder) != 0;
        if (size > MostHeaderBytes)
            return false;
        m_blocks.push_back({m_address, m_firstMessage + size + ChecksumBytes});
        return true;
    }

    bool readMessages(Range block, std::size_t from)
    {
        std::vector<std::byte> bytes;
        if (block.size < from + ChecksumBytes || !read(block.address, block.size, bytes))
            return false;
        const ByteView messages = ByteView(bytes).first(block.size - ChecksumBytes);
        const std::size_t headBytes = m_hasOrder ? 6 : 4;
        MetadataNumbers numbers(messages, from);
        while (messages.size() - numbers.at() >= headBytes) {
            const std::uint64_t type = numbers.next(1), size = numbers.next(2);
            numbers.skip(headBytes - 3);
            const std::size_t at = numbers.at();
            numbers.skip(size);
            if (!numbers.isWhole())
                return false;
            takeMessage(type, messages.subspan(at, size), block, at);
        }
        return true;
    }

    void takeMessage(std::uint64_t type, ByteView message, Range block, std::size_t at)
    {
        MetadataNumbers numbers(message);
        if (type == Continuation) {
            const std::uint64_t address = numbers.next(AddressBytes);
            m_blocks.push_back({address, numbers.next(AddressBytes)});
        } else if (type == Pipeline) {
            m_isFiltered = true;
        } else if (type == Layout && numbers.next(1) == NewerVersion) {
            m_isNewer = true;
            m_version = block.address + at;
            m_layoutBlock = block;
            takeIndex(numbers);
        }
    }

    void takeIndex(MetadataNumbers numbers)
    {
        constexpr std::size_t Parameters[] = {1, 5, 6}; // of a FixedArray and so on
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

    /// Of the block with the layout, as it is with the other version in it. One that is wrong stays
    /// wrong, for libhdf5 to say so.
    void patchChecksum()
    {
        std::vector<std::byte> bytes;
        m_read = 0;
        if (!read(m_layoutBlock.address, m_layoutBlock.size, bytes))
            return;
        const std::size_t end = bytes.size() - ChecksumBytes;
        const ByteView said = ByteView(bytes).subspan(end);
        const auto summed = [&] { return metadataChecksum(ByteView(bytes).first(end)); };
        const std::uint32_t adapted = summed();
        bytes[m_version - m_layoutBlock.address] = std::byte(NewerVersion);
        if (summed() != loadLittle<std::uint32_t>(said.data()))
            return;
        patchParentFile(m_layoutBlock.address + end, std::as_bytes(std::span(&adapted, 1)));
    }

    std::uint64_t m_address;
    std::vector<Range> m_blocks;
    std::size_t m_firstMessage = 0;
    std::uint64_t m_read = 0; ///< bytes
    bool m_hasOrder = false, m_isNewer = false, m_isFiltered = false;
    std::uint64_t m_version = 0; ///< its byte of the file
    Range m_layoutBlock;
    std::optional<NewerChunkIndex> m_index;
};

} // namespace

std::optional<NewerChunkIndex> adaptNewerLayout(std::uint64_t address)
{
    return ObjectHeader(address).adapt();
}

} // namespace forkpoint
