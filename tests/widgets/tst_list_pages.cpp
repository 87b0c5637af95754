// SPDX-License-Identifier: GPL-3.0-or-later
// Values as a tree, pairing with its preview, notes, and the search for NaN.
#include "support/fake_view_context.h"
#include "widgets/models/pairing_table_model.h"
#include "widgets/models/value_tree_model.h"
#include "widgets/pairing_advice.h"
#include "widgets/roles.h"
#include "widgets/views/non_finite_dock.h"
#include "widgets/views/pairing_page.h"
#include "widgets/views/tensor_list.h"
#include "widgets/widget_test_main.h"

#include <QAbstractItemModelTester>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QTreeView>

using namespace forkpoint;

namespace {

void print(const QAbstractItemModel &model, const QModelIndex &parent, const QString &indent,
           QStringList &lines)
{
    for (int row = 0; row < model.rowCount(parent); ++row) {
        const QModelIndex index = model.index(row, 1, parent);
        lines += indent + index.siblingAtColumn(0).data().toString() + u' '
            + index.data().toString() + u' ' + index.siblingAtColumn(2).data().toString();
        print(model, index.siblingAtColumn(0), indent + QStringLiteral("  "), lines);
    }
}

TensorRow oneSided(const std::string &name, bool inA)
{
    TensorRow row = identicalRow(name, {{2}});
    row.status = inA ? ItemStatus::OnlyInA : ItemStatus::OnlyInB;
    row.pairedBy = PairedBy::Unpaired;
    (inA ? row.b : row.a).reset();
    (inA ? row.nameB : row.nameA).clear();
    return row;
}

/// A's names have a prefix that B's lack, and one has no counterpart at all.
std::shared_ptr<CheckpointComparison> prefixed()
{
    std::vector<TensorRow> rows;
    for (const std::string name : {"layers.0.w", "layers.1.w", "norm.w"}) {
        rows.push_back(oneSided("module." + name, true));
        rows.push_back(oneSided(name, false));
    }
    rows.push_back(oneSided("module.extra", true));
    rows.push_back(identicalRow("same", {{2}}));
    return makeComparison(std::move(rows), {});
}

} // namespace

class TestListPages : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void valuesFormATree();
    void pairingSaysWhoMetWhom();
    void adviceFindsTheAffix();
    void previewSaysWhatARuleWouldDo();
    void rulesCompareAnew();
    void notesAreShownCountedAndFiltered();
    void classesAreShown();
    void searchListsNan();
};

void TestListPages::valuesFormATree()
{
    ValueTreeModel model;
    QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    const auto comparison = makeComparison(
        {},
        {valueRow("opt.groups.0.lr", StateClass::Optimizer, Value::real(0.5), Value::real(0.25)),
         valueRow("opt.groups.0.wd", StateClass::Optimizer, Value::real(0), Value::real(0)),
         valueRow("step", StateClass::Counter, Value::integer(4), std::nullopt)});
    model.setRows(comparison, {0, 1, 2});
    QStringList lines;
    print(model, {}, {}, lines);
    QCOMPARE(
        lines,
        (QStringList{QStringLiteral("≠ opt 2 values, 1 differ"),
                     QStringLiteral("  ≠ groups 2 values, 1 differ"),
                     QStringLiteral("    ≠ 0 2 values, 1 differ"), QStringLiteral("      ≠ lr 0.5"),
                     QStringLiteral("      = wd 0.0"), QStringLiteral("◐ step 4")}));
    model.updateComparison(std::make_shared<CheckpointComparison>(*comparison));
    QCOMPARE(model.rowCount(), 2);
}

void TestListPages::pairingSaysWhoMetWhom()
{
    FakeViewContext context;
    context.checkpointComparison = prefixed();
    PairingPage page(&context);
    QVERIFY2(page.summary().startsWith(
                 QStringLiteral("1 of 8 tensors matched: 1 by exact · 4 only in A, 3 only in B.")),
             qPrintable(page.summary()));
    QAbstractItemModelTester tester(page.model(),
                                    QAbstractItemModelTester::FailureReportingMode::QtTest);
    QCOMPARE(page.model()->rowCount(), 8);
    page.setFilter(RowFilter(QStringLiteral("same"), false));
    QCOMPARE(page.model()->rowCount(), 1);
    using Column = PairingTableModel::Column;
    const auto cell = [&](Column column) {
        return page.model()->index(0, int(column)).data().toString();
    };
    QCOMPARE(cell(Column::Rule), QStringLiteral("exact"));
    QCOMPARE(cell(Column::A), QStringLiteral("same"));
    page.setFilter(RowFilter({}, true)); // only those that met nobody
    QCOMPARE(page.model()->rowCount(), 7);
}

void TestListPages::adviceFindsTheAffix()
{
    QCOMPARE(likelyRename(*prefixed()), std::optional<std::string>("s/^module.//"));
    QVERIFY(!likelyRename(*makeComparison({identicalRow("a", {{1}})}, {})));
    std::vector<TensorRow> rows;
    for (const std::string name : {"0.w", "1.w", "2.w"}) {
        rows.push_back(oneSided("encoder.h." + name, true));
        rows.push_back(oneSided("model.layers." + name, false));
    }
    QCOMPARE(likelyRename(*makeComparison(std::move(rows), {})),
             std::optional<std::string>("s/^encoder.h./model.layers./"));
}

void TestListPages::previewSaysWhatARuleWouldDo()
{
    const auto comparison = prefixed();
    const RenamePreview preview =
        previewRenames(*comparison, {RenameRule::parse("s/^module.//").value()});
    QCOMPARE(preview.matches, std::size_t(3));
    QCOMPARE(preview.renamed, std::size_t(4));
    QCOMPARE(preview.examples.front(),
             std::pair(std::string("module.layers.0.w"), std::string("layers.0.w")));
    QCOMPARE(previewRenames(*comparison, {RenameRule::parse("s/nothing//").value()}).matches,
             std::size_t(0));
}

