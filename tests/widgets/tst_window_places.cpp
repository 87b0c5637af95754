// SPDX-License-Identifier: GPL-3.0-or-later
// Back, forward and reload lead to what was looked at: the page, and what was selected there.
#include "app/gui/arguments.h"
#include "loaders/hdf5/hdf5_client.h"
#include "viewer_fixture.h"
#include "widget_test_main.h"
#include "widgets/views/element_view.h"
#include "widgets/views/metrics_page.h"
#include "widgets/views/records_page.h"
#include "widgets/views/tensor_detail.h"
#include "widgets/views/tensor_list.h"

#include <QAction>
#include <QTest>
#include <QTreeView>

using namespace forkpoint;

namespace {

QAction *action(const Viewer &viewer, const char *text)
{
    for (QAction *each : viewer.window.findChildren<QAction *>())
        if (each->text() == QLatin1String(text))
            return each;
    return nullptr;
}

/// A place is where one stays for a moment.
void stay()
{
    QTest::qWait(50);
}

/// Both captures with their records listed.
bool openCaptures(Viewer &viewer)
{
    const QString captures = QStringLiteral(FORKPOINT_SAMPLES "/captures/");
    viewer.context.openPair(captures + u'A', captures + u'D');
    if (!QTest::qWaitFor([&] { return viewer.finished(); }, Patience))
        return false;
    viewer.find<TensorList>()->showPage(TensorList::Page::Records);
    const RecordsPage *records = viewer.find<RecordsPage>();
    return QTest::qWaitFor([&] { return records->row() && records->window()->complete; }, Patience);
}

} // namespace

class TestWindowPlaces : public QObject
{
    Q_OBJECT

private slots:
    void goesBackAndForward();
    void keysOfBackAndForwardSelectInTheList();
    void pagesAndRecordsArePlaces();
    void reloadKeepsTensorAndPages();
    void reloadKeepsTheRecord();
    void theCommandLineLeadsToAnElement();
};

void TestWindowPlaces::goesBackAndForward()
{
    Viewer viewer;
    viewer.context.openPair(SampleA, SampleC);
    QTRY_VERIFY_WITH_TIMEOUT(viewer.finished(), Patience);
    const auto at = [&](Step step, const std::string &name) {
        const auto comparison = viewer.context.stepComparison();
        const auto row = viewer.context.selectedTensor();
        return viewer.context.selectedStep() == step && comparison && row
            && comparison->tensors[*row].name == name;
    };
    QAction *back = action(viewer, "&Back"), *forward = action(viewer, "&Forward");
    QVERIFY(back && forward);
    QTest::qWait(50);
    viewer.context.selectTensor(*viewer.rowOf("model.norm.bias"));
    QTest::qWait(50); // a place is where one stays for a moment
    QVERIFY(back->isEnabled());
    viewer.context.selectStep(12);
    QTRY_VERIFY_WITH_TIMEOUT(at(12, "model.norm.bias"), Patience);
    QTest::qWait(50);
    viewer.context.selectTensor(*viewer.rowOf("model.layers.0.qkv.bias"));
    QTRY_VERIFY_WITH_TIMEOUT(at(12, "model.layers.0.qkv.bias"), Patience);
    QTest::qWait(50);
    back->trigger();
    QTRY_VERIFY_WITH_TIMEOUT(at(12, "model.norm.bias"), Patience);
    back->trigger();
    QTRY_VERIFY_WITH_TIMEOUT(at(4, "model.norm.bias"), Patience);
    QVERIFY(forward->isEnabled());
    forward->trigger();
    QTRY_VERIFY_WITH_TIMEOUT(at(12, "model.norm.bias"), Patience);
}

/// The row, in sight, and what stands beside it: by the keys, with the other pages in between.
void TestWindowPlaces::keysOfBackAndForwardSelectInTheList()
{
    Viewer viewer;
    viewer.context.openPair(SampleA, SampleC);
    QTRY_VERIFY_WITH_TIMEOUT(viewer.finished(), Patience);
    const auto *view = viewer.window.findChild<QTreeView *>(QStringLiteral("tensorTable"));
    QVERIFY(view);
    const auto isShown = [&](const char *name, Step step) {
        const QModelIndexList rows = view->selectionModel()->selectedRows(1);
        return rows.size() == 1 && rows[0].data().toString() == QLatin1String(name)
            && view->viewport()->rect().intersects(view->visualRect(rows[0]))
            && viewer.find<TensorDetail>()->summary().contains(
                QStringLiteral("%1 float32").arg(QLatin1String(name)))
            && viewer.context.selectedStep() == step;
    };
    const char *const first = "model.embed_tokens.weight", *const last = "optimizer.state.9.step";
    QTest::qWait(50);
    viewer.context.selectTensor(*viewer.rowOf(first));
    QTRY_VERIFY_WITH_TIMEOUT(isShown(first, 4), Patience);
    QTest::qWait(50); // a place is where one stays for a moment
    viewer.context.selectPlace(12, last);
    QTRY_VERIFY_WITH_TIMEOUT(isShown(last, 12), Patience);
    QTest::qWait(50);
    QTest::keyClick(&viewer.window, Qt::Key_Left, Qt::AltModifier);
    QTRY_VERIFY_WITH_TIMEOUT(isShown(first, 4), Patience);
    viewer.find<TensorList>()->showPage(TensorList::Page::Values);
    viewer.find<TensorList>()->showPage(TensorList::Page::Tensors);
    QTest::keyClick(&viewer.window, Qt::Key_Right, Qt::AltModifier);
    QTRY_VERIFY_WITH_TIMEOUT(isShown(last, 12), Patience);
}

