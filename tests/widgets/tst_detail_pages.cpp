// SPDX-License-Identifier: GPL-3.0-or-later
// The pages of the selected tensor: maps, steps, filters that link them, formats of numbers.
#include "support/fake_view_context.h"
#include "widgets/models/history_table_model.h"
#include "widgets/plot/histogram_plot.h"
#include "widgets/theme.h"
#include "widgets/value_format.h"
#include "widgets/views/element_view.h"
#include "widgets/views/heat_map_colours.h"
#include "widgets/views/heat_map_view.h"
#include "widgets/views/path_dialog.h"
#include "widgets/views/styled_text.h"
#include "widgets/views/tensor_detail.h"
#include "widgets/views/where_page.h"
#include "widgets/wcag_contrast.h"
#include "widgets/widget_test_main.h"

#include <QAbstractItemModelTester>
#include <QComboBox>
#include <QImage>
#include <QLineEdit>
#include <QSignalSpy>
#include <QTreeView>
#include <QXmlStreamReader>

using namespace forkpoint;

namespace {

/// A map of rows x columns elements, each its own cell: B-A = index + 1, and 0 for every third.
std::shared_ptr<ElementMap> plainMap(const MapQuery &query)
{
    auto map = std::make_shared<ElementMap>();
    map->query = query;
    map->rows = std::size_t(query.window.rows);
    map->columns = std::size_t(query.window.columns);
    map->complete = true;
    for (Index row = 0; row < map->rows; ++row) {
        for (Index column = 0; column < map->columns; ++column) {
            MapCell cell;
            cell.elements = 1;
            const Index index =
                *query.plane.indexAt(query.window.row + row, query.window.column + column);
            if (index % 3 != 0) {
                cell.index = index;
                cell.value = double(index) + 1;
                cell.differing = 1;
                map->largest = std::max(map->largest, cell.value);
            }
            map->cells.push_back(cell);
        }
    }
    return map;
}

struct Shown
{
    FakeViewContext context;
    TensorDetail detail{&context};

    explicit Shown(TensorRow row = differingRow("w", {{8, 6}}, 30, 1.0, 9))
    {
        context.checkpointComparison = makeComparison({std::move(row)}, {});
        auto runs = std::make_shared<RunComparison>();
        runs->seriesA = runs->seriesB = true;
        runs->finished = true;
        context.runComparison = runs;
        context.step = 4;
        context.tensor = 0;
        detail.resize(760, 520);
        detail.show();
        Q_EMIT context.comparisonChanged();
        Q_EMIT context.stepComparisonChanged();
        Q_EMIT context.selectedTensorChanged();
    }

    template <class View>
    View *find() const
    {
        return detail.findChild<View *>();
    }

    void answerMap()
    {
        const auto &[id, query] = context.mapRequests.back();
        Q_EMIT context.mapReady(id, plainMap(query));
    }

    ElementQuery lastQuery() const { return context.elementRequests.back().query; }
};

} // namespace

class TestDetailPages : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void picturesAreSaved();
    void numbersAreWrittenAsAsked();
    void mapIsAskedForWhenItIsSeen();
    void mapSaysWhatACellIs();
    void mapColoursTellMagnitudesApart();
    void boxFiltersTheElements();
    void keyboardDrawsABox();
    void wheelLooksCloser();
    void sidesOfHigherRankAreChosen();
    void histogramFiltersTheElements();
    void histogramHasBinsOfItsOwnForWhatIsNoNumber();
    void filterIsSaidAndTakenOff();
    void indicesAreTypedOrPasted();
    void stepsAreFollowedWhenSeen();
    void saysWhyItIsEmpty();
};

void TestDetailPages::numbersAreWrittenAsAsked()
{
    // Expected texts: Python's repr, float.hex() and struct.pack of numpy.float32(0.1).
    const DType type = *dtypeByName("float32");
    const ElementRow row = floatRow(0, 0.1F, -0.0F);
    QCOMPARE(elementText(type, row.a, row.bitsA, ValueFormat::Digits),
             QStringLiteral("0.100000001"));
    QCOMPARE(elementText(type, row.a, row.bitsA, ValueFormat::Shortest), QStringLiteral("0.1"));
    QCOMPARE(elementText(type, row.a, row.bitsA, ValueFormat::HexFloat),
             QStringLiteral("0x1.99999ap-4"));
    QCOMPARE(elementText(type, row.a, row.bitsA, ValueFormat::Bits), QStringLiteral("0x3dcccccd"));
    QCOMPARE(elementText(type, row.b, row.bitsB, ValueFormat::Bits), QStringLiteral("0x80000000"));
    QCOMPARE(bitsText(type, floatRow(0, 1.0F, -1.0F), BitsOf::Xor),
             QStringLiteral("1 00000000 00000000000000000000000"));
    QCOMPARE(elementText(*dtypeByName("int8"), ElementValue{std::int64_t(-7), {}},
                         {std::byte(0xf9)}, ValueFormat::HexFloat),
             QStringLiteral("-7"));
}