void TestListPages::rulesCompareAnew()
{
    FakeViewContext context;
    context.checkpointComparison = prefixed();
    PairingPage page(&context);
    page.show();
    auto *edit = page.findChild<QLineEdit *>();
    QPushButton *apply = nullptr, *suggest = nullptr;
    for (QPushButton *button : page.findChildren<QPushButton *>())
        (button->text().startsWith(QStringLiteral("Try")) ? suggest : apply) = button;
    QVERIFY(apply && suggest && !apply->isEnabled());
    edit->setText(QStringLiteral("module"));
    QVERIFY(!apply->isEnabled()); // no rule, and the page says why
    QVERIFY(page.summary().contains(QStringLiteral("module: ")));
    suggest->click();
    QCOMPARE(edit->text(), QStringLiteral("s/^module.//"));
    QVERIFY(page.summary().contains(QStringLiteral("Would pair 3 tensors more; 4 names are")));
    apply->click();
    QCOMPARE(context.compareOptions.pairing.renames.size(), std::size_t(1));
    QCOMPARE(context.compareOptions.pairing.renames[0].from, std::string("module."));
    QVERIFY(context.compareOptions.pairing.renames[0].atStart);
}

void TestListPages::notesAreShownCountedAndFiltered()
{
    FakeViewContext context;
    fillLikeSamples(context);
    TensorList list(&context);
    auto *table = list.findChild<QTreeView *>(QStringLiteral("tensorTable"));
    QSignalSpy remembered(&context.notes(), &PairNotes::changedByUser);
    context.notes().setPinned("model.layers.2.qkv.bias", true);
    context.notes().setExpected("optimizer.state.0.exp_avg", true);
    context.notes().setExpected("model.layers.0.ln_2.weight", true); // equal: counts for nothing
    QCOMPARE(remembered.count(), 3);
    const auto says = [&](const QString &text) {
        const auto labels = list.findChildren<QLabel *>();
        return std::any_of(labels.begin(), labels.end(),
                           [&](QLabel *label) { return label->text().contains(text); });
    };
    QVERIFY(says(QStringLiteral("38 of 50 differ · 1 of them expected ✓"))); // nothing is hidden
    QCOMPARE(table->model()->rowCount(), 50);
    const auto trigger = [&](const QString &text) {
        for (QAction *action : list.findChildren<QAction *>())
            if (action->text().startsWith(text))
                action->trigger();
    };
    trigger(QStringLiteral("Only pinned"));
    QCOMPARE(table->model()->rowCount(), 1);
    QCOMPARE(table->model()->index(0, 1).data().toString(),
             QStringLiteral("★ model.layers.2.qkv.bias"));
    QCOMPARE(table->model()->index(0, 1).data(NameRole).toString(),
             QStringLiteral("model.layers.2.qkv.bias"));
    trigger(QStringLiteral("Everything"));
    QCOMPARE(table->model()->rowCount(), 50);
    trigger(QStringLiteral("Leave out expected"));
    QCOMPARE(table->model()->rowCount(), 48);
    QVERIFY(says(QStringLiteral("48 shown")));
    context.notes().replace({}, {});
    QCOMPARE(remembered.count(), 3); // another pair's notes are not the user's doing
}

void TestListPages::classesAreShown()
{
    FakeViewContext context;
    fillLikeSamples(context);
    TensorList list(&context);
    auto *table = list.findChild<QTreeView *>(QStringLiteral("tensorTable"));
    list.showClass(StateClass::Optimizer);
    QCOMPARE(table->model()->rowCount(), 1);
    auto *values = list.findChild<QTreeView *>(QStringLiteral("valueTable"));
    list.showClass(StateClass::Counter); // only values have it
    QCOMPARE(values->model()->rowCount(), 1);
    QVERIFY(values->isVisibleTo(&list));
    QTest::keyClick(&list, Qt::Key_Escape);
    QCOMPARE(table->model()->rowCount(), 50);
}

void TestListPages::searchListsNan()
{
    FakeViewContext context;
    fillLikeSamples(context);
    NonFiniteDock dock(&context);
    dock.search();
    QCOMPARE(context.nonFiniteRequests.size(), std::size_t(1));
    auto findings = std::make_shared<NonFiniteFindings>();
    findings->looked = 117;
    findings->tensors = {{"model.w", 2, 0, 0, 1}};
    findings->unread = {"broken: ends too early"};
    findings->complete = true;
    Q_EMIT context.nonFiniteReady(context.nonFiniteRequests.back(), findings);
    auto *view = dock.findChild<QTreeView *>();
    QCOMPARE(view->model()->rowCount(), 2);
    QCOMPARE(view->model()->index(0, 0).data().toString(), QStringLiteral("✖")); // gravest first
    QCOMPARE(view->model()->index(1, 2).data().toString(), QStringLiteral("2"));
    const auto labels = dock.findChildren<QLabel *>();
    QVERIFY(std::any_of(labels.begin(), labels.end(), [](QLabel *label) {
        return label->text()
            == QStringLiteral("step 12: 117 tensors of floating types looked at, 1 with NaN or "
                              "Inf, 1 not read.");
    }));
    QSignalSpy requested(&dock, &NonFiniteDock::itemRequested);
    Q_EMIT view->activated(view->model()->index(1, 1));
    QCOMPARE(requested[0][0].toString(), QStringLiteral("model.w"));
}

FP_WIDGET_TEST_MAIN(TestListPages)
#include "tst_list_pages.moc"
