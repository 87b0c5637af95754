// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/layout.h"

#include <QtTest>

using namespace forkpoint;

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
};

QTEST_APPLESS_MAIN(LayoutTest)
#include "tst_layout.moc"
