// SPDX-License-Identifier: GPL-3.0-or-later
#include "support/fake_view_context.h"
#include "widgets/views/layout_page.h"
#include "widgets/views/layout_view.h"
#include "widgets/views/remark_dock.h"
#include "widgets/views/resume_dock.h"
#include "widgets/widget_test_main.h"

#include <QTest>
#include <QTreeView>
#include <QTreeWidget>

using namespace forkpoint;

namespace {

class LayoutContext final : public FakeViewContext
{
public:
    std::vector<std::uint64_t> asked;
    void requestLayout(std::uint64_t id) override { asked.push_back(id); }
};

LayoutPart part(Index row, Index rows, const std::string &owner, std::optional<Index> different)
{
    return {{{row, 0}, {rows, 8}}, owner, "__" + owner + ".distcp", rows * 8, different};
}

std::shared_ptr<const PairLayout> someLayout()
{
    auto layout = std::make_shared<PairLayout>();
    layout->a = {Shape{{8, 8}}, {part(0, 4, "rank 0", 0), part(4, 4, "rank 1", 3)}, false};
    layout->b = {Shape{{8, 8}}, {part(0, 8, "rank 0", 3)}, false};
    return layout;
}

} // namespace

class LayoutPageTest : public QObject
{
    Q_OBJECT

private slots:
    void asksWhileItIsSeenAndSaysWhoDiffers()
    {
        LayoutContext context;
        fillLikeSamples(context);
        context.tensor = 0;
        LayoutPage page(&context);
        QVERIFY(context.asked.empty());
        page.resize(600, 500);
        page.show();
        QCOMPARE(context.asked.size(), std::size_t(1));
        Q_EMIT context.layoutReady(context.asked[0] + 1, someLayout()); // another's answer
        QVERIFY(!page.description().contains(u"rank 1"));
        Q_EMIT context.layoutReady(context.asked[0], someLayout());
        QVERIFY2(page.description().contains(u"A: only rank 1 differs, of 2 parts."),
                 qPrintable(page.description()));
        const auto *table = page.findChild<QTreeWidget *>();
        QCOMPARE(table->topLevelItemCount(), 3);
        QCOMPARE(table->topLevelItem(1)->text(3), QStringLiteral("≠ 3 of 32 differ"));
        QCOMPARE(table->topLevelItem(0)->text(3), QStringLiteral("equal"));
        QVERIFY(!page.grab().isNull());
    }

    void tellsOfThePartsThatAreNotCounted()
    {
        LayoutContext context;
        fillLikeSamples(context);
        context.tensor = 0;
        LayoutPage page(&context);
        page.show();
        auto layout = std::make_shared<PairLayout>(*someLayout());
        layout->a.parts = {part(0, 4, "rank 0", 0), part(4, 4, "rank 1", {})};
        layout->b.parts = {part(0, 8, "rank 0", 0)};
        layout->notCounted = "rank 1 | rank 3";
        Q_EMIT context.layoutReady(context.asked[0], layout);
        QCOMPARE(page.description(),
                 QStringLiteral("A: 1 of 2 parts equal, 1 not counted. B: 1 part, all equal. "
                                "Not counted where ? stands: rank 1 | rank 3."));
    }

    void oneFileIsSaidAndNotDrawn()
    {
        LayoutContext context;
        fillLikeSamples(context);
        context.tensor = 0;
        LayoutPage page(&context);
        page.show();
        auto layout = std::make_shared<PairLayout>();
        layout->a = {Shape{{8, 8}}, {{{{0, 0}, {8, 8}}, "", "a.pt", 64, 3}}, false};
        layout->b = {Shape{{8, 8}}, {{{{0, 0}, {8, 8}}, "", "b.pt", 64, 3}}, false};
        Q_EMIT context.layoutReady(context.asked[0], layout);
        QCOMPARE(page.description(),
                 QStringLiteral("A: one file holds the whole tensor, a.pt. "
                                "B: one file holds the whole tensor, b.pt."));
        QVERIFY(!page.findChild<LayoutView *>(QStringLiteral("layoutA"))->isVisible());
        QCOMPARE(page.findChild<QTreeWidget *>()->topLevelItem(0)->text(3),
                 QStringLiteral("≠ 3 of 64 differ"));
        context.tensor = 1;
        Q_EMIT context.selectedTensorChanged();
        Q_EMIT context.layoutReady(context.asked.back(), someLayout());
        QVERIFY(page.findChild<LayoutView *>(QStringLiteral("layoutA"))->isVisible());
    }

