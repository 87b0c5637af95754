// SPDX-License-Identifier: GPL-3.0-or-later
// States of the window that are not "two runs, compared": what is shown, and where it leads.
#include "loaders/hdf5/hdf5_client.h"
#include "viewer_fixture.h"
#include "wcag_contrast.h"
#include "widget_test_main.h"
#include "widgets/outlined_style.h"
#include "widgets/theme.h"
#include "widgets/views/element_view.h"
#include "widgets/views/heat_map_view.h"
#include "widgets/views/job_status.h"
#include "widgets/views/step_strip.h"
#include "widgets/views/styled_text.h"
#include "widgets/views/tensor_detail.h"
#include "widgets/views/tensor_list.h"
#include "widgets/views/verdict_banner.h"
#include "widgets/views/welcome.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDialog>
#include <QDockWidget>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QMenuBar>
#include <QRadioButton>
#include <QSettings>
#include <QStatusBar>
#include <QStyleOptionButton>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>
#include <QTreeView>
#include <QTreeWidget>

#include <array>
#include <cmath>

using namespace forkpoint;

namespace {

/// The best contrast to `surface` near the left edge of a control, half way down.
double edgeContrast(QWidget &control, const QRect &area, const QColor &surface)
{
    const QImage image = control.grab().toImage();
    double best = 1;
    for (int x = area.left(); x < area.left() + 3; ++x)
        best = std::max(best, contrast(image.pixelColor(x, area.center().y()), surface));
    return best;
}

QStringList linksOf(const Viewer &viewer)
{
    QStringList links;
    for (const StyledText *text : viewer.find<VerdictBanner>()->findChildren<StyledText *>())
        links += text->links();
    return links;
}

QString placeholdersOf(QWidget *view)
{
    QStringList texts;
    for (const QLabel *label : view->findChildren<QLabel *>()) {
        if (label->isVisible())
            texts += label->text();
    }
    return texts.join(u'\n');
}

} // namespace

class TestWindowStates : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void outlinesAreSeen_data();
    void outlinesAreSeen();
    void everyNounOfTheBannerLeads();
    void aBrokenSideAloneSaysWhy_data();
    void aBrokenSideAloneSaysWhy();
    void oneSideAloneShowsItsElements_data();
    void oneSideAloneShowsItsElements();
    void identicalElementsAreListedByIndex();
    void valuesAloneAreShownFirst();
    void thePageOfKeysNamesThemAll();
    void aStepThatIsNotThereIsSaid();
    void whatHasNoPartnerIsShown_data();
    void whatHasNoPartnerIsShown();
    void tensorsThatOneTraceKeptAreCalledSo();
    void singleCheckpointsHaveNoStep();
    void whatWasNotComparedIsNotCalledUnrecorded();
    void dialogsShowAllOfTheirTexts();
    void anEmptyDockTakesLittleRoom();
    void largeLettersLeaveSixRows_data();
    void largeLettersLeaveSixRows();

private:
    QTemporaryDir m_folder;
};

void TestWindowStates::initTestCase()
{
    QVERIFY(m_folder.isValid());
    QSettings::setPath(QSettings::NativeFormat, QSettings::UserScope, m_folder.path());
}

void TestWindowStates::outlinesAreSeen_data()
{
    QTest::addColumn<bool>("dark");
    QTest::newRow("light") << false;
    QTest::newRow("dark") << true;
}

void TestWindowStates::outlinesAreSeen()
{
    QFETCH(bool, dark);
    OutlinedStyle style;
    const QPalette palette = dark ? darkPalette() : lightPalette();
    const QColor surface = palette.color(QPalette::Base);
    QCheckBox box;
    QRadioButton radio;
    QLineEdit edit;
    for (QWidget *control : std::initializer_list<QWidget *>{&box, &radio, &edit}) {
        control->setStyle(&style);
        control->setPalette(palette);
        control->setAutoFillBackground(true);
        control->resize(control->sizeHint());
    }
    QStyleOptionButton option;
    option.initFrom(&box);
    const QRect boxArea = style.subElementRect(QStyle::SE_CheckBoxIndicator, &option, &box);
    const QRect radioArea = style.subElementRect(QStyle::SE_RadioButtonIndicator, &option, &radio);
    QVERIFY(edgeContrast(box, boxArea, surface) >= 3);
    QVERIFY(edgeContrast(radio, radioArea, surface) >= 3);
    QVERIFY(edgeContrast(edit, edit.rect(), surface) >= 3);
}