void TestDetailPages::mapIsAskedForWhenItIsSeen()
{
    Shown shown;
    QTest::qWait(120);
    QVERIFY(shown.context.mapRequests.empty()); // nobody looks
    shown.detail.showPage(TensorDetail::Page::Where);
    QTRY_COMPARE(shown.context.mapRequests.size(), std::size_t(1));
    const MapQuery query = shown.context.mapRequests.back().second;
    QCOMPARE(query.plane, ElementPlane::whole({{8, 6}}));
    QCOMPARE(query.window, PlaneWindow::of(query.plane));
    QVERIFY(query.quantity == MapQuantity::Difference);
    shown.answerMap();
    QVERIFY(shown.detail.wherePage()->view()->map());
    // A newer snapshot of the same pair asks for nothing.
    Q_EMIT shown.context.stepComparisonChanged();
    QTest::qWait(120);
    QCOMPARE(shown.context.mapRequests.size(), std::size_t(1));
    Q_EMIT shown.context.mapReady(9999, plainMap(query)); // of somebody else
    QCOMPARE(shown.detail.wherePage()->view()->map()->query, query);
}

void TestDetailPages::mapSaysWhatACellIs()
{
    Shown shown;
    shown.detail.showPage(TensorDetail::Page::Where);
    QTRY_VERIFY(!shown.context.mapRequests.empty());
    shown.answerMap();
    WherePage *page = shown.detail.wherePage();
    QVERIFY(page->description().startsWith(QStringLiteral("Each cell is one element.")));
    QCOMPARE(page->view()->cellText(1, 2),
             QStringLiteral("row 1, column 2\n1 element of it, 1 differ\nlargest: 9 at element 8"));
    auto coarse = std::make_shared<ElementMap>(*page->view()->map());
    coarse->cells[0].elements = 7;
    Q_EMIT shown.context.mapReady(shown.context.mapRequests.back().first, coarse);
    QVERIFY(
        page->description().contains(QStringLiteral("of up to 7 elements, the one of largest")));
    Q_EMIT shown.context.requestFailed(shown.context.mapRequests.back().first,
                                       QStringLiteral("ends too early"));
    QVERIFY(page->description().contains(QStringLiteral("Not drawn: ends too early")));
}

void TestDetailPages::mapColoursTellMagnitudesApart()
{
    HeatMapView view;
    MapQuery query;
    query.plane = ElementPlane::whole({{8, 6}});
    query.window = PlaneWindow::of(query.plane);
    view.setMap(plainMap(query));
    const Theme theme = Theme::of(view.palette());
    const auto &map = *view.map();
    QCOMPARE(view.colourOf(map.at(0, 0)), theme.header); // equal
    const QColor weak = view.colourOf(map.at(0, 1)), strong = view.colourOf(map.at(7, 5));
    QVERIFY(weak != theme.header);
    QVERIFY(strong != weak);
    for (const QPalette &palette : {lightPalette(), darkPalette()}) {
        const Theme own = Theme::of(palette);
        for (const MapQuantity quantity :
             {MapQuantity::A, MapQuantity::B, MapQuantity::Difference, MapQuantity::Ulp}) {
            for (const double place : {0.0, 0.2, 0.4, 0.7, 1.0})
                QVERIFY(contrast(heatColour(own, quantity, place), own.header) >= 3);
        }
    }
    MapCell unknown;
    unknown.elements = unknown.notFinite = 1;
    QCOMPARE(view.colourOf(unknown), theme.unknown);
    QCOMPARE(view.range().lowest, 1);  // the smallest is 2
    QCOMPARE(view.range().highest, 5); // the largest is 48
    view.setRange(ColourRange{10, 20});
    QCOMPARE(view.colourOf(map.at(7, 5)), view.colourOf(map.at(0, 1))); // both below the range
}

