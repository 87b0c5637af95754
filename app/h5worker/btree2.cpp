// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/h5worker/btree2.h"

#include "app/h5worker/metadata_block.h"

#include <set>
#include <string>
#include <vector>

namespace forkpoint {

namespace {

constexpr std::uint64_t Undefined = UndefinedAddress;
constexpr std::size_t ChecksumBytes = 4;
constexpr std::size_t PrefixBytes = 6; // signature, version, type of the records
constexpr std::size_t NodeOverhead = PrefixBytes + ChecksumBytes;
constexpr std::uint64_t MostDepth = 32;

class Walk
{
public:
    Walk(std::uint64_t address, BTree2Records records, const std::function<Status(ByteView)> &take)
        : m_address(address),
          m_records(records),
          m_take(take)
    {
    }

    Status walk()
    {
        const std::size_t headerBytes = PrefixBytes + 4 + 2 + 2 + 2 + metadataWidths().address + 2
            + metadataWidths().length + ChecksumBytes;
        FP_TRY(const auto header, readMetadataBlock(m_address, headerBytes, "BTHD"));
        MetadataNumbers head(header, PrefixBytes - 1);
        const std::uint64_t type = head.next(1);
        m_nodeBytes = head.next(4);
        const std::uint64_t recordBytes = head.next(2), depth = head.next(2);
        head.skip(2);
        const std::uint64_t root = head.nextAddress(), records = head.next(2);
        const std::uint64_t all = head.nextLength();
        if (type != m_records.type || recordBytes != m_records.bytes || !takeLevels(depth))
            return malformed("is not of records of type " + std::to_string(m_records.type) + " and "
                             + std::to_string(m_records.bytes) + " bytes");
        if (root != Undefined)
            FP_CHECK(walkNode(root, records, depth));
        if (m_count == all)
            return {};
        return malformed("has " + std::to_string(m_count) + " records and says "
                         + std::to_string(all));
    }

private:
    Error malformed(const std::string &text) const
    {
        return {ErrorCode::Malformed,
                {},
                {},
                "the B-tree at byte " + std::to_string(m_address) + ' ' + text};
    }

    /// How wide a pointer to a node of each level is: its address, its records, and above leaves all
    /// records below it.
    bool takeLevels(std::uint64_t depth)
    {
        if (depth > MostDepth || m_nodeBytes <= NodeOverhead + m_records.bytes)
            return false;
        const std::uint64_t inLeaf = (m_nodeBytes - NodeOverhead) / m_records.bytes;
        m_countBytes = bytesToHold(inLeaf);
        std::uint64_t below = inLeaf;
        m_totalBytes.push_back(0);
        for (std::uint64_t level = 1; level <= depth; ++level) {
            const std::uint64_t pointer = pointerBytes(level);
            if (m_nodeBytes <= NodeOverhead + pointer + m_records.bytes)
                return false;
            const std::uint64_t own =
                (m_nodeBytes - NodeOverhead - pointer) / (m_records.bytes + pointer);
            const auto product = checkedMul(own + 1, below);
            below = product ? checkedAdd(*product, own).value_or(Undefined) : Undefined;
            m_totalBytes.push_back(bytesToHold(below));
        }
        return true;
    }

    /// In a node of that level, to one of the level below.
    std::uint64_t pointerBytes(std::uint64_t level) const
    {
        return metadataWidths().address + m_countBytes + m_totalBytes[level - 1];
    }

    /// Recursion is bounded by MostDepth.
    Status walkNode(std::uint64_t address, std::uint64_t records, std::uint64_t level)
    {
        if (!m_nodes.insert(address).second)
            return malformed("leads to the node at byte " + std::to_string(address) + " twice");
        const std::uint64_t pointer = level > 0 ? pointerBytes(level) : 0;
        const std::uint64_t size =
            NodeOverhead + records * m_records.bytes + (level > 0 ? (records + 1) * pointer : 0);
        if (size > m_nodeBytes)
            return malformed("has a node of more records than fit");
        FP_TRY(const auto node, readMetadataBlock(address, size, level > 0 ? "BTIN" : "BTLF"));
        if (std::uint64_t(node[PrefixBytes - 1]) != m_records.type)
            return malformed("has a node of another tree");
        m_count += records;
        for (std::uint64_t i = 0; i < records; ++i)
            FP_CHECK(
                m_take(ByteView(node).subspan(PrefixBytes + i * m_records.bytes, m_records.bytes)));
        MetadataNumbers numbers(node, PrefixBytes + records * m_records.bytes);
        for (std::uint64_t i = 0; level > 0 && i <= records; ++i) {
            const std::uint64_t child = numbers.nextAddress();
            const std::uint64_t count = numbers.next(m_countBytes);
            numbers.skip(m_totalBytes[level - 1]);
            FP_CHECK(walkNode(child, count, level - 1));
        }
        return {};
    }

    std::uint64_t m_address;
    BTree2Records m_records;
    const std::function<Status(ByteView)> &m_take;
    std::uint64_t m_nodeBytes = 0;
    std::uint64_t m_count = 0; ///< records in the nodes that were read
    std::size_t m_countBytes = 0;
    std::vector<std::size_t> m_totalBytes; ///< by level of the node that is pointed to
    std::set<std::uint64_t> m_nodes;
};

} // namespace

Status walkBTree2(std::uint64_t address, BTree2Records records,
                  const std::function<Status(ByteView record)> &take)
{
    return Walk(address, records, take).walk();
}

} // namespace forkpoint
