// SPDX-License-Identifier: GPL-3.0-or-later
#include "support/fake_view_context.h"
#include "widgets/display_text.h"
#include "widgets/models/natural_order.h"
#include "widgets/models/remark_list_model.h"
#include "widgets/models/tensor_table_model.h"
#include "widgets/models/tensor_tree_model.h"
#include "widgets/models/value_table_model.h"
#include "widgets/views/cell_delegate.h"
#include "widgets/views/tensor_facts.h"
#include "widgets/views/view_setup.h"
#include "widgets/widget_test_main.h"

#include <QAbstractItemModelTester>
#include <QElapsedTimer>
#include <QSignalSpy>
#include <QTreeView>

#include <ctime>

using namespace forkpoint;

namespace {

QString cell(const QAbstractItemModel &model, int row, int column)
{
    return model.index(row, column).data().toString();
}

QStringList names(const TensorTableModel &model)
{
    QStringList result;
    for (int row = 0; row < model.rowCount(); ++row)
        result += cell(model, row, int(TensorColumn::Name));
    return result;
}

/// The tree as text, one line a node, two spaces a level.
void print(const QAbstractItemModel &model, const QModelIndex &parent, const QString &indent,
           QStringList &lines)
{
    for (int row = 0; row < model.rowCount(parent); ++row) {
        const QModelIndex index = model.index(row, int(TensorColumn::Name), parent);
        lines += indent + index.data().toString() + u' '
            + index.siblingAtColumn(int(TensorColumn::Differs)).data().toString();
        print(model, index.siblingAtColumn(0), indent + QStringLiteral("  "), lines);
    }
}

std::shared_ptr<CheckpointComparison> threeLayers()
{
    return makeComparison({differingRow("layers.2.w", {{4, 4}}, 4, 0.5, 7),
                           differingRow("layers.10.w", {{4, 4}}, 8, 0.25, 900),
                           identicalRow("layers.1.w", {{4}})},
                          {});
}

/// A million rows that cost no more than their names.
class LightRows final : public RowSource
{
public:
    explicit LightRows(std::size_t count)
    {
        for (std::size_t row = 0; row < count; ++row)
            m_names.push_back("model.layers." + std::to_string(row) + ".mlp.weight");
    }

    static double number(std::size_t row) { return double((row * 7919) % 1'000'003) - 5e5; }

    std::size_t size() const override { return m_names.size(); }
    std::string_view name(std::size_t row) const override { return m_names[row]; }
    bool finished() const override { return true; }
    void prepare() override
    {
        m_marks.assign(size(), markOf(ItemStatus::Identical, StateClass::Weights, false, false));
    }
    std::vector<std::uint64_t> keys(int) const override
    {
        std::vector<std::uint64_t> keys;
        for (std::size_t row = 0; row < size(); ++row)
            keys.push_back(sortKey(number(row)));
        return keys;
    }

private:
    std::vector<std::string> m_names;
};

class LightTable final : public RowTableModel
{
public:
    LightTable() : RowTableModel(2, 0, nullptr) {}
    using RowTableModel::setRows;
    QVariant data(const QModelIndex &, int) const override { return {}; }

protected:
    void show(std::shared_ptr<const RowSource>) override {}
};

} // namespace

class TestWidgetModels : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void naturalOrderComparesNumbers();
    void displayTextMakesHostileNamesInert();
    void unlikeNumbersStayUnlike();
    void elementsHaveTheDigitsOfTheirType();
    void tableSortsByRawValues();
    void firstClickSortsTheLargestFirst();
    void tableSortsNumbersAgainstNoneFirst();
    void tableFiltersAndKeepsPlacesWhileResultsArrive();
    void aPlaceholderIsNoShape();
    void onlyDifferingShowsUnknownOnesAtTheEnd();
    void tableArrangesAMillionRowsOffTheUiThread();
    void treeSumsUpModules();
    void treeBoundsDepth();
    void valuesTellAbsenceAndSortNumbers();
    void listsPutTheGravestFirst();
};