void TestDetailPages::boxFiltersTheElements()
{
    Shown shown;
    shown.detail.showPage(TensorDetail::Page::Where);
    QTRY_VERIFY(!shown.context.mapRequests.empty());
    shown.answerMap();
    auto *map = shown.detail.wherePage()->view();
    const auto before = shown.context.elementRequests.size();
    QTest::mousePress(map, Qt::LeftButton, {}, map->rect().center());
    QTest::mouseMove(map, map->rect().center() + QPoint(60, 60));
    QTest::mouseRelease(map, Qt::LeftButton, {}, map->rect().center() + QPoint(60, 60));
    QVERIFY(map->box());
    QTRY_VERIFY(shown.context.elementRequests.size() > before);
    const auto part = shown.lastQuery().filter.part;
    QVERIFY(part);
    QCOMPARE(part->plane, ElementPlane::whole({{8, 6}}));
    QCOMPARE(part->window, *map->box());
    // And back: the row of the table is marked in the map, a cell leads to its element.
    Q_EMIT map->elementActivated(Index(13));
    QCOMPARE(shown.detail.page(), TensorDetail::Page::Elements);
    QCOMPARE(shown.find<ElementView>()->currentRow(), std::uint64_t(13));
}

void TestDetailPages::keyboardDrawsABox()
{
    HeatMapView view;
    MapQuery query;
    query.plane = ElementPlane::whole({{8, 6}});
    query.window = PlaneWindow::of(query.plane);
    view.setMap(plainMap(query));
    QSignalSpy selected(&view, &HeatMapView::boxSelected);
    QSignalSpy closer(&view, &HeatMapView::closerRequested);
    QSignalSpy cleared(&view, &HeatMapView::boxCleared);
    QTest::keyClick(&view, Qt::Key_Down); // shows where the keyboard is
    QTest::keyClick(&view, Qt::Key_Down);
    QTest::keyClick(&view, Qt::Key_Right, Qt::ShiftModifier);
    QTest::keyClick(&view, Qt::Key_Down, Qt::ShiftModifier);
    QTest::keyClick(&view, Qt::Key_Return);
    QCOMPARE(selected.count(), 1);
    QCOMPARE(*view.box(), (PlaneWindow{1, 0, 2, 2}));
    QTest::keyClick(&view, Qt::Key_Plus);
    QCOMPARE(closer.count(), 1);
    QTest::keyClick(&view, Qt::Key_Escape);
    QVERIFY(!view.box());
    QCOMPARE(cleared.count(), 1);
}

void TestDetailPages::wheelLooksCloser()
{
    Shown shown;
    shown.detail.showPage(TensorDetail::Page::Where);
    QTRY_VERIFY(!shown.context.mapRequests.empty());
    shown.answerMap();
    Q_EMIT shown.detail.wherePage()->view()->closerRequested({2, 1, 4, 3});
    QTRY_COMPARE(shown.context.mapRequests.size(), std::size_t(2));
    QCOMPARE(shown.context.mapRequests.back().second.window, (PlaneWindow{2, 1, 4, 3}));
    shown.answerMap();
    QVERIFY(
        shown.detail.wherePage()->description().contains(QStringLiteral("A part of the plane")));
}

void TestDetailPages::sidesOfHigherRankAreChosen()
{
    Shown shown(differingRow("w", {{3, 8, 6}}, 30, 1.0, 9));
    shown.detail.showPage(TensorDetail::Page::Where);
    QTRY_VERIFY(!shown.context.mapRequests.empty());
    QCOMPARE(shown.context.mapRequests.back().second.plane, ElementPlane::whole({{3, 8, 6}}));
    QComboBox *axes = nullptr;
    for (QComboBox *box : shown.detail.wherePage()->findChildren<QComboBox *>()) {
        if (box->accessibleName() == QStringLiteral("Axes of the map"))
            axes = box;
    }
    QVERIFY(axes);
    const int chosen = axes->findText(QStringLiteral("axes 2 × 1"));
    QVERIFY(chosen > 0);
    axes->setCurrentIndex(chosen);
    QTRY_COMPARE(shown.context.mapRequests.size(), std::size_t(2));
    QCOMPARE(shown.context.mapRequests.back().second.plane,
             *ElementPlane::slice({{3, 8, 6}}, 2, 1, {0, 0, 0}));
}

