// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/layout.h"

#include "gpu/cpu_backend.h"
#include "model/compare/checkpoint_comparer.h"
#include "model/compare/owner_differences.h"
#include "model/compare/pair_layout.h"
#include "model/compare/unlike_replicas.h"
#include "model/extent_index.h"
#include "tests/support/memory_source.h"

#include <QElapsedTimer>
#include <QtTest>

#include <numeric>
#include <random>

using namespace forkpoint;
using namespace forkpoint::test;

namespace {

/// A [4, 3] of float32: rows 0 and 1 of rank 0 stored transposed, row 2 of rank 1, row 3 nowhere.
Catalog sharded()
{
    Catalog catalog;
    catalog.files = {"a", "b"};
    catalog.owners = {{{{"rank", 0}}}, {{{"tp", 1}, {"pp", 0}}}};
    TensorRef tensor;
    tensor.dtype = *dtypeByName("float32");
    tensor.shape = Shape{{4, 3}};
    Extent top;
    top.offset = 100;
    top.owner = 0;
    top.box = {{0, 0}, {2, 3}};
    top.strides = {1, 2};
    Extent flat;
    flat.fills = Extent::Fills::FlatRange;
    flat.file = 1;
    flat.offset = 8;
    flat.owner = 1;
    flat.flatBegin = 6;
    flat.flatCount = 3;
    tensor.extents = {top, flat};
    catalog.tensors = {tensor};
    return catalog;
}

/// [rows, columns] floats in a grid of boxes, one rank a box.
SourcePtr grid(const std::vector<float> &elements, Index rows, Index columns, Index boxRows,
               Index boxColumns)
{
    auto source = std::make_shared<MemorySource>();
    TensorRef &tensor =
        source->add(MemorySource::pathOf("model.w.weight"), "float32", {rows, columns}, elements);
    Catalog &catalog = source->editCatalog();
    catalog.files = {"shard"};
    for (Index row = 0; row < rows; row += boxRows) {
        for (Index column = 0; column < columns; column += boxColumns) {
            Extent extent;
            extent.owner = OwnerIndex(catalog.owners.size());
            extent.box = {{row, column},
                          {std::min(boxRows, rows - row), std::min(boxColumns, columns - column)}};
            extent.strides = {std::int64_t(columns), 1};
            catalog.owners.push_back({{{"rank", std::int64_t(extent.owner)}}});
            tensor.extents.push_back(extent);
        }
    }
    source->finish();
    return source;
}

std::vector<Finding> ownersOf(const SourcePtr &a, const SourcePtr &b)
{
    const CpuBackend backend;
    SerialExecutor serial;
    CheckpointComparer comparer(a, b, {}, backend, serial);
    while (comparer.advance({})) {}
    std::vector<Finding> found;
    for (const Finding &finding : comparer.snapshot().findings) {
        if (finding.id == "one-rank-differs")
            found.push_back(finding);
    }
    return found;
}

} // namespace

class LayoutTest : public QObject
{
    Q_OBJECT

private slots:
    void findsTheOwnerOfAnElement()
    {
        const Catalog catalog = sharded();
        const auto first = placeOfElement(catalog, catalog.tensors[0], 5); // [1, 2]
        QVERIFY(first);
        QCOMPARE(first->offset, quint64(100 + 4 * (1 * 1 + 2 * 2)));
        QCOMPARE(first->toString(), std::string("rank 0's part, a, byte 120"));
        const auto second = placeOfElement(catalog, catalog.tensors[0], 7);
        QVERIFY(second);
        QCOMPARE(second->toString(), std::string("tp 1, pp 0's part, b, byte 12"));
        QVERIFY(!placeOfElement(catalog, catalog.tensors[0], 9));
        QVERIFY(!placeOfElement(catalog, catalog.tensors[0], 12));
    }

    void namesBothSides()
    {
        const ElementPlace place{{{{"rank", 3}}}, "f", 8};
        QCOMPARE((ElementPlaces{place, place}.toString()),
                 std::string("rank 3's part, f, byte 8 in A and B"));
        QCOMPARE((ElementPlaces{place, std::nullopt}.toString()),
                 std::string("rank 3's part, f, byte 8 in A"));
        QVERIFY((!ElementPlaces{ElementPlace{{}, "f", 8}, std::nullopt}.owned()));
    }

