// SPDX-License-Identifier: GPL-3.0-or-later
// Planes, maps and filters of elements against a walk over every element with its coordinates.
#include "model/compare/element_map.h"
#include "tests/support/memory_source.h"

#include <QTest>

#include <cmath>
#include <limits>
#include <random>

using namespace forkpoint;
using namespace forkpoint::test;

namespace {

constexpr float Nan = std::numeric_limits<float>::quiet_NaN();

struct Pair
{
    std::vector<float> a, b;
    Shape shape;
    TensorPairRef ref;
};

Pair pairOf(std::vector<Index> dims, std::mt19937 &random)
{
    Pair pair;
    pair.shape.dims = std::move(dims);
    const Index count = pair.shape.count().value();
    for (Index i = 0; i < count; ++i) {
        const float value = float(int(random() % 2000)) - 1000.0F;
        const bool differs = random() % 3 == 0;
        pair.a.push_back(value);
        pair.b.push_back(differs ? value + float(int(random() % 9)) - 4.0F : value);
    }
    const auto left = std::make_shared<MemorySource>(), right = std::make_shared<MemorySource>();
    left->add(MemorySource::pathOf("w"), "float32", pair.shape.dims, pair.a);
    right->add(MemorySource::pathOf("w"), "float32", pair.shape.dims, pair.b);
    left->finish();
    right->finish();
    pair.ref = {left, right, 0, 0};
    return pair;
}

ElementMap mapOf(const TensorPairRef &pair, const MapQuery &query)
{
    MapBuilder builder(pair, query);
    for (bool more = true; more;) {
        const auto advanced = builder.advance({});
        if (!advanced.ok())
            qFatal("%s", advanced.error().message().c_str());
        more = advanced.value();
    }
    return builder.map();
}

/// Every element of the tensor that lies in a window of a plane, found by its coordinates alone.
template <class Visit>
void forEachIn(const Shape &shape, std::size_t rowAxis, std::size_t columnAxis,
               const std::vector<Index> &at, Visit visit)
{
    for (Index index = 0; index < *shape.count(); ++index) {
        const std::vector<Index> coordinates = coordinatesOf(index, shape);
        bool inside = true;
        for (std::size_t axis = 0; axis < shape.rank(); ++axis)
            inside =
                inside && (axis == rowAxis || axis == columnAxis || coordinates[axis] == at[axis]);
        if (inside)
            visit(index, coordinates[rowAxis], coordinates[columnAxis]);
    }
}

} // namespace

class TestElementMap : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void slicesAgreeWithCoordinates();
    void wholePlanesHoldEveryElementOnce();
    void refusesImpossibleSlices();
    void cellsShowTheLargestOfTheirElements();
    void countsWhatIsNotFinite();
    void windowsCoverThePlaneWithoutOverlap();
    void filtersAgreeWithAWalk();
};

void TestElementMap::slicesAgreeWithCoordinates()
{
    const Shape shapes[] = {{{4, 5}}, {{3, 1, 4}}, {{2, 3, 4, 5}}, {{1, 6}}, {{5, 1}}};
    std::mt19937 random(1);
    for (const Shape &shape : shapes) {
        for (std::size_t row = 0; row < shape.rank(); ++row) {
            for (std::size_t column = 0; column < shape.rank(); ++column) {
                if (row == column)
                    continue;
                std::vector<Index> at;
                for (const Index dim : shape.dims)
                    at.push_back(random() % dim);
                const auto plane = ElementPlane::slice(shape, row, column, at);
                QVERIFY(plane);
                Index inside = 0;
                forEachIn(shape, row, column, at, [&](Index index, Index r, Index c) {
                    ++inside;
                    QCOMPARE(plane->indexAt(r, c), std::optional<Index>(index));
                    const auto place = plane->placeOf(index);
                    QVERIFY(place);
                    QCOMPARE(place->first, r);
                    QCOMPARE(place->second, c);
                });
                Index found = 0;
                for (Index index = 0; index < *shape.count(); ++index)
                    found += plane->placeOf(index) ? 1 : 0;
                QCOMPARE(found, inside); // and none of another slice
            }
        }
    }
}