// "At step 5: loss differs in its bits first; rng.torch (rng) is the first item that differs, at
// step 8."
void TestWindowStates::everyNounOfTheBannerLeads()
{
    Viewer viewer;
    viewer.context.openPair(SampleA, SampleD);
    QTRY_VERIFY_WITH_TIMEOUT(viewer.finished(), Patience);
    const QStringList links = linksOf(viewer);
    for (const char *link : {"metric:loss", "item:rng.torch", "class:rng", "step:8"})
        QVERIFY2(links.contains(QLatin1String(link)), qPrintable(links.join(u' ')));
    QVERIFY(!links.contains(QStringLiteral("step:5"))); // neither has a checkpoint there
    auto *list = viewer.find<TensorList>();
    Q_EMIT viewer.find<VerdictBanner>()->itemRequested(QStringLiteral("rng.torch"));
    QVERIFY(list->page() == TensorList::Page::Tensors || list->page() == TensorList::Page::Values);
    Q_EMIT viewer.find<VerdictBanner>()->metricRequested(QStringLiteral("loss"));
    QVERIFY(viewer.find<StepStrip>()->metricSummary().contains(QStringLiteral("step 5")));
}

void TestWindowStates::aBrokenSideAloneSaysWhy_data()
{
    QTest::addColumn<QByteArray>("contents");
    QTest::newRow("known to nobody") << QByteArray("no checkpoint, and no trace either");
    if (whyNoHdf5().empty()) // opens, and then cannot be read
        QTest::newRow("HDF5") << QByteArray("\x89HDF\r\n\x1a\nbroken", 14);
}

void TestWindowStates::aBrokenSideAloneSaysWhy()
{
    QFETCH(QByteArray, contents);
    const QString path = m_folder.filePath(QStringLiteral("notes.bin"));
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(contents);
    file.close();
    Viewer viewer;
    viewer.context.openSide(Side::A, path);
    QTRY_VERIFY_WITH_TIMEOUT(viewer.context.side(Side::A).phase == SideState::Phase::Failed,
                             Patience);
    auto *banner = viewer.find<VerdictBanner>();
    QTRY_VERIFY(banner->isVisible());
    QVERIFY(!viewer.find<Welcome>()->isVisible());
    QVERIFY2(banner->plainText().contains(QStringLiteral("A could not be opened")),
             qPrintable(banner->plainText()));
    QVERIFY(banner->plainText().contains(viewer.context.side(Side::A).error));
    QVERIFY(linksOf(viewer).contains(QStringLiteral("open:A")));
    const auto *problems = viewer.window.findChild<QToolButton *>(QStringLiteral("problems"));
    QTRY_COMPARE(problems->text(), QStringLiteral("1 problem"));
}

void TestWindowStates::oneSideAloneShowsItsElements_data()
{
    QTest::addColumn<bool>("isA");
    QTest::newRow("A") << true;
    QTest::newRow("B") << false;
}