    /// One copy is counted; that it is equal is not said of the others, but a difference is.
    void copiesThatDifferAreNotCalledEqual()
    {
        for (const float right : {1.0F, 2.0F}) {
            const auto a = std::make_shared<MemorySource>(), b = std::make_shared<MemorySource>();
            a->addFloats("w", {1, 1});
            b->addFloats("w", {1, right});
            for (const auto &source : {a, b}) {
                TensorRef &tensor = source->editCatalog().tensors.front();
                Extent whole;
                whole.box = {{0}, {2}};
                whole.strides = {1};
                whole.length = 8;
                tensor.extents = {whole};
            }
            b->editCatalog().tensors.front().replicas.push_back({NoOwner, {}});
            b->editCatalog().findings.push_back(
                {"replicas-differ", Certainty::Is, Severity::Warning, "rank 2 | rank 0", {"w"}});
            a->finish();
            b->finish();
            const PairLayout layout = pairLayout({a, b, 0, 0}, {});
            QCOMPARE(layout.notCounted, std::string(right == 1 ? "rank 2 | rank 0" : ""));
        }
    }

    /// Two parts, each held twice; of the second the copies differ.
    void onlyThePartWhoseCopiesDifferIsInDoubt()
    {
        const SourcePtr a = grid({1, 1, 1, 1}, 2, 2, 1, 2);
        const auto b = std::const_pointer_cast<MemorySource>(
            std::static_pointer_cast<const MemorySource>(grid({1, 1, 1, 1}, 2, 2, 1, 2)));
        Catalog &catalog = b->editCatalog();
        for (const std::int64_t rank : {2, 3})
            catalog.owners.push_back({{{"rank", rank}}});
        TensorRef &tensor = catalog.tensors.front();
        for (const OwnerIndex owner : {2u, 3u}) // of what 0 and 1 hold
            tensor.replicas.push_back({owner, {tensor.extents[owner - 2]}});
        catalog.findings.push_back({"replicas-differ",
                                    Certainty::Is,
                                    Severity::Warning,
                                    tensor.name + ": unlike: rank 1 | rank 3",
                                    {tensor.name}});
        PairLayout layout = pairLayout({a, b, 0, 0}, {});
        QCOMPARE(layout.notCounted, catalog.findings.front().text);
        QCOMPARE(layout.b.parts[0].different, std::optional<Index>(0));
        QVERIFY(!layout.b.parts[1].different);
        QCOMPARE(layout.a.parts[1].different, std::optional<Index>(0)); // whose copies are equal

        // A copy of both at once does not tell which of them it is unlike.
        tensor.replicas.front().extents.push_back(tensor.extents[1]);
        layout = pairLayout({a, b, 0, 0}, {});
        QVERIFY(!layout.b.parts[0].different && !layout.b.parts[1].different);
    }

    void findsHoldersByWholeNames()
    {
        QVERIFY(namesHolder("w: unlike: rank 10; rank 2 | tp 0, pp 1", "rank 2"));
        QVERIFY(namesHolder("w: unlike: rank 10; rank 2 | tp 0, pp 1", "tp 0, pp 1"));
        QVERIFY(!namesHolder("w: unlike: rank 10; rank 2", "rank 1"));
        QVERIFY(!namesHolder("w: unlike: rank 10; rank 2", ""));
        QVERIFY(!namesHolder("", "rank 1"));
    }

    /// Over random grids: the counts are those of a look at every element.
    void countsDifferencesByBox()
    {
        std::mt19937 random(3);
        for (int round = 0; round < 60; ++round) {
            const Index rows = 1 + random() % 9, columns = 1 + random() % 9;
            const Index boxRows = 1 + random() % rows, boxColumns = 1 + random() % columns;
            std::vector<float> left(std::size_t(rows * columns), 1), right = left;
            const Index acrossA = (columns + boxColumns - 1) / boxColumns;
            std::vector<Index> expected;
            Index different = 0;
            expected.assign(std::size_t(((rows + boxRows - 1) / boxRows) * acrossA), 0);
            for (Index i = 0; i < rows * columns; ++i) {
                if (random() % 3 != 0)
                    continue;
                right[std::size_t(i)] = 2;
                ++different;
                ++expected[std::size_t((i / columns / boxRows) * acrossA
                                       + i % columns / boxColumns)];
            }
            const SourcePtr a = grid(left, rows, columns, boxRows, boxColumns);
            const SourcePtr b = grid(right, rows, columns, rows, 1);
            const auto counted = differencesByExtent({a, b, 0, 0}, {});
            QVERIFY(counted.ok());
            QCOMPARE(counted->different, different);
            QVERIFY(counted->a == expected);
            QCOMPARE(std::accumulate(counted->b.begin(), counted->b.end(), Index(0)), different);
        }
    }