void TestWidgetModels::naturalOrderComparesNumbers()
{
    QVERIFY(naturalCompare("layers.2.w", "layers.10.w") < 0);
    QVERIFY(naturalCompare("layers.10.w", "layers.2.w") > 0);
    QVERIFY(naturalCompare("a", "a.b") < 0);
    QVERIFY(naturalCompare("x01", "x1") != 0);
    QVERIFY(naturalCompare("x99999999999999999999999", "x100000000000000000000000") < 0);
    QCOMPARE(naturalCompare("same.1", "same.1"), 0);
}

/// However narrow a column is, two numbers that differ do not read alike, and none loses its exponent
/// while there is room.
void TestWidgetModels::unlikeNumbersStayUnlike()
{
    const QFontMetrics metrics(monospaced(QApplication::font()));
    // A column of so many digits and an ellipsis, which may be wider than one.
    const auto widthOf = [&](int digits) {
        return metrics.horizontalAdvance(QString(digits, u'0') + QChar(0x2026));
    };
    const auto shown = [&](const char *one, const char *other, int room) {
        const auto text = [&](const char *a, const char *b) {
            return elidedNumber(QLatin1String(a), QLatin1String(b), metrics, widthOf(room));
        };
        return text(one, other) + u' ' + text(other, one);
    };
    QCOMPARE(shown("0.024793014412067", "0.024805230412068", 8),
             QStringLiteral("0.024793… 0.024805…"));
    QCOMPARE(shown("1.2345678901e-05", "1.2365678901e-05", 9),
             QStringLiteral("1.234…e-05 1.236…e-05"));
    QCOMPARE(shown("0.5", "0.25", 10), QStringLiteral("0.5 0.25"));
    for (int room = 5; room < 20; ++room) {
        const QStringList both = shown("0.024793014412067", "0.024793014412068", room).split(u' ');
        QVERIFY2(both[0] != both[1], qPrintable(both.join(u' ')));
        QVERIFY(metrics.horizontalAdvance(both[0]) <= widthOf(room));
    }
}

void TestWidgetModels::displayTextMakesHostileNamesInert()
{
    QCOMPARE(displayText(std::string_view("plain.name")), QStringLiteral("plain.name"));
    QCOMPARE(displayText(std::string_view("a\nb")), QStringLiteral("a\\u000ab"));
    QCOMPARE(displayText(std::string_view("a\xe2\x80\xae"
                                          "b")),
             QStringLiteral("a\\u202eb"));
    QCOMPARE(displayText(std::string_view("a\xff"
                                          "b")),
             QStringLiteral("a\\xffb"));
    QCOMPARE(displayText(std::string_view("caf\xc3\xa9")), QStringLiteral("café"));
    QVERIFY(plainToolTip(QStringLiteral("<b>x</b>")).contains(QLatin1String("&lt;b&gt;")));
    QCOMPARE(elidedMiddle(QString(100, u'x'), 40).size(), 40);
    QCOMPARE(elidedMiddle(QStringLiteral("short"), 40), QStringLiteral("short"));
    // Names that begin alike stay apart: their last parts are whole while there is room.
    const QFontMetrics metrics{QFont()};
    const auto fits = [&](const QString &text, int width) {
        return metrics.horizontalAdvance(text) <= width;
    };
    const QString tokens = QStringLiteral("gradients.0.embed_tokens.weight.grad"),
                  places = QStringLiteral("gradients.0.embed_positions.weight.grad"),
                  last = QStringLiteral("…weight.grad");
    for (int width = metrics.horizontalAdvance(last); width < 300; width += 7) {
        const QString shown = elidedName(tokens, metrics, width);
        QVERIFY2(fits(shown, width), qPrintable(shown));
        QVERIFY2(shown == tokens || shown.endsWith(last), qPrintable(shown));
    }
    QCOMPARE(elidedName(tokens, metrics, 1000), tokens);
    const int room = metrics.horizontalAdvance(places) - 1;
    QVERIFY(elidedName(places, metrics, room).startsWith(QStringLiteral("gradients.0.embed_")));
    for (const QString &hostile : {QString(), QStringLiteral("."), QStringLiteral("...///"),
                                   QString(4096, u'x'), QString(4096, u'.')}) {
        for (const int width : {-5, 0, 3, 40})
            QVERIFY(elidedName(hostile, metrics, width).size() <= hostile.size() + 1);
    }
}