// Six numbers of a safetensors file whose bytes are written here: 0.5, -2, 0, 1, 1, NaN.
void TestWindowStates::oneSideAloneShowsItsElements()
{
    QFETCH(bool, isA);
    const QByteArray header = R"({"w":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}})";
    const std::uint64_t size = std::uint64_t(header.size());
    const std::array<float, 6> numbers{0.5F, -2.0F, 0.0F, 1.0F, 1.0F, std::nanf("")};
    const QString path = m_folder.filePath(QStringLiteral("one.safetensors"));
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(reinterpret_cast<const char *>(&size), sizeof size);
    file.write(header);
    file.write(reinterpret_cast<const char *>(numbers.data()), sizeof numbers);
    file.close();

    Viewer viewer;
    viewer.context.openSide(isA ? Side::A : Side::B, path);
    auto *detail = viewer.find<TensorDetail>();
    const ElementView *elements = detail->elementView();
    QTRY_COMPARE_WITH_TIMEOUT(elements->rowCount(), std::uint64_t(6), Patience);
    const QString none = QStringLiteral("–");
    const auto cells = [&](std::uint64_t row) { return elements->rowTexts(row).mid(0, 5); };
    const auto expected = [&](const QString &index, const QString &value) {
        return QStringList{index, isA ? value : none, isA ? none : value, none, none};
    };
    QTRY_COMPARE_WITH_TIMEOUT(cells(1), expected(QStringLiteral("[0, 1]"), QStringLiteral("-2")),
                              Patience);
    QCOMPARE(cells(0), expected(QStringLiteral("[0, 0]"), QStringLiteral("0.5")));
    QCOMPARE(cells(5), expected(QStringLiteral("[1, 2]"), QStringLiteral("nan")));
    QTRY_VERIFY_WITH_TIMEOUT(detail->summary().contains(QStringLiteral("NaN 1 · Inf 0")), Patience);
    // The choices that a side alone leaves are those that show.
    QStringList choices;
    for (const QComboBox *box : detail->findChildren<QComboBox *>()) {
        if (box->isVisible() && !box->isEnabled())
            choices += box->currentText();
    }
    QVERIFY2(choices.contains(QStringLiteral("by index")), qPrintable(choices.join(u',')));
    QVERIFY(choices.contains(isA ? QStringLiteral("bits of A") : QStringLiteral("bits of B")));
    // sqrt((0.25 + 4 + 0 + 1 + 1) / 5) = sqrt(1.25)
    QVERIFY2(detail->summary().contains(QStringLiteral("rms 1.118")),
             qPrintable(detail->summary()));
    detail->showPage(TensorDetail::Page::Where);
    const HeatMapView *map = nullptr;
    for (const HeatMapView *view : detail->findChildren<HeatMapView *>())
        map = view->isVisible() ? view : map;
    QVERIFY(map);
    QTRY_VERIFY_WITH_TIMEOUT(map->map() && map->map()->complete, Patience);
    QCOMPARE(map->map()->query.quantity, isA ? MapQuantity::A : MapQuantity::B);
    QCOMPARE(map->map()->largest, 2.0);

    // With a partner, equal to it, the map is of the pair.
    viewer.context.openSide(isA ? Side::B : Side::A, path);
    QTRY_VERIFY_WITH_TIMEOUT(viewer.finished(), Patience);
    QTRY_VERIFY_WITH_TIMEOUT(map->map() && map->map()->complete
                                 && map->map()->query.quantity == MapQuantity::Difference,
                             Patience);
    QCOMPARE(map->map()->largest, 0.0);
}

void TestWindowStates::identicalElementsAreListedByIndex()
{
    Viewer viewer;
    const QString path = SampleA + QStringLiteral("/step_000004.pt");
    viewer.context.openPair(path, path);
    QTRY_VERIFY_WITH_TIMEOUT(viewer.finished(), Patience);
    auto *detail = viewer.find<TensorDetail>();
    QTRY_COMPARE_WITH_TIMEOUT(detail->elementView()->rowCount(), std::uint64_t(768), Patience);
    const QString value = QStringLiteral("1.47755194"); // by torch
    QTRY_COMPARE_WITH_TIMEOUT(detail->elementView()->rowTexts(0).mid(0, 3),
                              (QStringList{QStringLiteral("[0, 0]"), value, value}), Patience);
    QVERIFY2(
        textsOf(detail).contains(QStringLiteral("No element differs: all are listed by index")),
        qPrintable(textsOf(detail)));
    // What ends tells no number of its own beside the banner's.
    for (const QLabel *label : viewer.find<JobStatus>()->findChildren<QLabel *>())
        QVERIFY2(!label->text().contains(QStringLiteral(" read")), qPrintable(label->text()));
}