void TestWindowPlaces::pagesAndRecordsArePlaces()
{
    if (const std::string why = whyNoHdf5(); !why.empty())
        QSKIP(why.c_str());
    Viewer viewer;
    QVERIFY(openCaptures(viewer));
    RecordsPage *records = viewer.find<RecordsPage>();
    TensorList *list = viewer.find<TensorList>();
    stay();
    const std::uint64_t first = records->row()->number;
    records->goToDifference(false);
    QTRY_VERIFY_WITH_TIMEOUT(records->row() && records->row()->number != first, Patience);
    const std::uint64_t second = records->row()->number;
    stay();
    list->showPage(TensorList::Page::Metrics);
    stay();
    QVERIFY(viewer.find<MetricsPage>()->select(QStringLiteral("grad_norm")));
    stay();
    list->showPage(TensorList::Page::Tensors);
    stay();
    viewer.find<TensorDetail>()->showPage(TensorDetail::Page::Facts);
    stay();
    QAction *back = action(viewer, "&Back"), *forward = action(viewer, "&Forward");
    back->trigger();
    QCOMPARE(viewer.find<TensorDetail>()->page(), TensorDetail::Page::Elements);
    stay();
    back->trigger();
    QCOMPARE(list->page(), TensorList::Page::Metrics);
    QCOMPARE(viewer.find<MetricsPage>()->selected()->name, std::string("grad_norm"));
    stay();
    back->trigger(); // the first of the metrics
    stay();
    back->trigger();
    const auto isAt = [&](std::uint64_t number) {
        return list->page() == TensorList::Page::Records && records->row()
            && records->row()->number == number;
    };
    QTRY_VERIFY_WITH_TIMEOUT(isAt(second), Patience);
    stay();
    back->trigger();
    QTRY_VERIFY_WITH_TIMEOUT(isAt(first), Patience);
    stay();
    forward->trigger();
    QTRY_VERIFY_WITH_TIMEOUT(isAt(second), Patience);
}

void TestWindowPlaces::reloadKeepsTensorAndPages()
{
    Viewer viewer;
    viewer.context.openPair(SampleA, SampleC);
    QTRY_VERIFY_WITH_TIMEOUT(viewer.finished(), Patience);
    viewer.context.selectPlace(12, "model.norm.bias");
    viewer.find<TensorDetail>()->showPage(TensorDetail::Page::Facts);
    viewer.find<TensorList>()->showPage(TensorList::Page::Pairing);
    const auto isThere = [&] {
        const auto row = viewer.context.selectedTensor();
        return viewer.finished() && viewer.context.selectedStep() == Step(12) && row
            && row == viewer.rowOf("model.norm.bias")
            && viewer.find<TensorDetail>()->page() == TensorDetail::Page::Facts
            && viewer.find<TensorList>()->page() == TensorList::Page::Pairing;
    };
    QTRY_VERIFY_WITH_TIMEOUT(isThere(), Patience);
    stay();
    const auto before = viewer.context.comparison();
    action(viewer, "&Reload")->trigger();
    QTRY_VERIFY_WITH_TIMEOUT(viewer.context.comparison() != before && isThere(), Patience);
    QVERIFY(action(viewer, "&Back")->isEnabled());
}

void TestWindowPlaces::reloadKeepsTheRecord()
{
    if (const std::string why = whyNoHdf5(); !why.empty())
        QSKIP(why.c_str());
    Viewer viewer;
    QVERIFY(openCaptures(viewer));
    RecordsPage *records = viewer.find<RecordsPage>();
    for (int i = 0; i < 3; ++i)
        records->goToDifference(false);
    stay();
    const auto place = records->place();
    QVERIFY(place && place->from > 0);
    const auto before = viewer.context.comparison();
    action(viewer, "&Reload")->trigger();
    const auto isThere = [&] {
        return viewer.finished() && viewer.context.comparison() != before
            && viewer.find<TensorList>()->page() == TensorList::Page::Records
            && records->place() == place;
    };
    QTRY_VERIFY_WITH_TIMEOUT(isThere(), Patience);
}

/// An index has commas of its own.
void TestWindowPlaces::theCommandLineLeadsToAnElement()
{
    const Arguments arguments = Arguments::parse(
        {QStringLiteral("--show"), QStringLiteral("facts,goto=1,2,findings"), SampleA, SampleC});
    QCOMPARE(arguments.show,
             QStringList({QStringLiteral("facts"), QStringLiteral("goto=1,2"),
                          QStringLiteral("findings")}));
    Viewer viewer;
    viewer.context.openPair(SampleA, SampleC);
    QTRY_VERIFY_WITH_TIMEOUT(viewer.finished(), Patience);
    viewer.context.selectPlace(4, "model.embed_tokens.weight"); // of 24 columns
    auto *elements = viewer.find<TensorDetail>()->elementView();
    QTRY_VERIFY_WITH_TIMEOUT(elements->rowCount() > 0, Patience);
    QVERIFY(viewer.window.showPart(arguments.show[1]));
    QTRY_COMPARE_WITH_TIMEOUT(elements->currentRow(), std::uint64_t(26), Patience);
}

FP_WIDGET_TEST_MAIN(TestWindowPlaces)
#include "tst_window_places.moc"