void TestWidgetModels::elementsHaveTheDigitsOfTheirType()
{
    // Digits from the definition: numpy.finfo(float32) needs 9, float64 17.
    const ElementRow row = floatRow(0, 0.1F, 0.1F);
    QCOMPARE(elementText(*dtypeByName("float32"), row.a, row.bitsA), QStringLiteral("0.100000001"));
    QCOMPARE(elementText(*dtypeByName("float64"), ElementValue{0.1, {}}, {}),
             QStringLiteral("0.10000000000000001"));
    QCOMPARE(elementText(*dtypeByName("int8"), ElementValue{std::int64_t(-7), {}}, {}),
             QStringLiteral("-7"));
    QCOMPARE(differenceText(row), QStringLiteral("0"));
    QVERIFY(differenceText(floatRow(0, 1.0F, 2.0F)).startsWith(u'+'));
    QCOMPARE(shapeText({{96, 24}}), QStringLiteral("96×24"));
    QCOMPARE(shapeText({}), QStringLiteral("scalar"));
}

void TestWidgetModels::tableSortsByRawValues()
{
    TensorTableModel model;
    QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    model.setComparison(threeLayers());
    const QStringList natural{QStringLiteral("layers.1.w"), QStringLiteral("layers.2.w"),
                              QStringLiteral("layers.10.w")};
    QCOMPARE(names(model), natural);
    const QPersistentModelIndex kept = model.index(1, 0); // layers.2.w
    model.sort(int(TensorColumn::MaxUlp),
               Qt::DescendingOrder); // 900 before 7, not "7" before "900"
    QCOMPARE(names(model).first(), QStringLiteral("layers.10.w"));
    QCOMPARE(kept.sibling(kept.row(), 1).data().toString(), QStringLiteral("layers.2.w"));
    model.sort(int(TensorColumn::MaxAbs), Qt::DescendingOrder);
    QCOMPARE(names(model).first(), QStringLiteral("layers.2.w"));
    model.sort(int(TensorColumn::Differs), Qt::AscendingOrder);
    QCOMPARE(names(model).first(), QStringLiteral("layers.1.w"));
    QCOMPARE(cell(model, 2, int(TensorColumn::Differs)), QStringLiteral("50.0 %"));
    QCOMPARE(cell(model, 2, int(TensorColumn::MaxUlp)), QStringLiteral("900"));
    // Bars: the largest difference has the whole length, the smallest is still seen.
    const auto bar = [&](int row) {
        return model.index(row, int(TensorColumn::MaxAbs)).data(BarRole).toDouble();
    };
    QCOMPARE(bar(1), 1.0);
    QVERIFY(bar(2) > 0.1 && bar(2) < 1.0);
    const QVariant none = model.index(0, int(TensorColumn::MaxAbs)).data(BarRole);
    QVERIFY(none.isValid() && none.toDouble() == 0.0); // its number stands where the others do
}

void TestWidgetModels::firstClickSortsTheLargestFirst()
{
    TensorTableModel model;
    const auto order = [&](TensorColumn column) {
        return Qt::SortOrder(
            model.headerData(int(column), Qt::Horizontal, Qt::InitialSortOrderRole).toInt());
    };
    for (const TensorColumn column :
         {TensorColumn::Differs, TensorColumn::MaxUlp, TensorColumn::MaxAbs, TensorColumn::Shape})
        QCOMPARE(order(column), Qt::DescendingOrder);
    for (const TensorColumn column : {TensorColumn::Name, TensorColumn::DType, TensorColumn::Class})
        QCOMPARE(order(column), Qt::AscendingOrder);
}