// {'lr': 0.5, 'n': 3} by pickle.dumps(…, 2).
void TestWindowStates::valuesAloneAreShownFirst()
{
    QFile file(m_folder.filePath(QStringLiteral("values.pkl")));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(QByteArray::fromHex(
        "80027d71002858020000006c727101473fe000000000000058010000006e71024b03752e"));
    file.close();
    Viewer viewer;
    viewer.context.openPair(file.fileName(), file.fileName());
    QTRY_VERIFY_WITH_TIMEOUT(viewer.finished(), Patience);
    auto *list = viewer.find<TensorList>();
    QTRY_VERIFY(list->page() == TensorList::Page::Values);
    QCOMPARE(list->findChild<QTreeView *>(QStringLiteral("valueTable"))->model()->rowCount(), 2);
    viewer.context.openPair(SampleA, SampleC);
    QTRY_VERIFY_WITH_TIMEOUT(viewer.finished() && viewer.context.stepComparison()
                                 && !viewer.context.stepComparison()->tensors.empty(),
                             Patience);
}

// Every key of a menu is on the page of keys, spelled as the menu has it.
void TestWindowStates::thePageOfKeysNamesThemAll()
{
    QFile page(QStringLiteral(FORKPOINT_SAMPLES "/../docs/keyboard.md"));
    QVERIFY(page.open(QIODevice::ReadOnly));
    const QString text = QString::fromUtf8(page.readAll());
    Viewer viewer;
    int seen = 0;
    for (const QMenu *menu : viewer.window.menuBar()->findChildren<QMenu *>()) {
        for (const QAction *action : menu->actions()) {
            const QString key = action->shortcut().toString(QKeySequence::PortableText);
            if (key.isEmpty())
                continue;
            ++seen;
            const bool isAlt = key.startsWith(QLatin1String("Alt+")) && key.back().isDigit();
            QVERIFY2(isAlt || text.contains(key), qPrintable(action->text() + u' ' + key));
        }
    }
    QVERIFY(seen > 30);
}

void TestWindowStates::aStepThatIsNotThereIsSaid()
{
    Viewer viewer;
    viewer.context.openPair(SampleA, SampleC);
    QTRY_VERIFY_WITH_TIMEOUT(viewer.finished(), Patience);
    const QString job = viewer.context.job().title;
    viewer.context.selectStep(99);
    QTRY_COMPARE(viewer.context.selectedStep(), std::optional<Step>(99));
    const QString why = QStringLiteral("neither side has step 99");
    QTRY_VERIFY(placeholdersOf(viewer.find<TensorList>()).contains(why));
    QTRY_VERIFY(viewer.find<TensorDetail>()->summary().contains(why));
    QCOMPARE(viewer.context.job().title, job); // nothing was compared
}

// Step 4 of A has no partner, and a trace none for a checkpoint: what is there is shown as it is.
void TestWindowStates::whatHasNoPartnerIsShown_data()
{
    QTest::addColumn<QString>("a");
    QTest::addColumn<QString>("b");
    QTest::addColumn<QString>("why");
    QTest::newRow("a step") << SampleA << SampleD << QStringLiteral("only A has this step");
    QTest::newRow("a checkpoint beside a trace")
        << SampleA + QStringLiteral("/step_000004.pt")
        << QStringLiteral(FORKPOINT_TEST_DATA "/traces/typed/A")
        << QStringLiteral("B holds no checkpoint");
}