void TestElementMap::wholePlanesHoldEveryElementOnce()
{
    for (const Shape &shape :
         {Shape{{}}, Shape{{1}}, Shape{{7}}, Shape{{1000}}, Shape{{3, 5}}, Shape{{2, 3, 4}}}) {
        const ElementPlane plane = ElementPlane::whole(shape);
        QCOMPARE(plane.elements, *shape.count());
        Index count = 0;
        for (Index row = 0; row < plane.rows; ++row) {
            for (Index column = 0; column < plane.columns; ++column) {
                const auto index = plane.indexAt(row, column);
                if (!index)
                    continue;
                QCOMPARE(*index, count++); // row by row
                QCOMPARE(plane.placeOf(*index), std::optional(std::pair(row, column)));
            }
        }
        QCOMPARE(count, plane.elements);
    }
    QCOMPARE(ElementPlane::whole({{3, 0}}).rows, Index(0));
}

void TestElementMap::refusesImpossibleSlices()
{
    const Shape shape{{2, 3, 4}};
    QVERIFY(!ElementPlane::slice(shape, 0, 0, {0, 0, 0}));
    QVERIFY(!ElementPlane::slice(shape, 0, 3, {0, 0, 0}));
    QVERIFY(!ElementPlane::slice(shape, 0, 1, {0, 0, 4})); // held outside
    QVERIFY(!ElementPlane::slice(shape, 0, 1, {0, 0}));
}

void TestElementMap::cellsShowTheLargestOfTheirElements()
{
    std::mt19937 random(7);
    const Pair pair = pairOf({3, 17, 23}, random);
    struct Axes
    {
        std::size_t row, column;
    };
    for (const Axes axes : {Axes{1, 2}, Axes{2, 1}, Axes{0, 2}, Axes{1, 0}}) {
        const std::vector<Index> at{1, 5, 9};
        MapQuery query;
        query.plane = *ElementPlane::slice(pair.shape, axes.row, axes.column, at);
        query.window = {0, 1, query.plane.rows, query.plane.columns - 1};
        query.rows = 5;
        query.columns = 4;
        for (const MapQuantity quantity :
             {MapQuantity::A, MapQuantity::B, MapQuantity::Difference}) {
            query.quantity = quantity;
            const ElementMap map = mapOf(pair.ref, query);
            QVERIFY(map.complete);
            std::vector<MapCell> expected(map.rows * map.columns);
            forEachIn(pair.shape, axes.row, axes.column, at, [&](Index index, Index r, Index c) {
                if (!query.window.contains(r, c))
                    return;
                std::size_t cell = 0;
                while (!map.windowOf(cell / map.columns, cell % map.columns).contains(r, c))
                    ++cell;
                const float a = pair.a[index], b = pair.b[index];
                const double value = quantity == MapQuantity::A ? double(a)
                    : quantity == MapQuantity::B                ? double(b)
                                                                : double(b) - double(a);
                MapCell &want = expected[cell];
                ++want.elements;
                const bool shown = quantity != MapQuantity::Difference || a != b;
                if (shown
                    && (want.index == NoIndex || std::fabs(value) > std::fabs(want.value)
                        || (std::fabs(value) == std::fabs(want.value) && index < want.index))) {
                    want.value = value;
                    want.index = index;
                }
            });
            for (std::size_t cell = 0; cell < expected.size(); ++cell) {
                const MapCell &got = map.cells[cell];
                QCOMPARE(got.elements, expected[cell].elements);
                QCOMPARE(got.index, expected[cell].index);
                if (got.index != NoIndex)
                    QCOMPARE(got.value, expected[cell].value);
            }
        }
    }
}