void TestWidgetModels::tableSortsNumbersAgainstNoneFirst()
{
    auto comparison = makeComparison({differingRow("a.w", {{4, 4}}, 4, 0.5, 7),
                                      differingRow("b.w", {{4, 4}}, 8, 0.25, 900),
                                      differingRow("c.w", {{4, 4}}, 8, 100.0, 900)},
                                     {});
    DiffStats stats = *comparison->tensors[0].stats;
    stats.maxAbs = 0.0; // of the finite pairs
    stats.maxUlp = 0;
    stats.nanB = 1;
    comparison->tensors[0].stats = std::make_shared<const DiffStats>(stats);
    stats.nanA = 1;
    stats.infA = 3;
    stats.infB = 1;
    comparison->tensors[1].stats = std::make_shared<const DiffStats>(stats);
    TensorTableModel model;
    model.setComparison(comparison);
    model.sort(int(TensorColumn::MaxAbs), Qt::DescendingOrder);
    QStringList cells;
    for (int row = 0; row < 2; ++row)
        cells += cell(model, row, int(TensorColumn::MaxAbs));
    cells.sort();
    const QStringList expected{QStringLiteral("NaN in B"), QStringLiteral("more Inf in A")};
    QCOMPARE(cells, expected);
    QCOMPARE(model.index(0, int(TensorColumn::MaxAbs)).data(BarRole).toDouble(), 1.0);
    model.sort(int(TensorColumn::MaxUlp), Qt::DescendingOrder);
    QVERIFY(names(model).first() != QStringLiteral("c.w"));
    QCOMPARE(cell(model, 0, int(TensorColumn::MaxUlp)), QStringLiteral("–")); // not 0
    model.sort(int(TensorColumn::MaxAbs), Qt::AscendingOrder);
    QVERIFY(names(model).first() == QStringLiteral("c.w"));
    stats.infB = 3; // as many, and no number differs
    comparison->tensors[1].stats = std::make_shared<const DiffStats>(stats);
    model.setComparison(std::make_shared<CheckpointComparison>(*comparison));
    const auto row = names(model).indexOf(QString::fromStdString(comparison->tensors[1].name));
    QCOMPARE(cell(model, int(row), int(TensorColumn::MaxAbs)), QStringLiteral("other NaN or Inf"));
}

void TestWidgetModels::tableFiltersAndKeepsPlacesWhileResultsArrive()
{
    TensorTableModel model;
    QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    auto first = std::make_shared<CheckpointComparison>(*threeLayers());
    for (TensorRow &row : first->tensors) {
        row.status = ItemStatus::NotCompared;
        row.stats.reset();
    }
    first->finished = false;
    model.setComparison(first);
    model.sort(int(TensorColumn::MaxUlp), Qt::DescendingOrder);
    const QStringList before = names(model);
    QSignalSpy resets(&model, &QAbstractItemModel::modelReset);
    QSignalSpy changes(&model, &QAbstractItemModel::dataChanged);
    model.setComparison(threeLayers());
    QCOMPARE(names(model), before); // sorting waits for the user
    QCOMPARE(resets.count(), 0);
    QCOMPARE(changes.count(), 1);
    model.setFilter(RowFilter(QStringLiteral("LAYERS 10"), false));
    QCOMPARE(names(model), QStringList{QStringLiteral("layers.10.w")});
    QCOMPARE(model.rowOf(model.resultRow(0)), 0);
    model.setFilter(RowFilter(QStringLiteral("nothing"), false));
    QCOMPARE(model.rowCount(), 0);
    model.setComparison(nullptr);
    QCOMPARE(model.rowCount(), 0);
}

void TestWidgetModels::aPlaceholderIsNoShape()
{
    TensorRow row = identicalRow("w", {{8, 4}}); // its shard is missing in B
    row.status = ItemStatus::NotCompared;
    row.dtypeB = DType();
    row.shapeB = {{0}};
    row.layoutKnownB = false;
    TensorTableModel model;
    model.setComparison(makeComparison({row}, {}));
    QCOMPARE(cell(model, 0, int(TensorColumn::Shape)), QStringLiteral("8×4 → ?"));
    QCOMPARE(cell(model, 0, int(TensorColumn::DType)), QStringLiteral("float32 → ?"));
    row.layoutKnownA = false;
    model.setComparison(makeComparison({row}, {}));
    QCOMPARE(cell(model, 0, int(TensorColumn::Shape)), QStringLiteral("?"));
    row.a.reset();
    row.status = ItemStatus::OnlyInB;
    model.setComparison(makeComparison({row}, {}));
    QCOMPARE(cell(model, 0, int(TensorColumn::Shape)), QStringLiteral("?"));
    const std::vector<Fact> facts = tensorFacts(row, nullptr, nullptr, nullptr);
    const auto shape = std::find_if(facts.begin(), facts.end(),
                                    [](const Fact &f) { return f.name == QLatin1String("shape"); });
    QVERIFY(shape != facts.end());
    QCOMPARE(shape->a, QStringLiteral("not there"));
    QCOMPARE(shape->b, QStringLiteral("unknown"));
}

