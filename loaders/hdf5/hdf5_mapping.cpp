// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/hdf5/hdf5_mapping.h"

#include "model/bytes.h"

#include <algorithm>

namespace forkpoint {

namespace {

/// Comparisons of blocks that an irregular selection may cost.
constexpr std::uint64_t MostWork = 50'000'000;

Error malformed(std::string text)
{
    return {ErrorCode::Malformed, {}, {}, std::move(text)};
}

Error tooManyBoxes(std::size_t most)
{
    return {ErrorCode::Limit, {}, {}, "may show at most " + std::to_string(most) + " boxes"};
}

using Pieces = std::vector<Hdf5Piece>;

std::uint64_t lengthOf(const Pieces &pieces)
{
    std::uint64_t length = 0;
    for (const Hdf5Piece &piece : pieces)
        length += piece.size;
    return length;
}

/// The pieces of each dimension of a grid, within the shape.
Result<std::vector<Pieces>> gridOf(const BoundSelection &bound, std::size_t most)
{
    std::vector<Pieces> grid;
    if (bound.selection.kind == Hdf5Selection::Kind::All) {
        for (const Index length : bound.shape.dims)
            grid.push_back({{0, length}});
        return grid;
    }
    if (bound.selection.grid.size() != bound.shape.rank())
        return malformed("maps elements of another rank than a dataset has");
    for (std::size_t i = 0; i < bound.shape.rank(); ++i) {
        auto pieces = piecesOf(bound.selection.grid[i], bound.elements, most);
        if (!pieces)
            return tooManyBoxes(most);
        const std::uint64_t length = bound.shape.dims[i];
        for (const Hdf5Piece &piece : *pieces) {
            if (piece.size > length || piece.begin > length - piece.size)
                return malformed("shows elements outside of the shape " + bound.shape.toString());
        }
        grid.push_back(std::move(*pieces));
    }
    return grid;
}

/// What both sides of a mapping have in one go along one dimension.
struct Run
{
    std::uint64_t begin = 0, sourceBegin = 0, size = 0;
};

/// Cuts where either side has a gap. Both have as many elements.
std::vector<Run> runsOf(Pieces own, Pieces source)
{
    std::vector<Run> runs;
    for (std::size_t i = 0, j = 0; i < own.size() && j < source.size();) {
        const std::uint64_t size = std::min(own[i].size, source[j].size);
        if (size > 0)
            runs.push_back({own[i].begin, source[j].begin, size});
        for (Hdf5Piece *const piece : {&own[i], &source[j]})
            *piece = {piece->begin + size, piece->size - size};
        i += own[i].size == 0;
        j += source[j].size == 0;
    }
    return runs;
}

/// Dimensions of both sides that have the same number of elements, one by one, those of one element left
/// out; nothing where they differ.
std::optional<std::vector<std::pair<std::size_t, std::size_t>>>
alikeDimensions(const std::vector<Pieces> &own, const std::vector<Pieces> &source)
{
    const auto longOnes = [](const std::vector<Pieces> &grid) {
        std::vector<std::size_t> found;
        for (std::size_t i = 0; i < grid.size(); ++i) {
            if (lengthOf(grid[i]) != 1)
                found.push_back(i);
        }
        return found;
    };
    const auto left = longOnes(own), right = longOnes(source);
    if (left.size() != right.size())
        return std::nullopt;
    std::vector<std::pair<std::size_t, std::size_t>> alike;
    for (std::size_t i = 0; i < left.size(); ++i) {
        if (lengthOf(own[left[i]]) != lengthOf(source[right[i]]))
            return std::nullopt;
        alike.emplace_back(left[i], right[i]);
    }
    return alike;
}

Box firstElements(const std::vector<Pieces> &grid)
{
    Box box{{}, std::vector<Index>(grid.size(), 1)};
    for (const Pieces &pieces : grid)
        box.origin.push_back(pieces.front().begin);
    return box;
}

/// Grids of one shape: dimension by dimension.
Result<std::vector<BoxPair>>
matchGrids(const std::vector<Pieces> &own, const std::vector<Pieces> &source,
           const std::vector<std::pair<std::size_t, std::size_t>> &alike, std::size_t most)
{
    std::vector<BoxPair> pairs{{firstElements(own), firstElements(source)}};
    for (const auto &[i, j] : alike) {
        const std::vector<Run> runs = runsOf(own[i], source[j]);
        if (runs.size() > most / pairs.size())
            return tooManyBoxes(most);
        std::vector<BoxPair> more;
        for (const BoxPair &pair : pairs) {
            for (const Run &run : runs) {
                more.push_back(pair);
                more.back().own.origin[i] = run.begin;
                more.back().source.origin[j] = run.sourceBegin;
                more.back().own.size[i] = more.back().source.size[j] = run.size;
            }
        }
        pairs = std::move(more);
    }
    return pairs;
}

/// Boxes that, one after the other, have the elements of a grid in their order: all of the dimensions behind
/// the last one with a gap, a piece of that one, single elements of those before it.
Result<std::vector<Box>> boxesOf(const std::vector<Pieces> &grid, std::size_t most)
{
    std::size_t broken = grid.size();
    while (broken > 0 && grid[broken - 1].size() == 1)
        --broken;
    std::vector<Box> boxes{firstElements(grid)};
    for (std::size_t i = 0; i < grid.size(); ++i) {
        const bool isSingle = i + 1 < broken;
        const std::uint64_t parts = isSingle ? lengthOf(grid[i]) : grid[i].size();
        if (parts > most / boxes.size())
            return tooManyBoxes(most);
        std::vector<Box> more;
        for (const Box &box : boxes) {
            for (const Hdf5Piece &piece : grid[i]) {
                const std::uint64_t step = isSingle ? 1 : piece.size;
                for (std::uint64_t at = 0; at < piece.size; at += step) {
                    more.push_back(box);
                    more.back().origin[i] = piece.begin + at;
                    more.back().size[i] = step;
                }
            }
        }
        boxes = std::move(more);
    }
    return boxes;
}

/// The same of blocks that are no grid: cut along the first dimension wherever one begins or ends.
class IrregularBoxes
{
public:
    IrregularBoxes(const std::vector<Hdf5Selection::Block> &blocks, std::size_t rank,
                   std::size_t most)
        : m_blocks(blocks),
          m_rank(rank),
          m_most(most)
    {
    }

