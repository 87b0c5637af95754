// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/h5worker/virtual_layout.h"

#include "app/h5worker/metadata_checksum.h"
#include "app/h5worker/selection.h"

#include <algorithm>
#include <string>

namespace forkpoint {

namespace {

constexpr std::size_t MostMappings = 8192; ///< boxes of one dataset
constexpr std::size_t NameBytes = 4096;
/// Names of all mappings of a dataset: they must fit into one message.
constexpr std::size_t AllNameBytes = 1u << 20;
constexpr std::uint64_t MostBlockBytes = 1u << 24;
constexpr std::size_t SizeBytes = 8, ChecksumBytes = 4;

Error unsupported(std::string text)
{
    return {ErrorCode::Unsupported, {}, {}, std::move(text)};
}

Error malformed(std::string text)
{
    return {ErrorCode::Malformed, {}, {}, std::move(text)};
}

/// A box along one dimension.
struct Piece
{
    std::uint64_t begin = 0, size = 0;
};

/// The boxes of a grid along one dimension; their number was checked.
std::vector<Piece> piecesOf(const Selection::Steps &steps)
{
    std::vector<Piece> pieces;
    for (std::uint64_t i = 0; i < steps.count; ++i)
        pieces.push_back({steps.start + i * steps.stride, steps.block});
    return pieces;
}

std::uint64_t lengthOf(const Selection::Steps &steps)
{
    return steps.count * steps.block;
}

std::vector<Selection::Steps> wholeOf(const std::vector<std::uint64_t> &dims)
{
    std::vector<Selection::Steps> grid;
    for (const std::uint64_t length : dims)
        grid.push_back({0, 1, 1, length});
    return grid;
}

bool isBox(const std::vector<Selection::Steps> &grid)
{
    return std::all_of(grid.begin(), grid.end(),
                       [](const Selection::Steps &steps) { return steps.count == 1; });
}

Result<std::vector<Selection::Steps>> gridOf(Selection selection)
{
    if (selection.kind == Selection::Kind::Points)
        return unsupported("maps single points");
    if (selection.kind != Selection::Kind::Grid)
        return unsupported("maps something else than a grid of boxes");
    for (const Selection::Steps &steps : selection.grid) {
        if (steps.isUnlimited)
            return unsupported("grows with its sources");
        if (steps.count > MostMappings)
            return unsupported("maps elements with more than " + std::to_string(MostMappings)
                               + " gaps between them");
    }
    return std::move(selection.grid);
}

/// What both sides of a mapping have in one go along one dimension.
struct Run
{
    std::uint64_t begin = 0, sourceBegin = 0, size = 0;
};

/// Cuts where either side has a gap. Both have as many elements.
std::vector<Run> runsOf(const Selection::Steps &own, const Selection::Steps &source)
{
    std::vector<Piece> left = piecesOf(own), right = piecesOf(source);
    std::vector<Run> runs;
    for (std::size_t i = 0, j = 0; i < left.size() && j < right.size();) {
        const std::uint64_t size = std::min(left[i].size, right[j].size);
        runs.push_back({left[i].begin, right[j].begin, size});
        for (Piece *const piece : {&left[i], &right[j]})
            *piece = {piece->begin + size, piece->size - size};
        i += left[i].size == 0;
        j += right[j].size == 0;
    }
    return runs;
}

class Layout
{
public:
    explicit Layout(const std::vector<std::uint64_t> &dims) : m_dims(dims) {}

    Result<std::vector<Hdf5Mapping>> read(ByteView block)
    {
        MetadataNumbers numbers(block);
        m_version = numbers.next(1);
        const std::uint64_t count = numbers.next(SizeBytes);
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
        FP_TRY(Selection source, decodeSelection(numbers));
        FP_TRY(Selection own, decodeSelection(numbers));
        m_names.push_back(std::move(names));
        const bool isNothing =
            source.kind == Selection::Kind::None || own.kind == Selection::Kind::None;
        return isNothing ? Status() : add(std::move(own), std::move(source));
    }