void TestElementMap::countsWhatIsNotFinite()
{
    const auto left = std::make_shared<MemorySource>(), right = std::make_shared<MemorySource>();
    left->addFloats("w", {1, Nan, 3, 4});
    right->addFloats("w", {1, 2, Nan, 8});
    left->finish();
    right->finish();
    MapQuery query;
    query.plane = ElementPlane::whole({{4}});
    query.window = PlaneWindow::of(query.plane);
    query.rows = query.columns = 1;
    const ElementMap map = mapOf({left, right, 0, 0}, query);
    QCOMPARE(map.cells.size(), std::size_t(1));
    QCOMPARE(map.cells[0].elements, Index(4));
    QCOMPARE(map.cells[0].differing, Index(3));
    QCOMPARE(map.cells[0].notFinite, Index(2));
    QCOMPARE(map.cells[0].index, Index(3));
    QCOMPARE(map.cells[0].value, 4.0);
}

void TestElementMap::windowsCoverThePlaneWithoutOverlap()
{
    for (const Index extent : {Index(1), Index(7), Index(64), Index(1'000'003)}) {
        ElementMap map;
        map.query.window = {5, 9, extent, 3};
        map.rows = std::size_t(std::min<Index>(extent, 10));
        map.columns = 3;
        Index next = 5;
        for (std::size_t row = 0; row < map.rows; ++row) {
            const PlaneWindow window = map.windowOf(row, 1);
            QCOMPARE(window.row, next);
            QVERIFY(window.rows > 0);
            QCOMPARE(window.column, Index(10));
            QCOMPARE(window.columns, Index(1));
            next += window.rows;
        }
        QCOMPARE(next, 5 + extent);
    }
}

void TestElementMap::filtersAgreeWithAWalk()
{
    std::mt19937 random(3);
    const Pair pair = pairOf({9, 31}, random);
    ElementQuery query;
    query.count = 1000;
    query.filter.part = PlanePart{ElementPlane::whole(pair.shape), PlaneWindow{2, 3, 4, 20}};
    MagnitudeRange range;
    range.kind = MagnitudeKind::AbsDifference;
    range.zero = true;
    range.powers = {1, 1}; // 2 <= |b - a| < 4
    query.filter.range = range;
    const auto accepted = [&](Index index, bool differingOnly) {
        const Index row = index / 31, column = index % 31;
        const float difference = std::fabs(pair.b[index] - pair.a[index]);
        const bool inside = row >= 2 && row < 6 && column >= 3 && column < 23;
        return inside && (difference == 0 || (difference >= 2 && difference < 4))
            && (!differingOnly || pair.a[index] != pair.b[index]);
    };
    for (const ElementOrder order : {ElementOrder::ByIndex, ElementOrder::Differing}) {
        query.order = order;
        std::vector<Index> expected;
        for (Index index = 0; index < pair.a.size(); ++index)
            if (accepted(index, order == ElementOrder::Differing))
                expected.push_back(index);
        QVERIFY(expected.size() > 5);
        for (const Index offset : {Index(0), Index(3)}) {
            query.offset = offset;
            const auto page = readElements(pair.ref, query, {}, {});
            QVERIFY(page.ok());
            QCOMPARE(page.value().differentElements, Index(expected.size()));
            QVERIFY(page.value().complete);
            QCOMPARE(page.value().rows.size(), expected.size() - offset);
            for (std::size_t i = 0; i < page.value().rows.size(); ++i)
                QCOMPARE(page.value().rows[i].index, expected[i + offset]);
        }
    }
    query.order = ElementOrder::Largest;
    query.offset = 0;
    const auto page = readElements(pair.ref, query, {}, {});
    QVERIFY(page.ok());
    for (std::size_t i = 0; i < page.value().rows.size(); ++i) {
        const ElementRow &row = page.value().rows[i];
        QVERIFY(accepted(row.index, true));
        if (i > 0)
            QVERIFY(std::fabs(std::get<double>(page.value().rows[i - 1].difference.real))
                    >= std::fabs(std::get<double>(row.difference.real)));
    }
}

QTEST_APPLESS_MAIN(TestElementMap)
#include "tst_element_map.moc"
