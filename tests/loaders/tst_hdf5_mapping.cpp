// SPDX-License-Identifier: GPL-3.0-or-later
// Which element of a source a virtual dataset shows where; expected values are of the definition
// (tests/support/naive_selection.h) and of h5py (make_virtual.py).
#include "loaders/hdf5/hdf5_sources.h"
#include "loaders/hdf5/hdf5_virtual.h"
#include "tests/support/loaded_file.h"
#include "tests/support/naive_selection.h"

#include <random>

using namespace forkpoint;
using namespace forkpoint::test;

namespace {

using Steps = Hdf5Selection::Steps;
using Block = Hdf5Selection::Block;

Hdf5Selection grid(std::vector<Steps> steps)
{
    return {Hdf5Selection::Kind::Grid, std::move(steps), {}, {}};
}

Hdf5Selection blocks(std::vector<Block> list)
{
    return {Hdf5Selection::Kind::Blocks, {}, {}, std::move(list)};
}

const Hdf5Selection All{Hdf5Selection::Kind::All, {}, {}, {}};

/// Blocks of a shape that do not overlap, at random.
Hdf5Selection someBlocks(const Shape &shape, std::mt19937 &random)
{
    std::vector<Block> list;
    for (int tries = 0; tries < 6; ++tries) {
        Block block;
        for (const Index length : shape.dims) {
            block.begin.push_back(random() % length);
            block.end.push_back(block.begin.back() + 1 + random() % (length - block.begin.back()));
        }
        list.push_back(std::move(block));
    }
    return blocks(std::move(list));
}

} // namespace

class TestHdf5Mapping : public QObject
{
    Q_OBJECT

private slots:
    /// Begin, from begin to begin, and elements of a block; the numbers are those of make_virtual.py.
    void growingSteps_data()
    {
        QTest::addColumn<int>("start");
        QTest::addColumn<int>("stride");
        QTest::addColumn<int>("block");
        QTest::addColumn<int>("length");
        QTest::addColumn<int>("elements");
        QTest::addColumn<int>("end");
        QTest::newRow("nothing") << 5 << 1 << 1 << 5 << 0 << 0;
        QTest::newRow("all") << 0 << 1 << 1 << 7 << 7 << 7;
        QTest::newRow("part of a block") << 0 << 3 << 2 << 4 << 3 << 4;
        QTest::newRow("behind a block") << 0 << 3 << 2 << 6 << 4 << 5;
        QTest::newRow("from 1 on") << 1 << 2 << 1 << 8 << 4 << 8;
        QTest::newRow("blocks that touch") << 2 << 4 << 4 << 9 << 7 << 9;
    }
    void growingSteps()
    {
        QFETCH(int, start);
        QFETCH(int, stride);
        QFETCH(int, block);
        QFETCH(int, length);
        QFETCH(int, elements);
        QFETCH(int, end);
        const Steps steps{std::uint64_t(start), std::uint64_t(stride), 0, std::uint64_t(block),
                          true};
        const auto found = elementsWithin(steps, std::uint64_t(length));
        QCOMPARE(found.value(), std::uint64_t(elements));
        QCOMPARE(endOf(steps, *found).value(), std::uint64_t(end));
        std::uint64_t sum = 0;
        const auto pieces = piecesOf(steps, *found, 100);
        for (const Hdf5Piece &piece : *pieces)
            sum += piece.size;
        QCOMPARE(sum, std::uint64_t(elements));
    }

    void growingStepsDoNotOverflow()
    {
        constexpr std::uint64_t Most = ~std::uint64_t(0);
        QVERIFY(!endOf({1, Most, 0, 1, true}, 3));
        QVERIFY(!piecesOf({1, Most, 0, 1, true}, 3, 100));
        QVERIFY(!piecesOf({0, 2, 0, 1, true}, 1'000'000, 100));
        QCOMPARE(elementsWithin({0, 2, 0, 1, true}, Most).value(), Most / 2 + 1);
    }

