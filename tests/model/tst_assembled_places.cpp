// SPDX-License-Identifier: GPL-3.0-or-later
// Where the elements of assembled tensors are stored: looked up in files that the test lays out itself.
#include "model/pairing/assembled_places.h"

#include "model/compare/pair_layout.h"
#include "model/layout.h"
#include "tests/support/memory_source.h"

#include <QTest>

#include <numeric>

using namespace forkpoint;
using namespace forkpoint::test;

namespace {

using Elements = std::vector<float>;
using How = AssemblyPlan::How;

constexpr std::uint64_t Head = 64; ///< bytes of a file before its one tensor

enum class Stored { Rows, Columns, Flat };

/// Parts, each in a file of its own and of a rank of its own.
struct Parts
{
    std::shared_ptr<MemorySource> source = std::make_shared<MemorySource>();
    std::vector<Elements> files; ///< as stored, behind Head

    /// [rows, columns] with elements counted on from `first`.
    void add(Index rows, Index columns, Stored stored, float first)
    {
        Elements elements(rows * columns);
        std::iota(elements.begin(), elements.end(), first);
        const auto rank = OwnerIndex(files.size());
        TensorRef &tensor = source->add({{Key::of("part" + std::to_string(rank))}}, "float32",
                                        {rows, columns}, elements);
        tensor.owner = rank;
        tensor.files = {"file" + std::to_string(rank)};
        Extent extent;
        extent.file = rank;
        extent.offset = Head;
        extent.length = elements.size() * 4;
        extent.box = {{0, 0}, {rows, columns}};
        extent.strides = {std::int64_t(columns), 1};
        if (stored == Stored::Columns) {
            extent.strides = {1, std::int64_t(rows)};
            Elements turned;
            for (Index column = 0; column < columns; ++column)
                for (Index row = 0; row < rows; ++row)
                    turned.push_back(elements[row * columns + column]);
            elements = turned;
        }
        if (stored == Stored::Flat) {
            extent = Extent();
            extent.fills = Extent::Fills::FlatRange;
            extent.file = rank;
            extent.offset = Head;
            extent.length = elements.size() * 4;
            extent.flatCount = elements.size();
        }
        tensor.extents = {extent};
        Catalog &catalog = source->editCatalog();
        catalog.owners.push_back({{{"tp", std::int64_t(rank)}}});
        catalog.files.push_back(tensor.files.front());
        files.push_back(std::move(elements));
    }
};

std::shared_ptr<const AssembledSource> whole(const Parts &parts, std::vector<Index> shape,
                                             AssemblyPlan plan)
{
    AssembledSource::Item item;
    item.tensor.path = MemorySource::pathOf("whole");
    item.tensor.dtype = *dtypeByName("float32");
    item.tensor.shape.dims = std::move(shape);
    item.plan = std::move(plan);
    return std::make_shared<AssembledSource>(
        parts.source, AssembledSource::frameOf(parts.source->catalog()), std::vector{item});
}

/// Every element is stored where its place says.
void compareWithFiles(const AssembledSource &source, const Parts &parts)
{
    const TensorRef &tensor = source.catalog().tensors.front();
    Elements elements(tensor.elements);
    QVERIFY(source.read(0, 0, std::as_writable_bytes(std::span(elements))).ok());
    for (Index i = 0; i < tensor.elements; ++i) {
        const auto place = placeOfElement(source.catalog(), tensor, i);
        QVERIFY2(place, std::to_string(i).c_str());
        const std::size_t rank = std::size_t(place->owner.axes.front().second);
        QCOMPARE(place->file, "file" + std::to_string(rank));
        QVERIFY(place->offset >= Head);
        QCOMPARE(parts.files[rank].at((place->offset - Head) / 4), elements[i]);
    }
}

} // namespace

class AssembledPlacesTest : public QObject
{
    Q_OBJECT

private slots:
    void placesOfElements_data();
    void placesOfElements();
    void gatesBeforeUps();
    void aLayerOfAStack();
    void copiesAreReplicas();
    void piecesOfACopyAreOneReplica();
    void copiesCountAsExtents();
    void partsWithoutPlaces();
    void rulesAreKnownThroughLayers();
};

