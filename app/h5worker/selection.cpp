// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/h5worker/selection.h"

#include <algorithm>

namespace forkpoint {

namespace {

constexpr std::size_t Wide = 8, Narrow = 4;

Error malformed(const std::string &text)
{
    return {ErrorCode::Malformed, {}, {}, "the selection " + text};
}

Error unknownVersion(const char *what, std::uint64_t version)
{
    return {ErrorCode::Unsupported,
            {},
            {},
            std::string("has version ") + std::to_string(version) + " of a selection of " + what
                + ", which is not known"};
}

/// Blocks that touch are one, and one has no stride: equal steps have equal numbers.
Result<Hdf5Selection::Steps> normal(Hdf5Selection::Steps steps)
{
    if (steps.isUnlimited && (steps.block == 0 || steps.stride < steps.block))
        return malformed("grows without elements, or over itself");
    if (steps.isUnlimited)
        return steps;
    if (steps.count > 1 && steps.stride < steps.block)
        return malformed("has blocks that overlap");
    const auto last = steps.count == 0 ? 0 : checkedMul(steps.count - 1, steps.stride);
    const auto length = last ? checkedAdd(*last, steps.block) : std::nullopt;
    if (!length || !checkedAdd(steps.start, *length))
        return malformed("ends behind 64 bits");
    if (steps.count == 0 || steps.block == 0)
        return Hdf5Selection::Steps{steps.start, 1, 1, 0};
    if (steps.count == 1 || steps.stride == steps.block)
        return Hdf5Selection::Steps{steps.start, 1, 1, *length};
    return steps;
}

/// The steps whose blocks these are, sorted; nothing where they are not evenly placed.
std::optional<Hdf5Selection::Steps>
stepsOf(const std::vector<std::pair<std::uint64_t, std::uint64_t>> &blocks)
{
    const auto [first, end] = blocks.front();
    Hdf5Selection::Steps steps{first, 1, blocks.size(), end - first};
    if (blocks.size() > 1)
        steps.stride = blocks[1].first - first;
    for (std::size_t i = 1; i < blocks.size(); ++i) {
        if (blocks[i].first - blocks[i - 1].first != steps.stride
            || blocks[i].second - blocks[i].first != steps.block)
            return std::nullopt;
    }
    const auto whole = normal(steps);
    return whole.ok() ? std::optional(*whole) : std::nullopt;
}

/// Older writers list the blocks of a grid one by one; here each once.
void recogniseGrid(Hdf5Selection &selection, std::size_t rank)
{
    std::vector<Hdf5Selection::Steps> grid;
    std::uint64_t count = 1;
    for (std::size_t i = 0; i < rank; ++i) {
        std::vector<std::pair<std::uint64_t, std::uint64_t>> along;
        for (const Hdf5Selection::Block &block : selection.blocks)
            along.emplace_back(block.begin[i], block.end[i]);
        std::sort(along.begin(), along.end());
        along.erase(std::unique(along.begin(), along.end()), along.end());
        const auto steps = stepsOf(along);
        count = checkedMul(count, along.size()).value_or(0);
        if (!steps)
            return;
        grid.push_back(*steps);
    }
    if (count != selection.blocks.size())
        return;
    selection.kind = Hdf5Selection::Kind::Grid;
    selection.grid = std::move(grid);
    selection.blocks.clear();
}

class Decoder
{
public:
    explicit Decoder(MetadataNumbers &numbers) : m_numbers(numbers) {}

    Result<Hdf5Selection> decode()
    {
        enum : std::uint64_t { None, Points, Hyperslab, All };
        const std::uint64_t kind = m_numbers.next(4);
        m_version = m_numbers.next(4);
        Status status;
        switch (kind) {
        case None:
        case All:
            m_selection.kind = kind == All ? Hdf5Selection::Kind::All : Hdf5Selection::Kind::None;
            status = m_version == 1 ? Status() : unknownVersion("all or nothing", m_version);
            m_numbers.skip(8);
            break;
        case Points: status = decodePoints(); break;
        case Hyperslab: status = decodeHyperslab(); break;
        default: return malformed("is of an unknown kind");
        }
        FP_CHECK(std::move(status));
        if (!m_numbers.isWhole())
            return malformed("ends early");
        return std::move(m_selection);
    }

private:
    /// How wide numbers are, and the rank.
    Status takeRank(std::size_t width)
    {
        m_width = width;
        m_rank = m_numbers.next(4);
        if (width != 2 && width != Narrow && width != Wide)
            return malformed("has numbers of " + std::to_string(width) + " bytes");
        if (m_rank == 0 || m_rank > MostSelectionRank)
            return malformed("has " + std::to_string(m_rank) + " dimensions");
        return {};
    }

    std::uint64_t next() { return m_numbers.next(m_width); }

    Status checkCount(std::uint64_t count) const
    {
        if (count <= MostSelectionNumbers / m_rank)
            return {};
        return Error{ErrorCode::Limit,
                     {},
                     {},
                     "selects " + std::to_string(count) + " points or blocks, too many to list"};
    }

    Status decodePoints()
    {
        if (m_version != 1 && m_version != 2)
            return unknownVersion("points", m_version);
        m_selection.kind = Hdf5Selection::Kind::Points;
        if (m_version == 1)
            m_numbers.skip(8); // reserved, length
        FP_CHECK(takeRank(m_version == 1 ? Narrow : std::size_t(m_numbers.next(1))));
        const std::uint64_t count = next();
        FP_CHECK(checkCount(count));
        for (std::uint64_t i = 0; i < count && m_numbers.isWhole(); ++i) {
            std::vector<std::uint64_t> &point = m_selection.points.emplace_back();
            for (std::uint64_t d = 0; d < m_rank; ++d)
                point.push_back(next());
        }
        if (count == 0)
            m_selection.kind = Hdf5Selection::Kind::None;
        return {};
    }

