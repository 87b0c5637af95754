// SPDX-License-Identifier: GPL-3.0-or-later
// Tensors of which a side has no elements to show: files that are cut off, and fingerprint files.
#include "app/core/fingerprint_file.h"
#include "gpu/cpu_backend.h"
#include "support/fake_view_context.h"
#include "viewer_fixture.h"
#include "widget_test_main.h"
#include "widgets/plot/histogram_plot.h"
#include "widgets/views/element_view.h"
#include "widgets/views/facts_view.h"
#include "widgets/views/heat_map_view.h"
#include "widgets/views/no_elements.h"
#include "widgets/views/path_dialog.h"
#include "widgets/views/tensor_detail.h"

#include <QSettings>
#include <QTemporaryDir>
#include <QTest>

#include <array>

using namespace forkpoint;

namespace {

using Bins = std::vector<std::pair<int, std::uint64_t>>;

/// The heat map of the page that shows where a tensor differs.
const HeatMapView *shownMap(TensorDetail &detail)
{
    detail.showPage(TensorDetail::Page::Where);
    const HeatMapView *map = nullptr;
    for (const HeatMapView *view : detail.findChildren<HeatMapView *>())
        map = view->isVisible() ? view : map;
    return map;
}

} // namespace

class TestWithoutElements : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void aSideThatCannotBeReadHidesNothingOfTheOther_data();
    void aSideThatCannotBeReadHidesNothingOfTheOther();
    void fingerprintFilesSayOnceThatTheyHaveNoElements();
    void aFingerprintFileHidesNothingOfTheRun();
    void factsAreReadWhole();

private:
    QString fingerprintOf(const QString &run);

    QTemporaryDir m_folder;
};

void TestWithoutElements::initTestCase()
{
    QVERIFY(m_folder.isValid());
    QSettings::setPath(QSettings::NativeFormat, QSettings::UserScope, m_folder.path());
}

/// Path of a fingerprint file of that run.
QString TestWithoutElements::fingerprintOf(const QString &run)
{
    const QString path = m_folder.filePath(run.section(u'/', -1) + QStringLiteral(".fpx"));
    const CpuBackend backend;
    SerialExecutor executor;
    FingerprintRequest request;
    request.path = run.toStdString();
    const FingerprintFile made = fingerprintToFile(request, path.toStdString(), false, backend,
                                                   executor, {}, [](const auto &) {});
    return made.written ? path : QString();
}

// Two float32 tensors, v and w: 1, 2 and 3 to 6; of B the last number is cut off.
void TestWithoutElements::aSideThatCannotBeReadHidesNothingOfTheOther_data()
{
    QTest::addColumn<bool>("isA");
    QTest::newRow("A is whole") << true;
    QTest::newRow("B is whole") << false;
}

void TestWithoutElements::aSideThatCannotBeReadHidesNothingOfTheOther()
{
    QFETCH(bool, isA);
    const QByteArray header = R"({"v":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
                              R"("w":{"dtype":"F32","shape":[4],"data_offsets":[8,24]}})";
    const std::uint64_t size = std::uint64_t(header.size());
    const std::array<float, 6> numbers{1, 2, 3, 4, 5, 6};
    const QString paths[] = {m_folder.filePath(QStringLiteral("whole.safetensors")),
                             m_folder.filePath(QStringLiteral("cut.safetensors"))};
    for (const bool isCut : {false, true}) {
        QFile file(paths[isCut]);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(reinterpret_cast<const char *>(&size), sizeof size);
        file.write(header);
        file.write(reinterpret_cast<const char *>(numbers.data()), isCut ? 20 : 24);
    }
    Viewer viewer;
    viewer.context.openPair(paths[!isA], paths[isA]);
    QTRY_VERIFY_WITH_TIMEOUT(viewer.finished(), Patience);
    viewer.context.selectTensor(viewer.rowOf("w"));
    auto *detail = viewer.find<TensorDetail>();
    const ElementView *elements = detail->elementView();
    QTRY_COMPARE_WITH_TIMEOUT(elements->rowCount(), std::uint64_t(4), Patience);
    const QString none = QStringLiteral("–"), value = QStringLiteral("5");
    QTRY_COMPARE_WITH_TIMEOUT(
        elements->rowTexts(2).mid(0, 5),
        (QStringList{QStringLiteral("[2]"), isA ? value : none, isA ? none : value, none, none}),
        Patience);
    const QString why = isA ? QStringLiteral("A alone, by index: B cannot be read")
                            : QStringLiteral("B alone, by index: A cannot be read");
    QVERIFY2(textsOf(detail).contains(why), qPrintable(textsOf(detail)));
    // So are its magnitudes: sqrt((9 + 16 + 25 + 36) / 4), and |3| lies in [2, 4) alone.
    const QString rms =
        isA ? QStringLiteral("A alone: rms 4.637") : QStringLiteral("B alone: rms 4.637");
    QTRY_VERIFY2_WITH_TIMEOUT(detail->summary().contains(rms), qPrintable(detail->summary()),
                              Patience);
    const auto *plot = detail->findChild<HistogramPlot *>();
    QCOMPARE(plot->drawnBins(0), (Bins{{1, 1}, {2, 3}}));
    const HeatMapView *map = shownMap(*detail);
    QTRY_VERIFY_WITH_TIMEOUT(map->map() && map->map()->complete, Patience);
    QCOMPARE(map->map()->query.quantity, isA ? MapQuantity::A : MapQuantity::B);
    QCOMPARE(map->map()->largest, 6.0);
    detail->showPage(TensorDetail::Page::Elements);
    // The other tensor is a pair again.
    viewer.context.selectTensor(viewer.rowOf("v"));
    QTRY_COMPARE_WITH_TIMEOUT(elements->rowTexts(1).mid(1, 2),
                              (QStringList{QStringLiteral("2"), QStringLiteral("2")}), Patience);
    QVERIFY(!textsOf(detail).contains(why));
}