    Result<std::vector<Box>> make()
    {
        std::vector<std::size_t> all(m_blocks.size());
        for (std::size_t i = 0; i < all.size(); ++i)
            all[i] = i;
        return from(0, all);
    }

private:
    using Numbers = std::vector<std::size_t>;

    /// Of the dimensions from `dimension` on; those before have one element each, at 0.
    Result<std::vector<Box>> from(std::size_t dimension, const Numbers &blocks)
    {
        std::vector<Index> cuts;
        for (const std::size_t block : blocks) {
            cuts.push_back(m_blocks[block].begin[dimension]);
            cuts.push_back(m_blocks[block].end[dimension]);
        }
        std::sort(cuts.begin(), cuts.end());
        cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
        std::vector<Box> boxes;
        for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
            Numbers inside;
            for (const std::size_t block : blocks) {
                if (m_blocks[block].begin[dimension] <= cuts[i]
                    && cuts[i] < m_blocks[block].end[dimension])
                    inside.push_back(block);
            }
            m_work += blocks.size();
            if (m_work > MostWork)
                return tooManyBoxes(m_most);
            if (!inside.empty())
                FP_CHECK(add(dimension, cuts[i], cuts[i + 1], inside, boxes));
        }
        return boxes;
    }

    /// What is one box in the dimensions behind is one with all of these elements.
    Status add(std::size_t dimension, Index begin, Index end, const Numbers &inside,
               std::vector<Box> &boxes)
    {
        std::vector<Box> behind{{std::vector<Index>(m_rank, 0), std::vector<Index>(m_rank, 1)}};
        if (dimension + 1 < m_rank) {
            FP_TRY(behind, from(dimension + 1, inside));
        }
        const Index step = behind.size() == 1 ? end - begin : 1;
        if ((end - begin) / step > m_most / behind.size())
            return tooManyBoxes(m_most);
        for (Index at = begin; at < end; at += step) {
            for (Box &box : behind) {
                box.origin[dimension] = at;
                box.size[dimension] = step;
                const bool follows = step == end - begin && !boxes.empty()
                    && continues(boxes.back(), box, dimension);
                if (follows)
                    boxes.back().size[dimension] += step;
                else
                    boxes.push_back(box);
            }
        }
        return boxes.size() > m_most ? Status(tooManyBoxes(m_most)) : Status();
    }

    static bool continues(const Box &before, const Box &box, std::size_t dimension)
    {
        Box moved = before;
        moved.origin[dimension] += moved.size[dimension];
        moved.size[dimension] = box.size[dimension];
        return moved == box;
    }

    const std::vector<Hdf5Selection::Block> &m_blocks;
    std::size_t m_rank, m_most;
    std::uint64_t m_work = 0;
};

Result<std::vector<Box>> boxesInOrder(const BoundSelection &bound, std::size_t most)
{
    if (bound.selection.kind != Hdf5Selection::Kind::Blocks) {
        FP_TRY(const std::vector<Pieces> grid, gridOf(bound, most));
        return boxesOf(grid, most);
    }
    for (const Hdf5Selection::Block &block : bound.selection.blocks) {
        bool fits = bound.shape.rank() > 0 && block.begin.size() == bound.shape.rank()
            && block.end.size() == bound.shape.rank();
        for (std::size_t i = 0; fits && i < bound.shape.rank(); ++i)
            fits = block.begin[i] < block.end[i] && block.end[i] <= bound.shape.dims[i];
        if (!fits)
            return malformed("shows elements outside of the shape " + bound.shape.toString());
    }
    return IrregularBoxes(bound.selection.blocks, bound.shape.rank(), most).make();
}

/// Boxes of both sides, first to first, cut until they fit.
class Walk
{
public:
    Walk(std::vector<Box> own, std::vector<Box> source, std::size_t most)
        : m_own(std::move(own)),
          m_source(std::move(source)),
          m_most(most)
    {
        std::reverse(m_own.begin(), m_own.end());
        std::reverse(m_source.begin(), m_source.end());
    }