    void showsWhatTheDefinitionSays_data()
    {
        QTest::addColumn<Hdf5Selection>("own");
        QTest::addColumn<Shape>("ownShape");
        QTest::addColumn<Hdf5Selection>("source");
        QTest::addColumn<Shape>("sourceShape");
        QTest::addColumn<int>("elements");
        QTest::addColumn<int>("most");
        const Shape plane{{8, 5}}, line{{40}}, small{{3, 5}};
        QTest::newRow("all of both") << All << plane << All << Shape{{8, 1, 5}} << 0 << 1;
        QTest::newRow("a box") << grid({{1, 1, 1, 3}, {0, 1, 1, 5}}) << plane << All << small << 0
                               << 1;
        QTest::newRow("gaps") << grid({{0, 2, 3, 1}, {0, 1, 1, 5}}) << plane << All << small << 0
                              << 3;
        QTest::newRow("as another shape") << grid({{0, 1, 1, 4}, {0, 1, 1, 5}}) << plane
                                          << grid({{3, 1, 1, 20}}) << line << 0 << 4;
        QTest::newRow("gaps of both") << grid({{0, 2, 2, 1}, {1, 2, 2, 1}}) << plane
                                      << grid({{5, 9, 2, 2}}) << line << 0 << 4;
        QTest::newRow("no grid") << blocks({{{0, 0}, {2, 3}}, {{3, 1}, {4, 3}}, {{3, 4}, {5, 5}}})
                                 << plane << grid({{5, 1, 1, 10}}) << line << 0 << 4;
        QTest::newRow("blocks beside each other")
            << blocks({{{0, 0}, {2, 2}}, {{0, 2}, {2, 5}}}) << plane
            << grid({{0, 1, 1, 2}, {0, 1, 1, 5}}) << small << 0 << 1;
        QTest::newRow("grown") << grid({{1, 3, 0, 2, true}, {0, 1, 1, 5}}) << plane
                               << grid({{0, 1, 0, 1, true}, {0, 1, 1, 5}}) << small << 3 << 2;
        QTest::newRow("nothing") << grid({{0, 1, 0, 1, true}, {0, 1, 1, 5}}) << plane
                                 << grid({{4, 1, 0, 1, true}, {0, 1, 1, 5}}) << small << 0 << 0;
        QTest::newRow("scalars") << All << Shape{} << All << Shape{{1, 1}} << 0 << 1;
    }
    void showsWhatTheDefinitionSays()
    {
        QFETCH(Hdf5Selection, own);
        QFETCH(Shape, ownShape);
        QFETCH(Hdf5Selection, source);
        QFETCH(Shape, sourceShape);
        QFETCH(int, elements);
        QFETCH(int, most);
        const BoundSelection left{own, ownShape, std::uint64_t(elements)};
        const BoundSelection right{source, sourceShape, std::uint64_t(elements)};
        const auto pairs = matchSelections(left, right, std::size_t(most));
        QVERIFY2(pairs.ok(), pairs.ok() ? "" : pairs.error().text.c_str());
        QCOMPARE(pairs->size(), std::size_t(most)); // no more boxes than needed
        QVERIFY(placesOf(*pairs, ownShape, sourceShape) == placesOf(left, right));
        if (most > 1)
            QVERIFY(!matchSelections(left, right, std::size_t(most) - 1).ok());
    }

    void irregularSelectionsAtRandom()
    {
        std::mt19937 random(11);
        const Shape shape{{5, 4, 6}}, line{{120}};
        for (int i = 0; i < 200; ++i) {
            const Hdf5Selection own = someBlocks(shape, random);
            const BoundSelection left{own, shape};
            const std::uint64_t count = selectedElements(left).size();
            const Hdf5Selection flat = grid({{0, 1, 1, count}});
            const BoundSelection right{flat, line};
            const auto pairs = matchSelections(left, right, 1000);
            QVERIFY(pairs.ok());
            QVERIFY(placesOf(*pairs, shape, line) == placesOf(left, right));
        }
    }