    Status decodeHyperslab()
    {
        constexpr std::uint64_t IsRegular = 1;
        if (m_version == 0 || m_version > 3)
            return unknownVersion("blocks", m_version);
        std::uint64_t flags = 0;
        std::size_t width = Narrow;
        if (m_version == 1)
            m_numbers.skip(4); // reserved
        else
            flags = m_numbers.next(1);
        if (m_version == 3)
            width = std::size_t(m_numbers.next(1));
        else
            m_numbers.skip(4); // length
        FP_CHECK(takeRank(m_version == 2 ? Wide : width));
        if ((flags & IsRegular) != 0)
            return decodeRegular();
        return m_version == 2 ? unknownVersion("single blocks", m_version) : decodeBlocks();
    }

    Status decodeRegular()
    {
        const std::uint64_t unlimited = ~std::uint64_t(0) >> (64 - 8 * m_width);
        m_selection.kind = Hdf5Selection::Kind::Grid;
        for (std::uint64_t d = 0; d < m_rank; ++d) {
            Hdf5Selection::Steps steps;
            steps.start = next();
            steps.stride = next();
            steps.count = next();
            steps.block = next();
            if (steps.block == unlimited)
                steps = {steps.start, 1, 0, 1, true};
            else if (steps.count == unlimited)
                steps = {steps.start, steps.stride, 0, steps.block, true};
            FP_TRY(steps, normal(steps));
            m_selection.grid.push_back(steps);
        }
        return {};
    }

    Status decodeBlocks()
    {
        m_selection.kind = Hdf5Selection::Kind::Blocks;
        const std::uint64_t count = next();
        FP_CHECK(checkCount(count));
        for (std::uint64_t i = 0; i < count && m_numbers.isWhole(); ++i) {
            Hdf5Selection::Block block;
            for (std::uint64_t d = 0; d < m_rank; ++d)
                block.begin.push_back(next());
            for (std::uint64_t d = 0; d < m_rank; ++d) {
                const std::uint64_t last = next();
                if (last < block.begin[d] || last == ~std::uint64_t(0))
                    return malformed("has a block that ends before it begins");
                block.end.push_back(last + 1);
            }
            m_selection.blocks.push_back(std::move(block));
        }
        std::vector<Hdf5Selection::Block> &blocks = m_selection.blocks;
        std::sort(blocks.begin(), blocks.end());
        blocks.erase(std::unique(blocks.begin(), blocks.end()), blocks.end());
        if (!m_selection.blocks.empty())
            recogniseGrid(m_selection, m_rank);
        else
            m_selection.kind = Hdf5Selection::Kind::None;
        return {};
    }

    MetadataNumbers &m_numbers;
    Hdf5Selection m_selection;
    std::uint64_t m_version = 0, m_rank = 0;
    std::size_t m_width = Wide;
};

std::string toText(const Hdf5Selection::Steps &steps)
{
    if (steps.isUnlimited)
        return std::to_string(steps.start) + "::" + std::to_string(steps.stride) + ':'
            + std::to_string(steps.block);
    const std::uint64_t end = steps.start + (steps.count - 1) * steps.stride + steps.block;
    std::string text = std::to_string(steps.start) + ':' + std::to_string(end);
    if (steps.count > 1)
        text += ':' + std::to_string(steps.stride);
    if (steps.count > 1 && steps.block > 1)
        text += ':' + std::to_string(steps.block);
    return text;
}

/// The texts of a list between two signs.
template <class List, class Print>
std::string between(char open, const List &list, Print print, char close)
{
    std::string text(1, open);
    for (std::size_t i = 0; i < list.size(); ++i)
        text += (i == 0 ? "" : ", ") + print(list[i]);
    return text + close;
}

std::string toText(const Hdf5Selection::Block &block)
{
    std::vector<Hdf5Selection::Steps> sides;
    for (std::size_t i = 0; i < block.begin.size(); ++i)
        sides.push_back({block.begin[i], 1, 1, block.end[i] - block.begin[i]});
    return between(
        '[', sides, [](const Hdf5Selection::Steps &steps) { return toText(steps); }, ']');
}

template <class List, class Print>
std::string spaced(const List &list, Print print)
{
    std::string text;
    for (const auto &each : list)
        text += (text.empty() ? "" : " ") + print(each);
    return text;
}

} // namespace

Result<Hdf5Selection> decodeSelection(MetadataNumbers &numbers)
{
    return Decoder(numbers).decode();
}

std::string toText(const Hdf5Selection &selection)
{
    const auto digits = [](std::uint64_t number) { return std::to_string(number); };
    switch (selection.kind) {
    case Hdf5Selection::Kind::None: return "[]";
    case Hdf5Selection::Kind::All: return "[...]";
    case Hdf5Selection::Kind::Grid:
        return between(
            '[', selection.grid, [](const Hdf5Selection::Steps &steps) { return toText(steps); },
            ']');
    case Hdf5Selection::Kind::Blocks:
        return spaced(selection.blocks,
                      [](const Hdf5Selection::Block &block) { return toText(block); });
    case Hdf5Selection::Kind::Points: break;
    }
    return spaced(selection.points, [&](const std::vector<std::uint64_t> &point) {
        return between('(', point, digits, ')');
    });
}

} // namespace forkpoint