    Result<std::vector<BoxPair>> match()
    {
        while (!m_own.empty() && !m_source.empty()) {
            if (!fit()) {
                cutOne();
                continue;
            }
            if (m_pairs.size() == m_most)
                return tooManyBoxes(m_most);
            m_pairs.push_back({std::move(m_own.back()), std::move(m_source.back())});
            m_own.pop_back();
            m_source.pop_back();
        }
        if (!m_own.empty() || !m_source.empty())
            return malformed("shows another number of elements than its source has there");
        return std::move(m_pairs);
    }

private:
    static std::vector<Index> sizes(const Box &box)
    {
        std::vector<Index> sizes;
        for (const std::size_t i : longDimensions(box))
            sizes.push_back(box.size[i]);
        return sizes;
    }

    bool fit() const { return sizes(m_own.back()) == sizes(m_source.back()); }

    /// Alike but for the first dimension: to the shorter of both. Otherwise to the first element of the one of
    /// more dimensions, or of both.
    void cutOne()
    {
        const auto own = sizes(m_own.back()), source = sizes(m_source.back());
        const bool isTail = own.size() == source.size()
            && std::equal(own.begin() + 1, own.end(), source.begin() + 1);
        const bool isLine = own.size() <= 1 && source.size() <= 1;
        const Index mine = own.empty() ? 1 : own[0], other = source.empty() ? 1 : source[0];
        const Index shared = isTail || isLine ? std::min(mine, other) : 1;
        if (isTail || isLine || own.size() >= source.size())
            cut(m_own, shared);
        if (isTail || isLine || source.size() >= own.size())
            cut(m_source, shared);
    }

    /// The last box: its first elements then stand behind the rest.
    static void cut(std::vector<Box> &boxes, Index size)
    {
        const auto dimensions = longDimensions(boxes.back());
        if (dimensions.empty() || boxes.back().size[dimensions[0]] == size)
            return;
        Box first = boxes.back();
        first.size[dimensions[0]] = size;
        boxes.back().origin[dimensions[0]] += size;
        boxes.back().size[dimensions[0]] -= size;
        boxes.push_back(std::move(first));
    }

    std::vector<Box> m_own, m_source;
    std::size_t m_most;
    std::vector<BoxPair> m_pairs;
};

/// Without elements, whatever else it says.
bool isNothing(const BoundSelection &bound)
{
    const auto &[selection, shape, elements] = bound;
    const auto isEmpty = [n = elements](const Hdf5Selection::Steps &steps) {
        return steps.isUnlimited ? n == 0 : steps.count == 0 || steps.block == 0;
    };
    switch (selection.kind) {
    case Hdf5Selection::Kind::None: return true;
    case Hdf5Selection::Kind::All: return shape.count() == 0;
    case Hdf5Selection::Kind::Grid:
        return std::any_of(selection.grid.begin(), selection.grid.end(), isEmpty);
    default: return false;
    }
}

} // namespace

std::vector<std::size_t> longDimensions(const Box &box)
{
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < box.size.size(); ++i) {
        if (box.size[i] != 1)
            found.push_back(i);
    }
    return found;
}

Result<std::vector<BoxPair>> matchSelections(const BoundSelection &own,
                                             const BoundSelection &source, std::size_t most)
{
    for (const BoundSelection *const bound : {&own, &source}) {
        if (bound->selection.kind == Hdf5Selection::Kind::Points)
            return Error{ErrorCode::Unsupported, {}, {}, "maps single points"};
    }
    if (isNothing(own) && isNothing(source))
        return std::vector<BoxPair>();
    if (isNothing(own) || isNothing(source))
        return malformed("shows another number of elements than its source has there");
    const auto isGrid = [](const BoundSelection &bound) {
        return bound.selection.kind != Hdf5Selection::Kind::Blocks;
    };
    if (isGrid(own) && isGrid(source)) {
        FP_TRY(const std::vector<Pieces> left, gridOf(own, most));
        FP_TRY(const std::vector<Pieces> right, gridOf(source, most));
        if (const auto alike = alikeDimensions(left, right))
            return matchGrids(left, right, *alike, most);
    }
    FP_TRY(std::vector<Box> left, boxesInOrder(own, most));
    FP_TRY(std::vector<Box> right, boxesInOrder(source, most));
    return Walk(std::move(left), std::move(right), most).match();
}

} // namespace forkpoint