    void refusesWhatDoesNotFit()
    {
        const Shape four{{4}}, five{{5}};
        const auto code = [](const BoundSelection &own, const BoundSelection &source) {
            const auto pairs = matchSelections(own, source, 100);
            return pairs.ok() ? ErrorCode::Usage : pairs.error().code;
        };
        const Hdf5Selection outside = grid({{2, 1, 1, 3}}), two = grid({{0, 1, 1, 2}});
        const Hdf5Selection wrongRank = grid({{0, 1, 1, 1}, {0, 1, 1, 1}});
        const Hdf5Selection far = blocks({{{3}, {6}}}), none;
        const Hdf5Selection points{Hdf5Selection::Kind::Points, {}, {{1}}, {}};
        QVERIFY(code({All, four}, {All, five}) == ErrorCode::Malformed);
        QVERIFY(code({outside, four}, {outside, five}) == ErrorCode::Malformed);
        QVERIFY(code({wrongRank, four}, {two, five}) == ErrorCode::Malformed);
        QVERIFY(code({far, four}, {outside, five}) == ErrorCode::Malformed);
        QVERIFY(code({none, four}, {two, five}) == ErrorCode::Malformed);
        const Hdf5Selection pointless = blocks({{{}, {}}});
        QVERIFY(code({pointless, Shape{}}, {All, Shape{}}) == ErrorCode::Malformed);
        QVERIFY(code({points, four}, {two, five}) == ErrorCode::Unsupported);
        QVERIFY(matchSelections({none, four}, {none, five}, 100)->empty());
    }

    /// Nested blocks would be compared with each other in every dimension.
    void hostileBlocksEndSoon()
    {
        std::vector<Block> nested;
        constexpr Index Count = 1000;
        for (Index i = 0; i < Count; ++i)
            nested.push_back({{i, i, i}, {3 * Count - i, 3 * Count - i, 3 * Count - i}});
        const Hdf5Selection own = blocks(nested);
        const Shape cube{{3 * Count, 3 * Count, 3 * Count}};
        const auto pairs = matchSelections({own, cube}, {own, cube}, 8192);
        QVERIFY(!pairs.ok() || pairs->size() == 1);
    }

    /// The later source lies above the earlier one.
    void laterSourcesCoverEarlierOnes()
    {
        const Shape shape{{4, 4}};
        Extent below, above;
        below.box = {{0, 0}, {4, 4}};
        below.strides = {4, 1};
        above.box = {{1, 1}, {2, 2}};
        above.strides = {2, 1};
        above.file = 1;
        Mosaic mosaic(shape);
        QVERIFY(mosaic.addBelow(above).ok());
        QCOMPARE(mosaic.open().size(), std::size_t(4));
        QVERIFY(mosaic.addBelow(below).ok());
        QVERIFY(mosaic.open().empty());
        std::vector<int> files(16, -1);
        for (const Extent &extent : mosaic.take()) {
            for (const Index i : elementsOf(extent.box, shape)) {
                QCOMPARE(files[i], -1);
                files[i] = int(extent.file);
            }
            QVERIFY(extent.file == 1
                    || extent.firstElement == extent.box.origin[0] * 4 + extent.box.origin[1]);
        }
        QVERIFY((files == std::vector<int>{0, 0, 0, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 0, 0, 0}));
    }

    void numberedNames()
    {
        QCOMPARE(numberedName("part%b.h5", 12).value(), std::string("part12.h5"));
        QCOMPARE(numberedName("100%%_%b%b", 3).value(), std::string("100%_33"));
        QVERIFY(!numberedName("50%", 0) && !numberedName("%d", 0));
        QVERIFY(isNumbered("a%b") && !isNumbered("a%%b") && !isNumbered("a"));
    }
};

QTEST_GUILESS_MAIN(TestHdf5Mapping)
#include "tst_hdf5_mapping.moc"