void AssembledPlacesTest::placesOfElements_data()
{
    QTest::addColumn<int>("how");
    QTest::addColumn<int>("stored");
    for (const How how : {How::InTurn, How::Rows}) {
        const char *name = how == How::Rows ? "side by side" : "in turn";
        QTest::addRow("%s, rows", name) << int(how) << int(Stored::Rows);
        QTest::addRow("%s, columns", name) << int(how) << int(Stored::Columns);
        QTest::addRow("%s, flat", name) << int(how) << int(Stored::Flat);
    }
}

/// Uneven parts: 3 and 2 rows, or columns.
void AssembledPlacesTest::placesOfElements()
{
    QFETCH(int, how);
    QFETCH(int, stored);
    const bool byRows = How(how) == How::Rows;
    Parts parts;
    parts.add(byRows ? 4 : 3, byRows ? 3 : 4, Stored(stored), 100);
    parts.add(byRows ? 4 : 2, byRows ? 2 : 4, Stored(stored), 200);
    parts.source->finish();
    AssemblyPlan plan{How(how), {{{0}, 0, 48}, {{1}, 0, 32}}, byRows ? Index(4) : 1, "a rule"};
    const auto source =
        whole(parts, byRows ? std::vector<Index>{4, 5} : std::vector<Index>{5, 4}, plan);
    compareWithFiles(*source, parts);
    QCOMPARE(source->catalog().tensors[0].files, (std::vector<std::string>{"file0", "file1"}));
}

/// The first halves of two parts of 4 rows, then the second.
void AssembledPlacesTest::gatesBeforeUps()
{
    Parts parts;
    parts.add(4, 3, Stored::Rows, 100);
    parts.add(4, 3, Stored::Columns, 200);
    parts.source->finish();
    const AssemblyPlan plan{
        How::InTurn, {{{0}, 0, 24}, {{1}, 0, 24}, {{0}, 24, 24}, {{1}, 24, 24}}, 1, "gated"};
    const auto source = whole(parts, {8, 3}, plan);
    compareWithFiles(*source, parts);
    const auto places = source->catalog().tensors[0].extents;
    QCOMPARE(places.size(), std::size_t(4));
    QCOMPARE(places[2].box, (Box{{4, 0}, {2, 3}}));
    QCOMPARE(places[2].owner, OwnerIndex(0));
}

void AssembledPlacesTest::aLayerOfAStack()
{
    for (const Stored stored : {Stored::Rows, Stored::Columns, Stored::Flat}) {
        Parts parts;
        parts.add(3, 5, stored, 100);
        parts.source->finish();
        compareWithFiles(*whole(parts, {5}, {How::InTurn, {{{0}, 20, 20}}, 1, "layer 1"}), parts);
    }
}

void AssembledPlacesTest::copiesAreReplicas()
{
    Parts parts;
    parts.add(2, 2, Stored::Rows, 100);
    parts.add(2, 2, Stored::Rows, 100);
    parts.source->finish();
    const auto source = whole(parts, {2, 2}, {How::InTurn, {{{0, 1}, 0, 16}}, 1, "alike"});
    compareWithFiles(*source, parts);
    const TensorRef &tensor = source->catalog().tensors[0];
    QCOMPARE(tensor.extents.size(), std::size_t(1));
    QCOMPARE(tensor.replicas.size(), std::size_t(1));
    QCOMPARE(tensor.replicas[0].owner, OwnerIndex(1));
    QCOMPARE(tensor.replicas[0].extents[0].file, FileIndex(1));
    const PairLayout layout = pairLayout({source, source, 0, 0}, {});
    QCOMPARE(layout.a.parts.size(), std::size_t(1));
    QCOMPARE(layout.a.parts[0].owner, std::string("tp 0 and 1 copy"));
    QCOMPARE(layout.a.parts[0].different.value_or(1), Index(0));
}