    /// A name that stands here, or the one of an entry before.
    Result<std::string> readName(ByteView block, MetadataNumbers &numbers, bool isShared,
                                 std::string Names::*name) const
    {
        if (isShared) {
            const std::uint64_t origin = numbers.next(SizeBytes);
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

    Status add(Selection own, Selection source)
    {
        std::vector<Selection::Steps> grid = wholeOf(m_dims);
        if (own.kind != Selection::Kind::All) {
            FP_TRY(grid, gridOf(std::move(own)));
        }
        if (grid.size() != m_dims.size())
            return malformed("maps elements of another rank than its own");
        if (source.kind == Selection::Kind::All) {
            if (!isBox(
                    grid)) // how many elements the source has along which dimension, it alone says
                return unsupported("maps all of a source with gaps between its elements");
            return addBox(grid, {});
        }
        FP_TRY(const auto from, gridOf(std::move(source)));
        if (isBox(grid) && isBox(from))
            return addBox(grid, from);
        return addRuns(grid, from);
    }

    Status addBox(const std::vector<Selection::Steps> &own,
                  const std::vector<Selection::Steps> &source)
    {
        Hdf5Mapping mapping;
        for (const Selection::Steps &steps : own) {
            mapping.begin.push_back(steps.start);
            mapping.size.push_back(lengthOf(steps));
        }
        for (const Selection::Steps &steps : source) {
            mapping.sourceBegin.push_back(steps.start);
            mapping.sourceSize.push_back(lengthOf(steps));
        }
        return add(std::move(mapping));
    }

    /// Dimensions of one element change no order: the others of both sides are alike, one by one.
    Status addRuns(const std::vector<Selection::Steps> &own,
                   const std::vector<Selection::Steps> &source)
    {
        std::vector<std::pair<std::size_t, std::size_t>> alike;
        std::size_t j = 0;
        const auto skipSingle = [&] {
            while (j < source.size() && lengthOf(source[j]) == 1)
                ++j;
        };
        for (std::size_t i = 0; i < own.size(); ++i) {
            if (lengthOf(own[i]) == 1)
                continue;
            skipSingle();
            if (j == source.size() || lengthOf(own[i]) != lengthOf(source[j]))
                return unsupported("maps elements with gaps between them as another shape");
            alike.emplace_back(i, j++);
        }
        skipSingle();
        if (j != source.size())
            return unsupported("maps elements with gaps between them as another shape");
        Hdf5Mapping mapping;
        for (const Selection::Steps &steps : own)
            mapping.begin.push_back(steps.start);
        for (const Selection::Steps &steps : source)
            mapping.sourceBegin.push_back(steps.start);
        mapping.size.assign(own.size(), 1);
        mapping.sourceSize.assign(source.size(), 1);
        std::vector<Hdf5Mapping> boxes{std::move(mapping)};
        for (const auto &[i, k] : alike)
            FP_CHECK(multiply(boxes, i, k, runsOf(own[i], source[k])));
        for (Hdf5Mapping &box : boxes)
            FP_CHECK(add(std::move(box)));
        return {};
    }

    /// Each box once for each run along dimension `i` of the own shape and `k` of the source.
    static Status multiply(std::vector<Hdf5Mapping> &boxes, std::size_t i, std::size_t k,
                           const std::vector<Run> &runs)
    {
        if (boxes.size() * runs.size() > MostMappings)
            return tooMany(boxes.size() * runs.size());
        std::vector<Hdf5Mapping> more;
        for (const Hdf5Mapping &box : boxes) {
            for (const Run &run : runs) {
                more.push_back(box);
                more.back().begin[i] = run.begin;
                more.back().sourceBegin[k] = run.sourceBegin;
                more.back().size[i] = more.back().sourceSize[k] = run.size;
            }
        }
        boxes = std::move(more);
        return {};
    }

    Status add(Hdf5Mapping mapping)
    {
        mapping.file = m_names.back().file;
        mapping.dataset = m_names.back().dataset;
        m_nameBytes += mapping.file.size() + mapping.dataset.size();
        if (m_mappings.size() == MostMappings)
            return tooMany(MostMappings + 1);
        if (m_nameBytes > AllNameBytes)
            return Error{ErrorCode::Limit, {}, {}, "has names of sources that are too long"};
        m_mappings.push_back(std::move(mapping));
        return {};
    }

    const std::vector<std::uint64_t> &m_dims;
    std::uint64_t m_version = 0;
    std::vector<Names> m_names;
    std::size_t m_nameBytes = 0;
    std::vector<Hdf5Mapping> m_mappings;
};

} // namespace

Result<std::vector<Hdf5Mapping>> readVirtualLayout(GlobalHeapId id,
                                                   const std::vector<std::uint64_t> &dims)
{
    if (id.address == ~std::uint64_t(0))
        return std::vector<Hdf5Mapping>(); // shows nothing
    FP_TRY(const auto bytes, readGlobalHeap(id, MostBlockBytes));
    if (bytes.size() < ChecksumBytes)
        return malformed("has a list of sources without an end");
    const ByteView block = ByteView(bytes).first(bytes.size() - ChecksumBytes);
    if (metadataChecksum(block) != loadLittle<std::uint32_t>(&bytes[block.size()]))
        return malformed("has a list of sources of another checksum than it says");
    return Layout(dims).read(block);
}

} // namespace forkpoint
