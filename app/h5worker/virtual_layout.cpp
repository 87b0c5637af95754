// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/h5worker/virtual_layout.h"

#include "app/h5worker/metadata_checksum.h"
#include "app/h5worker/selection.h"

#include <algorithm>
#include <string>

namespace forkpoint {

namespace {

constexpr std::size_t MostMappings = 8192;
constexpr std::size_t NameBytes = 4096;
/// Names and selections of all mappings of a dataset: they must fit into one message, beside a fill value.
constexpr std::size_t MostBytes = 5u << 19;
constexpr std::uint64_t MostBlockBytes = 1u << 24;
constexpr std::size_t ChecksumBytes = 4;

Error unsupported(std::string text)
{
    return {ErrorCode::Unsupported, {}, {}, std::move(text)};
}

Error malformed(std::string text)
{
    return {ErrorCode::Malformed, {}, {}, std::move(text)};
}

/// What a selection takes in a message, about.
std::size_t bytesOf(const Hdf5Selection &selection)
{
    constexpr std::size_t StepBytes = 33, NumberBytes = 8;
    std::size_t bytes = selection.grid.size() * StepBytes;
    for (const Hdf5Selection::Block &block : selection.blocks)
        bytes += (1 + 2 * block.begin.size()) * NumberBytes;
    return bytes;
}

class Layout
{
public:
    Result<std::vector<Hdf5Mapping>> read(ByteView block)
    {
        MetadataNumbers numbers(block);
        m_version = numbers.next(1);
        const std::uint64_t count = numbers.nextLength();
        if (m_version > 1)
            return unsupported("has a list of sources of version " + std::to_string(m_version)
                               + ", which is not known");
        if (count > MostMappings)
            return tooMany(count);
        for (std::uint64_t i = 0; i < count; ++i)
            FP_CHECK(readEntry(block, numbers));
        return std::move(m_mappings);
    }

private:
    struct Names
    {
        std::string file, dataset;
    };

    static Error tooMany(std::uint64_t count)
    {
        return {ErrorCode::Limit,
                {},
                {},
                "may have at most " + std::to_string(MostMappings) + " sources, has "
                    + std::to_string(count)};
    }

    Status readEntry(ByteView block, MetadataNumbers &numbers)
    {
        constexpr std::uint64_t SharedFile = 1, SharedDataset = 2, SameFile = 4;
        const std::uint64_t flags = m_version > 0 ? numbers.next(1) : 0;
        Names names;
        if ((flags & SameFile) != 0) {
            names.file = ".";
        } else {
            FP_TRY(names.file, readName(block, numbers, (flags & SharedFile) != 0, &Names::file));
        }
        FP_TRY(names.dataset,
               readName(block, numbers, (flags & SharedDataset) != 0, &Names::dataset));
        Hdf5Mapping mapping{names.file, names.dataset, {}, {}};
        FP_TRY(mapping.source, decodeSelection(numbers));
        FP_TRY(mapping.own, decodeSelection(numbers));
        m_names.push_back(std::move(names));
        return add(std::move(mapping));
    }

    /// A name that stands here, or the one of an entry before.
    Result<std::string> readName(ByteView block, MetadataNumbers &numbers, bool isShared,
                                 std::string Names::*name) const
    {
        if (isShared) {
            const std::uint64_t origin = numbers.nextLength();
            if (origin >= m_names.size())
                return malformed("shares the name of a source that does not stand before it");
            return m_names[origin].*name;
        }
        const ByteView rest = block.subspan(numbers.at());
        const auto end = std::find(rest.begin(), rest.end(), std::byte(0));
        const auto length = std::size_t(end - rest.begin());
        if (end == rest.end() || length > NameBytes)
            return malformed("has a source without a name of usual length");
        numbers.skip(length + 1);
        return std::string(asText(rest.first(length)));
    }

    Status add(Hdf5Mapping mapping)
    {
        for (const Hdf5Selection *const selection : {&mapping.own, &mapping.source}) {
            if (selection->kind == Hdf5Selection::Kind::None)
                return {};
            if (selection->kind == Hdf5Selection::Kind::Points)
                return unsupported("maps single points");
            m_bytes += bytesOf(*selection);
        }
        m_bytes += mapping.file.size() + mapping.dataset.size();
        if (m_bytes > MostBytes)
            return Error{
                ErrorCode::Limit, {}, {}, "has a list of sources that is too long to be told"};
        m_mappings.push_back(std::move(mapping));
        return {};
    }

    std::uint64_t m_version = 0;
    std::vector<Names> m_names;
    std::size_t m_bytes = 0;
    std::vector<Hdf5Mapping> m_mappings;
};

} // namespace

Result<std::vector<Hdf5Mapping>> readVirtualLayout(GlobalHeapId id)
{
    if (id.address == UndefinedAddress)
        return std::vector<Hdf5Mapping>(); // shows nothing
    FP_TRY(const auto bytes, readGlobalHeap(id, MostBlockBytes));
    if (bytes.size() < ChecksumBytes)
        return malformed("has a list of sources without an end");
    const ByteView block = ByteView(bytes).first(bytes.size() - ChecksumBytes);
    if (metadataChecksum(block) != loadLittle<std::uint32_t>(&bytes[block.size()]))
        return malformed("has a list of sources of another checksum than it says");
    return Layout().read(block);
}

} // namespace forkpoint