void TestWindowStates::whatHasNoPartnerIsShown()
{
    QFETCH(QString, a);
    QFETCH(QString, b);
    QFETCH(QString, why);
    Viewer viewer;
    viewer.context.openPair(a, b);
    QTRY_VERIFY_WITH_TIMEOUT(viewer.finished(), Patience);
    if (b == SampleD)
        viewer.context.selectPlace(4, "model.embed_positions.weight");
    auto *list = viewer.find<TensorList>();
    auto *detail = viewer.find<TensorDetail>();
    const auto table = list->findChild<QTreeView *>(QStringLiteral("tensorTable"));
    QTRY_COMPARE_WITH_TIMEOUT(table->model()->rowCount(), 118, Patience); // by torch
    QTRY_VERIFY(placeholdersOf(list).contains(QStringLiteral("118 of 118 shown, none compared")));
    QTRY_VERIFY2(detail->summary().contains(why), qPrintable(detail->summary()));
    // 32 x 24 elements of model.embed_positions.weight, the first by name.
    QTRY_COMPARE_WITH_TIMEOUT(detail->elementView()->rowCount(), std::uint64_t(768), Patience);
    QTRY_COMPARE_WITH_TIMEOUT(detail->elementView()->rowTexts(0).value(1),
                              QStringLiteral("1.47755194"), Patience);
}

// Of a trace a step without whole tensors may be recorded all the same.
void TestWindowStates::tensorsThatOneTraceKeptAreCalledSo()
{
    const QString captures = QStringLiteral(FORKPOINT_SAMPLES "/captures/");
    Viewer viewer;
    viewer.context.openPair(captures + u'A', captures + u'D'); // which begins with step 5
    QTRY_VERIFY_WITH_TIMEOUT(viewer.finished(), Patience);
    viewer.context.selectPlace(2, "grad_norm.grad_norm");
    QTRY_VERIFY_WITH_TIMEOUT(viewer.find<TensorDetail>()->summary().contains(
                                 QStringLiteral("only A kept tensors of this step")),
                             Patience);
}

void TestWindowStates::singleCheckpointsHaveNoStep()
{
    Viewer viewer;
    viewer.context.openPair(SampleA + QStringLiteral("/step_000004.pt"),
                            SampleC + QStringLiteral("/step_000004.pt"));
    QTRY_VERIFY_WITH_TIMEOUT(viewer.finished(), Patience);
    viewer.context.selectStep(99);
    QTRY_VERIFY(placeholdersOf(viewer.find<TensorList>())
                    .contains(QStringLiteral("there is no step 99 of whole tensors")));
}

// A zip without its directory: nothing is compared, though A holds weights.
void TestWindowStates::whatWasNotComparedIsNotCalledUnrecorded()
{
    QFile whole(SampleA + QStringLiteral("/step_000004.pt"));
    QVERIFY(whole.open(QIODevice::ReadOnly));
    QFile cut(m_folder.filePath(QStringLiteral("cut.pt")));
    QVERIFY(cut.open(QIODevice::WriteOnly));
    cut.write(whole.read(whole.size() - 100));
    cut.close();
    Viewer viewer;
    viewer.context.openPair(whole.fileName(), cut.fileName());
    QTRY_VERIFY_WITH_TIMEOUT(viewer.finished(), Patience);
    const QString text = viewer.find<VerdictBanner>()->plainText();
    QVERIFY2(text.contains(QStringLiteral("Not compared")), qPrintable(text));
    QVERIFY2(!text.contains(QStringLiteral("not recorded")), qPrintable(text));
    QVERIFY2(!text.contains(QStringLiteral("0 of 0")), qPrintable(text));
    QVERIFY(linksOf(viewer).contains(QStringLiteral("problems")));
}

void TestWindowStates::dialogsShowAllOfTheirTexts()
{
    Viewer viewer;
    viewer.context.openPair(SampleA, SampleC);
    QTRY_VERIFY_WITH_TIMEOUT(viewer.finished(), Patience);
    viewer.window.showPart(QStringLiteral("print"));
    QDialog *print = nullptr;
    for (QDialog *each : viewer.window.findChildren<QDialog *>())
        print = each->inherits("QPrintDialog") ? each : print;
    QVERIFY(print && print->isVisible());
    QVERIFY(print->width() <= 1280 && print->height() <= 800);
    print->reject();
    viewer.window.showPart(QStringLiteral("shortcuts"));
    const QTreeWidget *list = nullptr;
    for (const QTreeWidget *each : viewer.window.findChildren<QTreeWidget *>())
        list = each->accessibleName() == QLatin1String("Shortcuts") ? each : list;
    QVERIFY(list);
    QTRY_VERIFY(list->isVisible());
    const QFontMetrics metrics = list->fontMetrics();
    for (int group = 0; group < list->topLevelItemCount(); ++group) {
        const QTreeWidgetItem *parent = list->topLevelItem(group);
        for (int i = 0; i < parent->childCount(); ++i) {
            for (const int column : {0, 1}) {
                const int indent = column == 0 ? list->indentation() + 6 : 0;
                const QString text = parent->child(i)->text(column);
                QVERIFY2(metrics.horizontalAdvance(text) + indent < list->columnWidth(column),
                         qPrintable(text));
            }
        }
    }
}