/// Halves of what two ranks hold alike, exchanged: the copy is one replica of two pieces.
void AssembledPlacesTest::piecesOfACopyAreOneReplica()
{
    Parts parts;
    parts.add(4, 3, Stored::Rows, 100);
    parts.add(4, 3, Stored::Rows, 100);
    parts.source->finish();
    const AssemblyPlan plan{How::InTurn, {{{0, 1}, 24, 24}, {{0, 1}, 0, 24}}, 1, "exchanged"};
    const auto source = whole(parts, {4, 3}, plan);
    compareWithFiles(*source, parts);
    const TensorRef &tensor = source->catalog().tensors[0];
    QCOMPARE(tensor.replicas.size(), std::size_t(1));
    QCOMPARE(tensor.replicas[0].owner, OwnerIndex(1));
    QCOMPARE(tensor.replicas[0].extents.size(), std::size_t(2));
    QCOMPARE(tensor.replicas[0].extents[0].box, (Box{{0, 0}, {2, 3}}));
    QCOMPARE(tensor.files, (std::vector<std::string>{"file0", "file1"}));
}

/// 40,000 extents are worth telling, the 80,000 of two copies are not.
void AssembledPlacesTest::copiesCountAsExtents()
{
    constexpr Index Rows = 40000;
    for (const bool copied : {false, true}) {
        Parts parts;
        for (int rank = 0; rank < 2; ++rank) {
            parts.add(Rows, 1, Stored::Rows, 0);
            std::vector<Extent> &extents =
                parts.source->editCatalog().tensors[std::size_t(rank)].extents;
            extents.assign(Rows, extents.front());
            for (Index row = 0; row < Rows; ++row) {
                extents[row].box = {{row, 0}, {1, 1}};
                extents[row].firstElement = row;
            }
        }
        parts.source->finish();
        const std::vector<TensorIndex> copies =
            copied ? std::vector<TensorIndex>{0, 1} : std::vector<TensorIndex>{0};
        const auto source = whole(parts, {Rows, 1}, {How::InTurn, {{copies, 0, Rows * 4}}, 1, ""});
        const TensorRef &tensor = source->catalog().tensors[0];
        QCOMPARE(tensor.extents.size(), std::size_t(copied ? 0 : Rows));
        QVERIFY(tensor.replicas.empty());
        QVERIFY(!tensor.unreadable);
    }
}

/// A flat range that ends within a row has no box beside others.
void AssembledPlacesTest::partsWithoutPlaces()
{
    Parts parts;
    parts.add(2, 2, Stored::Flat, 100);
    parts.add(2, 2, Stored::Rows, 200);
    parts.source->editCatalog().tensors[0].extents[0].flatCount = 3;
    parts.source->finish();
    const AssemblyPlan plan{How::Rows, {{{0}, 0, 16}, {{1}, 0, 16}}, 2, "a rule"};
    const auto source = whole(parts, {2, 4}, plan);
    QVERIFY(source->catalog().tensors[0].extents.empty());
    QVERIFY(!source->catalog().tensors[0].unreadable);
}

void AssembledPlacesTest::rulesAreKnownThroughLayers()
{
    Parts parts;
    parts.add(1, 2, Stored::Rows, 100);
    parts.source->finish();
    const auto below = whole(parts, {1, 2}, {How::InTurn, {{{0}, 0, 8}}, 1, "held by one"});
    const AssembledSource::Item same{below->catalog().tensors[0], 0, std::nullopt};
    const AssembledSource above(below, AssembledSource::frameOf(below->catalog()), {same});
    QVERIFY(above.assembledBy(0));
    QCOMPARE(*above.assembledBy(0), std::string("held by one"));
    QCOMPARE(above.catalog().tensors[0].name, std::string("whole"));
    QCOMPARE(above.catalog().tensors[0].extents, below->catalog().tensors[0].extents);
    const AssembledSource files(parts.source, AssembledSource::frameOf(parts.source->catalog()),
                                {{parts.source->catalog().tensors[0], 0, std::nullopt}});
    QVERIFY(!files.assembledBy(0));
}

QTEST_APPLESS_MAIN(AssembledPlacesTest)
#include "tst_assembled_places.moc"
