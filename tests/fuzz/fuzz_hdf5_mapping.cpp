// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/hdf5/hdf5_virtual.h"
#include "tests/support/naive_selection.h"

#include <map>

namespace {

using namespace forkpoint;

/// Small numbers, one after the other; 0 where there are no more.
class Numbers
{
public:
    Numbers(const std::uint8_t *data, std::size_t size) : m_data(data), m_size(size) {}

    std::uint64_t below(std::uint64_t end)
    {
        const std::uint64_t next = m_at < m_size ? m_data[m_at++] : 0;
        return end == 0 ? 0 : next % end;
    }

private:
    const std::uint8_t *m_data;
    std::size_t m_size, m_at = 0;
};

Shape someShape(Numbers &numbers)
{
    Shape shape;
    for (std::uint64_t i = numbers.below(4); i > 0; --i)
        shape.dims.push_back(numbers.below(9));
    return shape;
}

/// As the parser of messages lets through: blocks that do not overlap themselves.
Hdf5Selection::Steps someSteps(Numbers &numbers, bool mayGrow)
{
    Hdf5Selection::Steps steps;
    steps.start = numbers.below(4);
    steps.block = 1 + numbers.below(3);
    steps.stride = steps.block + numbers.below(3);
    steps.count = numbers.below(5);
    steps.isUnlimited = mayGrow && numbers.below(3) == 0;
    if (steps.isUnlimited)
        steps.count = 0;
    return steps;
}

Hdf5Selection someSelection(Numbers &numbers, const Shape &shape)
{
    Hdf5Selection selection;
    selection.kind = Hdf5Selection::Kind(numbers.below(5));
    if (selection.kind == Hdf5Selection::Kind::Grid) {
        for (std::size_t i = 0; i < shape.rank(); ++i)
            selection.grid.push_back(someSteps(numbers, !growingDimension(selection)));
    }
    if (selection.kind == Hdf5Selection::Kind::Blocks) {
        for (std::uint64_t i = 1 + numbers.below(5); i > 0; --i) {
            Hdf5Selection::Block block;
            for (const Index length : shape.dims) {
                block.begin.push_back(numbers.below(length + 1));
                block.end.push_back(block.begin.back() + numbers.below(length + 2));
            }
            selection.blocks.push_back(std::move(block));
        }
    }
    return selection;
}

void require(bool holds)
{
    if (!holds)
        __builtin_trap();
}

bool isInside(const Box &box, const Shape &shape)
{
    for (std::size_t i = 0; i < shape.rank(); ++i) {
        if (box.origin[i] + box.size[i] > shape.dims[i])
            return false;
    }
    return box.size.size() == shape.rank();
}

/// Sources above each other: of every element the topmost one, each element once.
void checkMosaic(const std::vector<BoxPair> &pairs, const Shape &own, const Shape &source)
{
    Extent whole;
    whole.box = {std::vector<Index>(source.rank(), 0), source.dims};
    whole.strides = source.rowMajorStrides();
    std::map<Index, Index> want;
    Mosaic mosaic(own);
    for (auto pair = pairs.rbegin(); pair != pairs.rend(); ++pair) {
        const auto extent = placed(whole, *pair);
        if (!extent)
            continue;
        const auto left = test::elementsOf(pair->own, own);
        const auto right = test::elementsOf(pair->source, source);
        for (std::size_t i = 0; i < left.size(); ++i)
            want.try_emplace(left[i], right[i]);
        require(mosaic.addBelow(*extent).ok());
    }
    std::map<Index, Index> got;
    std::size_t count = 0;
    for (const Box &box : mosaic.open())
        count += test::elementsOf(box, own).size();
    for (const Extent &extent : mosaic.take()) {
        const Shape inner{extent.box.size};
        const auto numbers = test::elementsOf(extent.box, own);
        for (Index i = 0; i < numbers.size(); ++i) {
            const std::vector<Index> at = coordinatesOf(i, inner);
            std::uint64_t from = extent.firstElement;
            for (std::size_t d = 0; d < at.size(); ++d)
                from += at[d] * std::uint64_t(extent.strides[d]);
            got.emplace(numbers[i], from);
            ++count;
        }
    }
    require(got == want && count == own.count().value_or(0));
}

} // namespace

/// Two shapes, a selection of each, and how far they grow: what comes out is what the definition says.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
    constexpr std::size_t MostBoxes = 300;
    Numbers numbers(data, size);
    const Shape ownShape = someShape(numbers), sourceShape = someShape(numbers);
    const Hdf5Selection own = someSelection(numbers, ownShape);
    const Hdf5Selection source = someSelection(numbers, sourceShape);
    const BoundSelection left{own, ownShape, numbers.below(12)};
    const BoundSelection right{source, sourceShape, left.elements};
    const auto pairs = matchSelections(left, right, MostBoxes);
    if (!pairs.ok())
        return 0;
    require(pairs->size() <= MostBoxes);
    for (const BoxPair &pair : *pairs)
        require(isInside(pair.own, ownShape) && isInside(pair.source, sourceShape));
    require(test::placesOf(*pairs, ownShape, sourceShape) == test::placesOf(left, right));
    checkMosaic(*pairs, ownShape, sourceShape);
    return 0;
}