void TestWindowStates::anEmptyDockTakesLittleRoom()
{
    Viewer viewer;
    viewer.context.openPair(SampleA, SampleC);
    QTRY_VERIFY_WITH_TIMEOUT(viewer.finished(), Patience);
    const auto heightOf = [&](const char *name) {
        const auto *dock = viewer.window.findChild<QDockWidget *>(QLatin1String(name));
        return dock && dock->isVisible() ? dock->height() : 0;
    };
    const int line = viewer.window.fontMetrics().height();
    viewer.window.showPart(QStringLiteral("problems"));
    QTRY_VERIFY(heightOf("problems") > 2 * line && heightOf("problems") < 6 * line);
    viewer.window.showPart(QStringLiteral("resume"));
    QTRY_VERIFY(heightOf("resume") >= 8 * line); // docks move by and by
}

void TestWindowStates::largeLettersLeaveSixRows_data()
{
    QTest::addColumn<QString>("page");
    QTest::addColumn<QString>("folder");
    QTest::newRow("tensors") << "tensorTable"
                             << "";
    QTest::newRow("records") << "recordTable"
                             << "/captures";
}

/// 16 points in 1280 x 800, where the verdict is long and the strip is high.
void TestWindowStates::largeLettersLeaveSixRows()
{
    QFETCH(QString, page);
    QFETCH(QString, folder);
    const QString samples = QStringLiteral(FORKPOINT_SAMPLES);
    const QFont before = QApplication::font();
    Viewer viewer;
    viewer.window.applyFont(16);
    viewer.context.openPair(samples + folder + QStringLiteral("/A"),
                            samples + folder + QStringLiteral("/C"));
    QTRY_VERIFY_WITH_TIMEOUT(viewer.finished(), Patience);
    viewer.window.showPart(page == QStringLiteral("recordTable") ? QStringLiteral("records")
                                                                 : QStringLiteral("tensors"));
    auto *banner = viewer.find<VerdictBanner>();
    QTRY_VERIFY(banner->isBrief());
    const auto *list = viewer.window.findChild<QTreeView *>(page);
    QTRY_VERIFY(list && list->isVisible() && list->model()->rowCount() > 6);
    const auto rows = [&] {
        return list->viewport()->height() / list->visualRect(list->currentIndex()).height();
    };
    QTRY_VERIFY(rows() >= 6);
    // In view: neither cut off by the window nor scrolled away.
    const QPoint end = list->mapTo(&viewer.window, QPoint(0, list->height()));
    QVERIFY(end.y() <= viewer.window.statusBar()->y());
    // What the verdict leaves out is one link away, and goes again.
    for (const char *link : {"more", "less"}) {
        for (StyledText *text : banner->findChildren<StyledText *>()) {
            if (text->isVisible() && text->links().contains(QLatin1String(link)))
                Q_EMIT text->linkActivated(QLatin1String(link));
        }
        const bool isWhole = link == QStringLiteral("more");
        QTRY_COMPARE(banner->isBrief(), !isWhole);
        QTRY_COMPARE(banner->height(), banner->heightFor(banner->width(), !isWhole));
    }
    QApplication::setFont(before);
}

FP_WIDGET_TEST_MAIN(TestWindowStates)
#include "tst_window_states.moc"