void TestDetailPages::histogramFiltersTheElements()
{
    Shown shown;
    auto *plot = shown.find<HistogramPlot>();
    const auto before = shown.context.elementRequests.size();
    plot->selectBins(-3, -1);
    QTRY_VERIFY(shown.context.elementRequests.size() > before);
    const auto range = shown.lastQuery().filter.range;
    QVERIFY(range);
    QCOMPARE(range->powers, std::optional(std::pair(-3, -1)));
    QVERIFY(!range->zero);
    plot->selectBins(plot->zeroPosition(), plot->zeroPosition());
    QVERIFY(shown.lastQuery().filter.range->zero);
    QVERIFY(!shown.lastQuery().filter.range->powers);
    plot->clearSelection();
    QVERIFY(shown.find<ElementView>()->filter().isEmpty());
}

void TestDetailPages::histogramHasBinsOfItsOwnForWhatIsNoNumber()
{
    TensorRow row = differingRow("w", {{8, 6}}, 30, 1.0, 9);
    auto stats = std::make_shared<DiffStats>(*row.stats);
    stats->nanA = 2;
    stats->infA = 1;
    row.stats = stats;
    Shown shown(row);
    auto *plot = shown.find<HistogramPlot>();
    const auto bins = plot->drawnBins(0);
    QCOMPARE(bins.back(), std::pair(plot->nanPosition(), std::uint64_t(2)));
    QCOMPARE(bins[bins.size() - 2], std::pair(plot->infinitePosition(), std::uint64_t(1)));
    plot->selectBins(plot->infinitePosition(), plot->nanPosition());
    const auto range = shown.lastQuery().filter.range;
    QVERIFY(range && range->nan && range->infinite && !range->powers);
    QVERIFY(range->kind == MagnitudeKind::AbsA);
}

void TestDetailPages::filterIsSaidAndTakenOff()
{
    Shown shown;
    shown.find<HistogramPlot>()->selectBins(-3, -1);
    const auto said = [&] {
        for (const auto *text : shown.detail.findChildren<StyledText *>())
            if (text->isVisibleTo(&shown.detail) && text->plainText().startsWith(u"Only"))
                return text->plainText();
        return QString();
    };
    QCOMPARE(said(), QStringLiteral("Only |B−A| 2^-3 to below 2^0  show all"));
    for (auto *text : shown.detail.findChildren<StyledText *>())
        if (text->plainText() == said())
            Q_EMIT text->linkActivated(QStringLiteral("all"));
    QCOMPARE(said(), QString());
    QVERIFY(shown.find<ElementView>()->filter().isEmpty());
}

void TestDetailPages::indicesAreTypedOrPasted()
{
    Shown shown;
    auto *view = shown.find<ElementView>();
    QLineEdit *goTo = nullptr;
    for (QLineEdit *edit : shown.detail.findChildren<QLineEdit *>())
        if (edit->accessibleName() == QStringLiteral("Go to index"))
            goTo = edit;
    QVERIFY(goTo);
    const std::pair<const char16_t *, std::uint64_t> places[] = {
        {u"17", 17}, {u"[2, 5]", 17}, {u"0,3", 3}, {u"(7, 5)", 47}, {u"1_0", 10}};
    for (const auto &[text, row] : places) {
        goTo->setText(QString::fromUtf16(text));
        QTest::keyClick(goTo, Qt::Key_Return);
        QCOMPARE(view->order(), ElementOrder::ByIndex);
        QCOMPARE(view->currentRow(), row);
    }
    QSignalSpy messages(&shown.detail, &TensorDetail::message);
    for (const char16_t *wrong : {u"48", u"8,0", u"0,6", u"1,2,3", u"x", u"-1"}) {
        goTo->setText(QString::fromUtf16(wrong));
        QTest::keyClick(goTo, Qt::Key_Return);
        QVERIFY(messages.last()[0].toString().startsWith(QStringLiteral("No such element")));
        QCOMPARE(view->currentRow(), std::uint64_t(10));
    }
}

