// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/bytes.h"
#include "model/result.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace forkpoint {

/// A fractal heap without filters, as attributes are kept in: HDF5 file format, "Fractal Heap".
/// Addresses and lengths of the file have 8 bytes. Errors name the block that is damaged.
class FractalHeap
{
public:
    /// Of an object in the heap's space.
    struct Place
    {
        std::uint64_t offset = 0, length = 0;
    };
    /// A part of the heap's space, with its objects. A checksum is of the whole block with zeros in the
    /// checksum's place.
    struct Block
    {
        std::uint64_t address = 0;
        std::uint64_t offset = 0; ///< of its begin in the heap's space; its own head is part of it
        std::uint64_t size = 0;
    };
    struct Range
    {
        std::uint64_t address = 0, length = 0;
    };

    static Result<FractalHeap> open(std::uint64_t address);

    /// What a heap ID leads to; nothing where the object is huge and lies in the file on its own.
    Result<std::optional<Place>> placeOf(ByteView id) const;
    Result<Block> blockAt(std::uint64_t offset) const;
    /// The bytes of a block; checked.
    Result<std::vector<std::byte>> read(const Block &block) const;
    bool hasChecksums() const { return m_hasChecksums; }
    /// Byte of a block where its checksum is.
    std::size_t checksumAt() const;
    /// Hands to `take` where each huge object lies.
    Status walkHuge(const std::function<Status(Range range)> &take) const;

private:
    FractalHeap() = default;
    std::size_t offsetBytes() const { return std::size_t(m_spaceBits + 7) / 8; }
    std::uint64_t rowBytes(std::uint64_t row) const;
    std::uint64_t rowOffset(std::uint64_t row) const;
    Result<ByteView> readIndirect(std::uint64_t address, std::uint64_t offset,
                                  std::uint64_t rows) const;
    Error malformed(const std::string &text) const;

    std::uint64_t m_address = 0;
    std::uint64_t m_idBytes = 0, m_mostManaged = 0, m_huge = 0;
    bool m_hasChecksums = false;
    // The doubling table: blocks of a row, bytes of a block of the first row and of the largest direct
    // one, bits of an offset, the root and its rows (0: it is a direct block).
    std::uint64_t m_width = 0, m_smallest = 0, m_largest = 0, m_spaceBits = 0;
    std::uint64_t m_root = 0, m_rows = 0;
    /// Indirect blocks that were read, by address, offset and rows: the way to every object leads through them.
    mutable std::map<std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>,
                     std::vector<std::byte>>
        m_indirect;
    mutable std::uint64_t m_indirectBytes = 0;
};

} // namespace forkpoint