void TestWidgetModels::onlyDifferingShowsUnknownOnesAtTheEnd()
{
    TensorRow unknown = identicalRow("z", {{1}});
    unknown.status = ItemStatus::NotCompared;
    auto rows = std::vector<TensorRow>{unknown, identicalRow("a", {{1}}),
                                       differingRow("b", {{2}}, 1, 1.0, 1)};
    TensorTableModel model;
    QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    model.setFilter(RowFilter({}, true));
    model.setComparison(makeComparison(rows, {}, false));
    QCOMPARE(names(model), QStringList{QStringLiteral("b")});
    model.setComparison(makeComparison(rows, {}, true));
    QCOMPARE(names(model), (QStringList{QStringLiteral("b"), QStringLiteral("z")}));
}

void TestWidgetModels::tableArrangesAMillionRowsOffTheUiThread()
{
    constexpr std::size_t Million = 1'000'000;
    LightTable model;
    model.setRows(std::make_shared<LightRows>(Million));
    QVERIFY(model.arranging()); // and the table still shows what it had
    QCOMPARE(model.rowCount(), 0);
    QTRY_VERIFY_WITH_TIMEOUT(!model.arranging(), 60'000);
    QCOMPARE(model.rowCount(), int(Million));

    const std::unique_ptr<QTreeView> view(makeTable(&model, QStringLiteral("rows"), nullptr));
    view->resize(600, 400);
    view->show();
    view->grab();
    const auto timed = [&](const char *what, auto action) {
        QElapsedTimer timer;
        timer.start();
        const std::clock_t start = std::clock(); // of this process alone, on a busy machine too
        const auto since = [](std::clock_t then) {
            return double(std::clock() - then) * 1000 / CLOCKS_PER_SEC;
        };
        action();
        const double returned = since(start);
        while (model.arranging())
            QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents);
        const double took = double(timer.nsecsElapsed()) / 1e6, used = since(start);
        const std::clock_t arranged = std::clock();
        view->grab();
        qInfo("%s of 1,000,000 rows: %.1f ms by the clock, %.1f of processor time, %.1f of them on "
              "the UI thread before it returned; %.1f more until they are painted",
              what, took, used, returned, since(arranged));
        return took;
    };
    const auto filter = [&](const char *text) {
        model.setFilter(RowFilter(QString::fromLatin1(text), false));
    };
    QVERIFY(timed("filter, few match", [&] { filter("layers.99999 weight"); }) < 1000);
    QCOMPARE(model.rowCount(), 11); // 99999 and 999990 to 999999
    QVERIFY(timed("filter, all match", [&] { filter("layers weight"); }) < 1000);
    QCOMPARE(model.rowCount(), int(Million));
    timed("first sort by a number", [&] { model.sort(1, Qt::DescendingOrder); });
    const auto key = [&](int row) { return LightRows::number(model.resultRow(row)); };
    QVERIFY(timed("sort by a number", [&] { model.sort(1, Qt::AscendingOrder); }) < 1000);
    for (int row = 1; row < int(Million); ++row)
        QVERIFY(key(row - 1) <= key(row));
    QVERIFY(timed("sort by name", [&] { model.sort(0, Qt::AscendingOrder); }) < 1000);
    QCOMPARE(model.resultRow(2), std::size_t(2)); // layers.2 before layers.10
}