void TestDetailPages::stepsAreFollowedWhenSeen()
{
    Shown shown;
    QVERIFY(shown.context.historyRequests.empty());
    shown.detail.showPage(TensorDetail::Page::Steps);
    QTRY_COMPARE(shown.context.historyRequests.size(), std::size_t(1));
    auto *model = shown.find<HistoryTableModel>();
    QAbstractItemModelTester tester(model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    auto history = std::make_shared<TensorHistory>();
    const auto point = [](Step step, Index different) {
        HistoryPoint result;
        result.step = step;
        result.difference = *differingRow("w", {{8, 6}}, different, 1.0, 3).stats;
        return result;
    };
    history->points = {point(4, 3)};
    Q_EMIT shown.context.historyReady(shown.context.historyRequests.back(), history);
    QCOMPARE(model->rowCount(), 1);
    auto more = std::make_shared<TensorHistory>(*history);
    more->points.push_back(point(8, 6));
    more->points.back().difference->maxAbsInteger = 249; // integers, which have no ULP
    more->points.back().difference->maxUlp = 0;
    HistoryPoint gone;
    gone.step = 12;
    gone.reason = "only A has it";
    more->points.push_back(gone);
    more->complete = true;
    Q_EMIT shown.context.historyReady(shown.context.historyRequests.back(), more);
    QCOMPARE(model->rowCount(), 3);
    using Column = HistoryTableModel::Column;
    const auto text = [&](int row, Column column) {
        return model->index(row, int(column)).data().toString();
    };
    QCOMPARE(text(1, Column::Differs), QStringLiteral("12.5 %")); // 6 of 48
    QCOMPARE(text(0, Column::MaxUlp), QStringLiteral("3"));
    QCOMPARE(text(1, Column::MaxUlp), QStringLiteral("–"));
    QCOMPARE(text(2, Column::Sign), QStringLiteral("?"));
    QCOMPARE(text(2, Column::Trend), QString::fromStdString(gone.reason));
    auto *view = shown.detail.findChild<QTreeView *>(QStringLiteral("historyTable"));
    Q_EMIT view->activated(model->index(1, 1));
    QCOMPARE(shown.context.calls.last(), QStringLiteral("selectStep 8"));
}

void TestDetailPages::saysWhyItIsEmpty()
{
    FakeViewContext context;
    TensorDetail detail(&context);
    SideState failed;
    failed.phase = SideState::Phase::Failed;
    failed.path = QStringLiteral("/data/B");
    failed.error = QStringLiteral("no such file");
    context.setSide(Side::B, failed);
    QCOMPARE(detail.summary(), QStringLiteral("B could not be opened: no such file"));
    context.setSide(Side::B, {});
    context.setJob({JobState::Phase::Cancelled, {}, {}, 0, {}});
    QVERIFY(detail.summary().startsWith(QStringLiteral("Cancelled")));
}

void TestDetailPages::picturesAreSaved()
{
    Shown shown;
    shown.detail.resize(900, 700);
    shown.detail.show();
    shown.detail.showPage(TensorDetail::Page::Where);
    QTRY_VERIFY(!shown.context.mapRequests.empty());
    const auto [id, query] = shown.context.mapRequests.back();
    Q_EMIT shown.context.mapReady(id, plainMap(query));
    HeatMapView *map = nullptr;
    for (HeatMapView *view : shown.detail.findChildren<HeatMapView *>())
        map = view->isVisible() ? view : map;
    QVERIFY(map);
    const QImage png = QImage::fromData(map->picture(QStringLiteral("png")), "PNG");
    QCOMPARE(png.size(), map->size() * 2);
    const auto textOf = [](const QByteArray &svg) {
        QString text;
        QXmlStreamReader reader(svg);
        while (!reader.atEnd()) {
            reader.readNext();
            text += reader.text();
        }
        return reader.hasError() ? reader.errorString() : text;
    };
    const QString svg = textOf(map->picture(QStringLiteral("svg")));
    QVERIFY2(svg.contains(QStringLiteral("rows ↓ axis 0")), qPrintable(svg));

    // Asked where to, then written by the session.
    Q_EMIT map->saveRequested();
    auto *dialog = shown.detail.findChild<PathDialog *>();
    QVERIFY(dialog);
    Q_EMIT dialog->pathChosen(QStringLiteral("/home/user/where.svg"));
    QCOMPARE(shown.context.saved.size(), std::size_t(1));
    QCOMPARE(shown.context.saved[0].first, QStringLiteral("/home/user/where.svg"));
    QVERIFY(shown.context.saved[0].second.contains("<svg"));
    dialog->reject();

    // A plot brings its legend along, which is no part of it on the screen.
    const auto *plot = shown.detail.findChild<HistogramPlot *>();
    const QString legend = textOf(plot->picture(QStringLiteral("svg")));
    for (const char *name : {"|A|", "|B|", "|B−A|"})
        QVERIFY2(legend.contains(QString::fromUtf8(name)), qPrintable(legend));
    const QByteArray bitmap = plot->picture(QStringLiteral("png"));
    QVERIFY(!QImage::fromData(bitmap, "PNG").isNull());
}

FP_WIDGET_TEST_MAIN(TestDetailPages)
#include "tst_detail_pages.moc"