    void aClickChoosesItsRank()
    {
        LayoutContext context;
        fillLikeSamples(context);
        context.tensor = 0;
        LayoutPage page(&context);
        page.resize(600, 500);
        page.show();
        Q_EMIT context.layoutReady(context.asked[0], someLayout());
        auto *view = page.findChild<LayoutView *>(QStringLiteral("layoutA"));
        QTest::mouseClick(view, Qt::LeftButton, {}, {view->width() / 2, view->height() * 3 / 4});
        const auto selected = page.findChild<QTreeWidget *>()->selectedItems();
        QCOMPARE(selected.size(), 1);
        QCOMPARE(selected[0]->text(1), QStringLiteral("rank 1"));
    }

    void saysWhyNothingIsDrawn()
    {
        LayoutContext context;
        fillLikeSamples(context);
        context.tensor = 0;
        LayoutPage page(&context);
        page.show();
        Q_EMIT context.requestFailed(context.asked[0], QStringLiteral("a file is gone"));
        QCOMPARE(page.description(), QStringLiteral("Not drawn: a file is gone"));
    }

    /// At the width of a small window: what A and B hold gives way, what is said of them does not.
    void whetherTheyAreEqualIsNotCut()
    {
        FakeViewContext context;
        auto comparison = makeComparison({}, {});
        const QString told = QStringLiteral("4 of 5 compared, 1 differs; the rest is not known");
        comparison->resume = {{"weights",
                               "a name of some length",
                               "29 tensors, 21,408 elements",
                               "29 tensors, 21,408 elements",
                               false,
                               told.toStdString(),
                               {},
                               {}}};
        ResumeDock dock(&context);
        dock.resize(700, 200);
        dock.show();
        context.setStep(comparison, 4);
        const auto *view = dock.findChild<QTreeView *>();
        const auto widthOf = [&](const QString &text) {
            return view->fontMetrics().horizontalAdvance(text);
        };
        QVERIFY(view->columnWidth(5) > widthOf(told));
        for (int column = 1; column < 7; ++column)
            QVERIFY(view->columnWidth(column)
                    > widthOf(view->model()->headerData(column, Qt::Horizontal).toString()));
        QVERIFY(view->columnWidth(3) < widthOf(QStringLiteral("29 tensors, 21,408 elements")));
        dock.resize(1600, 200);
        QTRY_VERIFY(view->columnWidth(3) > widthOf(QStringLiteral("29 tensors, 21,408 elements")));
    }

    /// A long finding has the room of a wide window, and in a small one the names beside it stay in sight.
    void findingsUseTheRoomThatThereIs()
    {
        FakeViewContext context;
        auto comparison = makeComparison({}, {});
        const QString text(150, u'x');
        comparison->findings = {
            {"a", Certainty::Is, Severity::Note, text.toStdString(), {"layers.0.weight"}}};
        std::unique_ptr<RemarkDock> dock(RemarkDock::findings(&context, nullptr));
        context.setStep(comparison, 4);
        dock->resize(2400, 200);
        dock->show();
        const auto *view = dock->findChild<QTreeView *>();
        const int held = view->fontMetrics().horizontalAdvance(text);
        QTRY_VERIFY(view->columnWidth(2) > held);
        dock->resize(600, 200);
        QTRY_VERIFY(view->columnWidth(2) < held);
        int all = 0;
        for (int column = 0; column < 4; ++column)
            all += view->columnWidth(column);
        QVERIFY(all <= 600);
    }

    void whatContradictsStandsFirst()
    {
        FakeViewContext context;
        auto comparison = makeComparison({}, {});
        ResumeFact equal{"weights", {}, "3 tensors", "3 tensors", true, {}, {}, {}};
        ResumeFact ahead{"schedule",
                         "scheduler.last_epoch",
                         "100",
                         "101",
                         false,
                         "B is 1 ahead",
                         {true, "is iteration"},
                         {false, "101 against iteration 100"}};
        comparison->resume = {equal, ahead};
        ResumeDock dock(&context);
        context.setStep(comparison, 4);
        const auto *view = dock.findChild<QTreeView *>();
        QCOMPARE(view->model()->rowCount(), 2);
        QCOMPARE(view->model()->index(0, 2).data().toString(),
                 QStringLiteral("scheduler.last_epoch"));
        QVERIFY(view->model()->index(0, 6).data().toString().contains(
            QStringLiteral("no: 101 against iteration 100")));
    }
};

FP_WIDGET_TEST_MAIN(LayoutPageTest)
#include "tst_layout_page.moc"