void TestWidgetModels::treeSumsUpModules()
{
    TensorTableModel table;
    TensorTreeModel tree;
    QAbstractItemModelTester tester(&tree, QAbstractItemModelTester::FailureReportingMode::QtTest);
    const auto comparison = threeLayers();
    table.setComparison(comparison);
    tree.setRows(comparison, table.visibleRows());
    QStringList lines;
    print(tree, {}, {}, lines);
    QCOMPARE(lines,
             (QStringList{QStringLiteral("layers 2 of 3"), QStringLiteral("  1 0 of 1"),
                          QStringLiteral("    w 0"), QStringLiteral("  2 1 of 1"),
                          QStringLiteral("    w 25.0 %"), QStringLiteral("  10 1 of 1"),
                          QStringLiteral("    w 50.0 %")}));
    const QModelIndex root = tree.index(0, 0);
    QCOMPARE(root.siblingAtColumn(int(TensorColumn::MaxUlp)).data().toString(),
             QStringLiteral("900"));
    QVERIFY(!root.data(RowRole).isValid());
    const QModelIndex leaf = tree.indexOf(0); // sorted bytewise: layers.1.w
    QCOMPARE(leaf.data(NameRole).toString(), QStringLiteral("layers.1.w"));
    QCOMPARE(leaf.data(RowRole).toULongLong(), 0ULL);
    tree.updateComparison(threeLayers());
    QCOMPARE(tree.rowCount(), 1);
}

void TestWidgetModels::treeBoundsDepth()
{
    std::string deep;
    for (int i = 0; i < 4000; ++i)
        deep += "a.";
    const auto comparison = makeComparison({identicalRow(deep, {{1}})}, {});
    TensorTreeModel tree;
    tree.setRows(comparison, {0});
    int depth = 0;
    for (QModelIndex at = tree.index(0, 0); at.isValid(); at = tree.index(0, 0, at))
        ++depth;
    QCOMPARE(depth, TensorTreeModel::MaximumDepth + 1);
}

void TestWidgetModels::valuesTellAbsenceAndSortNumbers()
{
    ValueTableModel model;
    QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    model.setComparison(makeComparison(
        {},
        {valueRow("b", StateClass::Recipe, Value::integer(10), Value::integer(9)),
         valueRow("a", StateClass::Counter, Value::integer(9), std::nullopt),
         valueRow("c", StateClass::Recipe, Value::integer(100), Value::integer(100))}));
    using Column = ValueTableModel::Column;
    QCOMPARE(cell(model, 0, int(Column::B)), QStringLiteral("not in B"));
    QCOMPARE(cell(model, 0, int(Column::Sign)), QStringLiteral("◐"));
    QCOMPARE(cell(model, 1, int(Column::Sign)), QStringLiteral("≠"));
    model.sort(int(Column::A), Qt::DescendingOrder); // 100, 10, 9
    QCOMPARE(cell(model, 0, int(Column::Name)), QStringLiteral("c"));
    QCOMPARE(cell(model, 2, int(Column::Name)), QStringLiteral("a"));
    model.setFilter(RowFilter({}, true, StateClass::Recipe));
    QCOMPARE(model.rowCount(), 1);
    QCOMPARE(cell(model, 0, int(Column::Name)), QStringLiteral("b"));
}

void TestWidgetModels::listsPutTheGravestFirst()
{
    RemarkListModel list({QStringLiteral("file"), QStringLiteral("text")});
    QAbstractItemModelTester tester(&list, QAbstractItemModelTester::FailureReportingMode::QtTest);
    const auto remark = [](Severity severity, const QString &file) {
        return Remark{severity, {file, QStringLiteral("t")}, file, {}};
    };
    list.setRows({remark(Severity::Note, QStringLiteral("f")),
                  remark(Severity::Error, QStringLiteral("g")),
                  remark(Severity::Error, QStringLiteral("h"))});
    QCOMPARE(list.rowCount(), 3);
    QCOMPARE(cell(list, 0, 0), QStringLiteral("✖"));
    QCOMPARE(cell(list, 0, 1), QStringLiteral("g")); // equal ones keep their order
    QCOMPARE(cell(list, 2, 1), QStringLiteral("f"));
    QCOMPARE(list.headerData(1, Qt::Horizontal, Qt::DisplayRole).toString(),
             QStringLiteral("file"));
    list.setRows({});
    QCOMPARE(list.rowCount(), 0);
}

FP_WIDGET_TEST_MAIN(TestWidgetModels)
#include "tst_widget_models.moc"