// What digests are is tested elsewhere (tst_fingerprint, tests/app/fpx_oracle.py): here they are shown.
void TestWithoutElements::fingerprintFilesSayOnceThatTheyHaveNoElements()
{
    Viewer viewer;
    const QString a = fingerprintOf(SampleA), c = fingerprintOf(SampleC);
    QVERIFY(!a.isEmpty() && !c.isEmpty());
    viewer.context.openPair(a, c);
    QTRY_VERIFY_WITH_TIMEOUT(viewer.finished(), Patience);
    viewer.context.selectTensor(viewer.rowOf("model.layers.0.fc1.weight"));
    auto *detail = viewer.find<TensorDetail>();
    for (const auto page :
         {TensorDetail::Page::Elements, TensorDetail::Page::Where, TensorDetail::Page::Steps}) {
        detail->showPage(page);
        int shown = 0;
        for (const NoElements *each : detail->findChildren<NoElements *>())
            shown += each->isVisible() ? 1 : 0;
        QCOMPARE(shown, 1);
        const QString text = textsOf(detail);
        for (const char *part :
             {"Digests, no elements", "the bytes differ", "Recorded of A: 0 NaN"})
            QCOMPARE(text.count(QLatin1String(part)), 1);
        const TensorRow &row =
            viewer.context.stepComparison()->tensors[*viewer.context.selectedTensor()];
        for (const auto &side : {row.fingerprintA, row.fingerprintB})
            QVERIFY(text.contains(QString::fromStdString(side->content.toHex())));
    }
    QVERIFY(!detail->elementView()->isVisible());
    // What is equal says what that rests on.
    viewer.context.selectTensor(viewer.rowOf("model.layers.0.ln_1.weight"));
    QVERIFY2(textsOf(detail).contains(QStringLiteral("no proof against forgery")),
             qPrintable(textsOf(detail)));
    // And it leads on: to the facts, and to the runs themselves.
    Q_EMIT detail->findChild<NoElements *>()->factsRequested();
    QCOMPARE(detail->page(), TensorDetail::Page::Facts);
    Q_EMIT detail->findChild<NoElements *>()->openRequested(Side::B);
    auto *dialog = viewer.find<PathDialog>();
    QVERIFY(dialog && dialog->windowTitle() == QStringLiteral("Open B"));
    dialog->reject();
    // Runs have elements.
    detail->showPage(TensorDetail::Page::Elements);
    viewer.context.openPair(SampleA, SampleC);
    QTRY_VERIFY_WITH_TIMEOUT(detail->elementView()->isVisible(), Patience);
}

void TestWithoutElements::aFingerprintFileHidesNothingOfTheRun()
{
    Viewer viewer;
    viewer.context.openPair(fingerprintOf(SampleA), SampleC);
    QTRY_VERIFY_WITH_TIMEOUT(viewer.finished(), Patience);
    viewer.context.selectTensor(viewer.rowOf("model.layers.0.fc1.weight"));
    auto *detail = viewer.find<TensorDetail>();
    QTRY_COMPARE_WITH_TIMEOUT(detail->elementView()->rowCount(), std::uint64_t(96 * 24), Patience);
    QTRY_VERIFY_WITH_TIMEOUT(viewer.context.selectedStatsSide() == Side::B, Patience);
    QVERIFY2(textsOf(detail).contains(QStringLiteral("A is a fingerprint file")),
             qPrintable(textsOf(detail)));
    const HeatMapView *map = shownMap(*detail);
    QTRY_VERIFY_WITH_TIMEOUT(map->map() && map->map()->complete, Patience);
    QCOMPARE(map->map()->query.quantity, MapQuantity::B);
}

/// Rows that need several lines have them.
void TestWithoutElements::factsAreReadWhole()
{
    FakeViewContext context;
    FactsView view(&context);
    const QString name = QStringLiteral("model.language_model.decoder.layers.17.self_attention.")
        + QString(120, u'x');
    view.setFacts({{QStringLiteral("name"), name, {}},
                   {QStringLiteral("class"), QStringLiteral("weights"), {}}});
    view.resize(600, 400);
    view.show();
    QTRY_VERIFY(view.visualItemRect(view.topLevelItem(0)).height() > 0);
    const int line = view.fontMetrics().height();
    const int columns = view.columnWidth(1) / view.fontMetrics().averageCharWidth();
    const int tall = view.visualItemRect(view.topLevelItem(0)).height();
    QVERIFY2(tall >= line * (int(name.size()) / std::max(1, columns)),
             qPrintable(QString::number(tall)));
    QVERIFY(view.visualItemRect(view.topLevelItem(1)).height() < 2 * line);
    QCOMPARE(view.topLevelItem(0)->text(1), name); // which is what is copied
}

FP_WIDGET_TEST_MAIN(TestWithoutElements)
#include "tst_without_elements.moc"