    /// Boxes and ranges that overlap and leave gaps: found is what a look at each extent finds first.
    void findsExtentsByTheirCuts()
    {
        std::mt19937 random(8);
        for (int round = 0; round < 200; ++round) {
            const Shape shape{{1 + random() % 6, 1 + random() % 6, 1 + random() % 4}};
            const Index elements = *shape.count();
            std::vector<Extent> extents(random() % 7);
            for (Extent &extent : extents) {
                if (random() % 3 == 0) {
                    extent.fills = Extent::Fills::FlatRange;
                    extent.flatBegin = random() % elements;
                    extent.flatCount = random() % (elements - extent.flatBegin + 1);
                    continue;
                }
                for (const Index dim : shape.dims) {
                    extent.box.origin.push_back(random() % dim);
                    extent.box.size.push_back(random() % (dim - extent.box.origin.back() + 1));
                }
            }
            const ExtentIndex index(extents, shape);
            QVERIFY(index.isUsable());
            for (Index element = 0; element < elements; ++element) {
                const std::vector<Index> at = coordinatesOf(element, shape);
                std::optional<std::size_t> expected;
                for (std::size_t e = 0; e < extents.size() && !expected; ++e) {
                    const Extent &extent = extents[e];
                    bool inside = true;
                    if (extent.fills == Extent::Fills::FlatRange)
                        inside = element >= extent.flatBegin
                            && element < extent.flatBegin + extent.flatCount;
                    for (std::size_t i = 0; i < extent.box.origin.size(); ++i)
                        inside = inside && at[i] >= extent.box.origin[i]
                            && at[i] < extent.box.origin[i] + extent.box.size[i];
                    if (inside)
                        expected = e;
                }
                QVERIFY(index.find(element, at) == expected);
            }
        }
    }

    void manyPartsAreToldApartInTime()
    {
        constexpr Index Side = 1024, Cut = 4; // 65,536 boxes
        std::vector<float> left(std::size_t(Side * Side), 1), right(left.size(), 2);
        QElapsedTimer timer;
        timer.start();
        const auto counted = differencesByExtent(
            {grid(left, Side, Side, Cut, Cut), grid(right, Side, Side, Cut, Cut), 0, 0}, {});
        QVERIFY(counted.ok());
        QVERIFY(std::all_of(counted->a.begin(), counted->a.end(),
                            [](Index count) { return count == Cut * Cut; }));
        QVERIFY2(timer.elapsed() < 20'000, "does not look at every part for every element");
    }

    void saysThatOneRankAloneDiffers()
    {
        std::vector<float> left(24, 1), right = left;
        right[2] = right[14] = 5; // column 2 of six, in rows 0 and 2
        const auto found = ownersOf(grid(left, 4, 6, 4, 3), grid(right, 4, 6, 1, 6));
        QCOMPARE(found.size(), std::size_t(1)); // B's rows lie in two ranks' parts
        QVERIFY(found[0].text.starts_with("only rank 0 differs: as A is cut"));
        right[5] = 5;
        QVERIFY(ownersOf(grid(left, 4, 6, 4, 3), grid(right, 4, 6, 1, 6)).empty());
        // Where both are cut alike, that is one finding.
        right[5] = 1;
        const auto both = ownersOf(grid(left, 4, 6, 4, 3), grid(right, 4, 6, 4, 3));
        QCOMPARE(both.size(), std::size_t(1));
        QVERIFY(both[0].text.starts_with("only rank 0 differs: as A and B are cut"));
        right[5] = 5;
        // One rank that holds everything tells nothing.
        QVERIFY(ownersOf(grid(left, 4, 6, 4, 6), grid(right, 4, 6, 4, 6)).empty());
    }

    /// DCP stores once what all ranks hold alike: who else holds it is not known.
    void ofWhatIsStoredOnceNoRankIsBlamed()
    {
        const auto with = [](float stored) {
            SourcePtr source = grid(std::vector<float>(24, 1), 4, 6, 4, 3);
            TensorRef &tensor = source->add(MemorySource::pathOf("model.b.bias"), "float32", {1},
                                            std::vector<float>{stored});
            Extent extent;
            extent.owner = 1;
            extent.length = 4;
            extent.box = {{0}, {1}};
            extent.strides = {1};
            tensor.extents = {extent};
            source->finish();
            return source;
        };
        QVERIFY(ownersOf(with(1), with(2)).empty());
    }
};

QTEST_APPLESS_MAIN(LayoutTest)
#include "tst_layout.moc"
