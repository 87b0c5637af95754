// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/h5worker/newer_datatype.h"

#include "app/h5worker/metadata_block.h"

#include <algorithm>
#include <optional>

namespace forkpoint {

namespace {

constexpr int MostDepth = 32;
constexpr std::uint64_t KnownVersion = 3, NewestVersion = 5;

class Datatype
{
public:
    explicit Datatype(ByteView bytes) : m_bytes(bytes), m_numbers(bytes) {}

    std::vector<std::size_t> versions()
    {
        if (!walk(0) || !m_numbers.isWhole())
            return {};
        return std::move(m_versions);
    }

private:
    enum Class : std::uint64_t {
        Integer,
        Float,
        Time,
        String,
        Bits,
        Opaque,
        Compound,
        Reference,
        Enumeration,
        List,
        Array,
    };

    /// The size of an element; nothing where the type cannot be adapted.
    std::optional<std::uint64_t> walk(int depth)
    {
        const std::size_t at = m_numbers.at();
        const std::uint64_t first = m_numbers.next(1), flags = m_numbers.next(3);
        const std::uint64_t size = m_numbers.next(4);
        const std::uint64_t version = first >> 4;
        if (!m_numbers.isWhole() || depth == MostDepth || version > NewestVersion)
            return std::nullopt;
        if (version > KnownVersion)
            m_versions.push_back(at);
        const auto kind = Class(first & 0xf);
        const bool isComposite = kind == Compound || kind == Enumeration || kind == Array;
        if (isComposite && version < KnownVersion)
            return std::nullopt; // laid out otherwise
        if (!walkProperties(kind, flags, size, depth + 1))
            return std::nullopt;
        return size;
    }

    bool walkProperties(Class kind, std::uint64_t flags, std::uint64_t size, int depth)
    {
        // To an object, to a region; since version 4 to an object, a region or an attribute in another form.
        constexpr std::uint64_t LastReference = 4;
        const std::uint64_t members = flags & 0xffff;
        switch (kind) {
        case Integer:
        case Bits: m_numbers.skip(4); return true;
        case Float: m_numbers.skip(12); return true;
        case Time: m_numbers.skip(2); return true;
        case String: return true;
        case Opaque: m_numbers.skip(flags & 0xff); return true;
        case Reference: return (flags & 0xf) <= LastReference;
        case List: return walk(depth).has_value();
        case Array: m_numbers.skip(4 * m_numbers.next(1)); return walk(depth).has_value();
        case Enumeration: return walkEnumeration(members, depth);
        case Compound: break;
        }
        if (kind != Compound)
            return false;
        for (std::uint64_t i = 0; i < members && m_numbers.isWhole(); ++i) {
            skipName();
            m_numbers.skip(bytesToHold(size));
            if (!walk(depth))
                return false;
        }
        return true;
    }

    bool walkEnumeration(std::uint64_t members, int depth)
    {
        const auto size = walk(depth);
        for (std::uint64_t i = 0; size && i < members && m_numbers.isWhole(); ++i)
            skipName();
        m_numbers.skip(size ? members * *size : 0);
        return size.has_value();
    }

    void skipName()
    {
        const auto rest = m_bytes.subspan(m_numbers.at());
        const auto end = std::find(rest.begin(), rest.end(), std::byte(0));
        m_numbers.skip(std::size_t(end - rest.begin()) + 1);
    }

    ByteView m_bytes;
    MetadataNumbers m_numbers;
    std::vector<std::size_t> m_versions;
};

} // namespace

std::vector<std::size_t> newerDatatypeVersions(ByteView datatype)
{
    return Datatype(datatype).versions();
}

std::vector<std::size_t> newerAttributeVersions(ByteView message)
{
    constexpr std::uint64_t Oldest = 1, Newest = 3, IsShared = 1, Alignment = 8;
    MetadataNumbers numbers(message);
    const std::uint64_t version = numbers.next(1), flags = numbers.next(1);
    std::uint64_t name = numbers.next(2);
    const std::uint64_t datatype = numbers.next(2);
    if (version < Oldest || version > Newest || (flags & IsShared) != 0)
        return {};
    numbers.skip(version == Newest ? 3 : 2); // the dataspace's size, and how the name is encoded
    if (version == Oldest)
        name = (name + Alignment - 1) / Alignment * Alignment;
    const std::uint64_t begin = numbers.at() + name;
    if (!numbers.isWhole() || begin + datatype > message.size())
        return {};
    std::vector<std::size_t> places = newerDatatypeVersions(message.subspan(begin, datatype));
    for (std::size_t &place : places)
        place += begin;
    return places;
}

std::byte inKnownVersion(std::byte version)
{
    constexpr std::byte ClassBits{0x0f};
    return std::byte(KnownVersion << 4) | (version & ClassBits);
}

} // namespace forkpoint
