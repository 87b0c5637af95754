// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/hdf5/bit_reader.h"
#include "loaders/hdf5/chunk_codecs.h"

#include <algorithm>

namespace forkpoint {

namespace {

/// A run of bits of an element: what is left of it in the stream, highest bit first.
struct Part
{
    std::uint64_t at = 0, size = 0; ///< bytes of the element
    bool isBigEndian = false;
    std::uint32_t precision = 0, offset = 0; ///< significant bits, and those below them
};

/// Type codes of H5Znbit.c.
enum Code : std::uint32_t { Atomic = 1, Array = 2, Compound = 3, Whole = 4 };

constexpr int Depth = 32;
constexpr std::size_t Parts = std::size_t(1) << 20;

/// The type as libhdf5 stored it with the dataset, flattened.
class TypeReader
{
public:
    explicit TypeReader(FilterParameters parameters) : m_parameters(parameters) {}

    std::vector<Part> parts;

    /// Takes the next type, which begins at that byte of the element; its size. The depth of the
    /// recursion is bounded.
    Result<std::uint64_t> take(std::uint64_t at, int depth)
    {
        if (depth > Depth || parts.size() > Parts)
            return damaged("its type nests too deep or is too large");
        FP_TRY(const std::uint32_t code, next());
        FP_TRY(const std::uint32_t size, next());
        if (size == 0)
            return damaged("has a type without bytes");
        switch (code) {
        case Atomic: FP_CHECK(takeAtomic(at, size)); break;
        case Array: FP_CHECK(takeArray(at, size, depth)); break;
        case Compound: FP_CHECK(takeCompound(at, size, depth)); break;
        case Whole: addWhole(at, size); break;
        default: return damaged("has a type of code " + std::to_string(code));
        }
        return std::uint64_t(size);
    }

private:
    Result<std::uint32_t> next()
    {
        if (m_next == m_parameters.size())
            return damaged("has too few parameters");
        return m_parameters[m_next++];
    }

    void addWhole(std::uint64_t at, std::uint64_t size)
    {
        // Bytes in their order: as the highest byte comes first, a big-endian number.
        parts.push_back({at, size, true, std::uint32_t(size * 8), 0});
    }

    Status takeAtomic(std::uint64_t at, std::uint32_t size)
    {
        FP_TRY(const std::uint32_t order, next());
        FP_TRY(const std::uint32_t precision, next());
        FP_TRY(const std::uint32_t offset, next());
        if (order > 1 || precision == 0
            || std::uint64_t(precision) + offset > std::uint64_t(size) * 8)
            return damaged("has a number of other bits than its bytes");
        parts.push_back({at, size, order == 1, precision, offset});
        return {};
    }

    Status takeArray(std::uint64_t at, std::uint32_t size, int depth)
    {
        const std::size_t first = parts.size();
        FP_TRY(const std::uint64_t each, take(at, depth + 1));
        if (size % each != 0 || (size / each - 1) * (parts.size() - first) > Parts)
            return damaged("has an array of other bytes than its elements");
        const std::vector<Part> one(parts.begin() + std::ptrdiff_t(first), parts.end());
        for (std::uint64_t shift = each; shift < size; shift += each) {
            for (Part part : one) {
                part.at += shift;
                parts.push_back(part);
            }
        }
        return {};
    }

    Status takeCompound(std::uint64_t at, std::uint32_t size, int depth)
    {
        FP_TRY(const std::uint32_t members, next());
        for (std::uint32_t i = 0; i < members; ++i) {
            FP_TRY(const std::uint32_t offset, next());
            FP_TRY(const std::uint64_t own, take(at + offset, depth + 1));
            if (offset + own > size)
                return damaged("has a member that leaves its compound");
        }
        return {};
    }

    FilterParameters m_parameters;
    std::size_t m_next = 3; ///< behind their number, a flag and the number of elements
};

void fill(const Part &part, BitReader &reader, std::byte *element)
{
    std::uint64_t top = std::uint64_t(part.offset) + part.precision;
    while (top > part.offset) {
        const std::uint64_t byte = (top - 1) / 8;
        const auto bits = unsigned(std::min<std::uint64_t>(top - part.offset, (top - 1) % 8 + 1));
        top -= bits;
        std::byte &to = element[part.at + (part.isBigEndian ? part.size - 1 - byte : byte)];
        to |= std::byte(reader.take(bits) << (top % 8));
    }
}

} // namespace

FilterResult undoNbit(ByteView stored, FilterParameters parameters, std::size_t cap)
{
    constexpr std::size_t Least = 5;
    if (parameters.size() < Least)
        return damaged("must have 5 parameters");
    if (parameters[1] != 0) // every bit counts: left as it was
        return std::vector<std::byte>(stored.begin(), stored.end());
    TypeReader type(parameters);
    FP_TRY(const std::uint64_t size, type.take(0, 0));
    const std::uint64_t count = parameters[2];
    if (count * size > cap)
        return overCap(cap);
    std::uint64_t bits = 0;
    for (const Part &part : type.parts)
        bits += part.precision;
    const auto all = checkedMul(bits, count);
    if (!all || *all > std::uint64_t(stored.size()) * 8)
        return damaged("ends too early");
    std::vector<std::byte> out(std::size_t(count * size));
    BitReader reader(stored);
    for (std::uint64_t i = 0; i < count; ++i) {
        for (const Part &part : type.parts)
            fill(part, reader, out.data() + i * size);
    }
    return out;
}

} // namespace forkpoint
