// SPDX-License-Identifier: GPL-3.0-or-later
// Values as a tree, pairing with its preview, notes, and the search for NaN.
#include "support/fake_view_context.h"
#include "widgets/models/pairing_table_model.h"
#include "widgets/models/tensor_table_model.h"
#include "widgets/models/value_tree_model.h"
#include "widgets/pairing_advice.h"
#include "widgets/roles.h"
#include "widgets/views/non_finite_dock.h"
#include "widgets/views/pairing_page.h"
#include "widgets/views/path_dialog.h"
#include "widgets/views/saving.h"
#include "widgets/views/table_actions.h"
#include "widgets/views/tensor_list.h"
#include "widgets/widget_test_main.h"

#include <QAbstractItemModelTester>
#include <QAction>
#include <QClipboard>
#include <QComboBox>
#include <QGuiApplication>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QTreeView>
#include <QUrl>

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
    void aRefusedPairHasRowsOfEachSide();
    void adviceFindsTheAffix();
    void previewSaysWhatARuleWouldDo();
    void rulesCompareAnew();
    void scopeAndGlobsCompareAnew();
    void aReportIsNotComparedAnew();
    void tablesAreSavedAsCsv();
    void rowsNamesAndCommandsAreCopied();
    void dialogsListThroughTheContext();
    void aTypedPathIsOpenedByReturn();
    void dialogsNameWhatIsSaved();
    void dialogsTakeAPathAsName();
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

void TestListPages::aRefusedPairHasRowsOfEachSide()
{
    auto refused = std::make_shared<CheckpointComparison>();
    refused->finished = true;
    refused->verdict.reason = "no step in common";
    TensorRow row;
    row.name = "w";
    row.a = 0;
    refused->tensors = {row, row};
    std::swap(refused->tensors[1].a, refused->tensors[1].b);
    FakeViewContext context;
    context.checkpointComparison = refused;
    PairingPage page(&context);
    QVERIFY2(page.summary().startsWith(QStringLiteral(
                 "Nothing was paired: no step in common. 1 tensor of A and 1 of B are listed")),
             qPrintable(page.summary()));
    TensorTableModel model;
    model.setComparison(refused);
    QCOMPARE(model.index(0, 0).data().toString(), QStringLiteral("? A"));
    QCOMPARE(model.index(1, 0).data().toString(), QStringLiteral("? B"));
    const auto *table = page.findChild<QTreeView *>();
    const int why = int(PairingTableModel::Column::Reason);
    QVERIFY(table->isColumnHidden(why)); // there is none
    auto told = std::make_shared<CheckpointComparison>(*refused);
    told->tensors[0].pairedReason = "prefix module.";
    context.setStep(told, std::nullopt);
    QVERIFY(!table->isColumnHidden(why));
}

void TestListPages::pairingSaysWhoMetWhom()
{
    FakeViewContext context;
    context.checkpointComparison = prefixed();
    PairingPage page(&context);
    QVERIFY2(page.summary().startsWith(QStringLiteral(
                 "1 of 8 tensors matched: 1 by exact name · 4 only in A, 3 only in B.")),
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

void TestListPages::scopeAndGlobsCompareAnew()
{
    FakeViewContext context;
    fillLikeSamples(context);
    PairingPage page(&context);
    QPushButton *apply = nullptr;
    for (QPushButton *button : page.findChildren<QPushButton *>())
        if (button->text() == QStringLiteral("Compare anew"))
            apply = button;
    QVERIFY(apply && !apply->isEnabled());
    const auto edit = [&](const QString &name) -> QLineEdit * {
        for (QLineEdit *each : page.findChildren<QLineEdit *>())
            if (each->accessibleName() == name)
                return each;
        return nullptr;
    };
    edit(QStringLiteral("Only names that match"))->setText(QStringLiteral("model.* optimizer.*"));
    edit(QStringLiteral("Without names that match"))->setText(QStringLiteral("*.bias"));
    // Of 50 tensors, 24 are biases of the 12 layers.
    QVERIFY2(page.summary().contains(QStringLiteral("Would leave out 24 of 50 tensors")),
             qPrintable(page.summary()));
    QAction *weights = nullptr;
    for (QAction *action : page.findChildren<QAction *>())
        if (action->text() == QStringLiteral("weights"))
            weights = action;
    QVERIFY(weights);
    weights->trigger();
    QVERIFY2(page.summary().contains(QStringLiteral("Would leave out 25 of 50 tensors")),
             qPrintable(page.summary()));
    apply->click();
    const PairingOptions &pairing = context.compareOptions.pairing;
    QVERIFY(pairing.include == (std::vector<std::string>{"model.*", "optimizer.*"}));
    QVERIFY(pairing.exclude == std::vector<std::string>{"*.bias"});
    QVERIFY(pairing.scope == std::vector<StateClass>{StateClass::Weights});
    QVERIFY(!apply->isEnabled());
}

void TestListPages::aReportIsNotComparedAnew()
{
    FakeViewContext context;
    fillLikeSamples(context);
    context.report = QStringLiteral("fork.json");
    PairingPage page(&context);
    page.findChild<QLineEdit *>()->setText(QStringLiteral("s/a/b/"));
    for (const QPushButton *button : page.findChildren<QPushButton *>())
        QVERIFY(!button->isEnabled() || button->isHidden());
    QVERIFY(page.summary().contains(QStringLiteral("A report cannot be compared anew")));
}

void TestListPages::tablesAreSavedAsCsv()
{
    FakeViewContext context;
    context.checkpointComparison =
        makeComparison({identicalRow("=cmd()", {{2}}), identicalRow("a,\"b\"", {{2, 3}})}, {});
    TensorList list(&context);
    auto *table = list.findChild<QTreeView *>(QStringLiteral("tensorTable"));
    QTRY_COMPARE(table->model()->rowCount(), 2);
    QByteArray csv;
    writeTable(table, [&](const QByteArray &written) { csv = written; });
    QTRY_VERIFY(!csv.isEmpty());
    QStringList lines = QString::fromUtf8(csv).split(u'\n');
    QCOMPARE(lines.size(), 4); // a header, two rows, and nothing after the last
    QVERIFY2(lines[0].startsWith(QStringLiteral("sign,tensor,")), qPrintable(lines[0]));
    QVERIFY2(lines[1].startsWith(QStringLiteral("=,\\x3dcmd(),2,"))
                 || lines[1].startsWith(QStringLiteral("\\x3d,\\x3dcmd(),2,")),
             qPrintable(lines[1]));
    QVERIFY2(lines[2].contains(QStringLiteral(",\"a,\"\"b\"\"\",2×3,")), qPrintable(lines[2]));
    // A table that changes meanwhile is not saved by halves.
    bool answered = false;
    csv = "unset";
    writeTable(table, [&](const QByteArray &written) {
        answered = true;
        csv = written;
    });
    context.setStep(makeComparison({identicalRow("other", {{2}})}, {}), 1);
    QTRY_VERIFY(answered);
    QVERIFY(csv.isEmpty());
    QCOMPARE(csvCell(QStringLiteral("-2.5e-05")), QStringLiteral("-2.5e-05")); // a number
    QCOMPARE(csvCell(QStringLiteral("-x")), QStringLiteral("\\x2dx"));
}

void TestListPages::rowsNamesAndCommandsAreCopied()
{
    FakeViewContext context;
    fillLikeSamples(context);
    TensorList list(&context);
    auto *table = list.findChild<QTreeView *>(QStringLiteral("tensorTable"));
    QTRY_VERIFY(table->model()->rowCount() > 0);
    table->setCurrentIndex(table->model()->index(0, 1));
    const auto copied = [&](const QString &text) {
        for (QAction *action : table->actions())
            if (action->text() == text)
                action->trigger();
        return QGuiApplication::clipboard()->text();
    };
    const QString name = table->currentIndex().data(NameRole).toString();
    QVERIFY(!name.isEmpty());
    QCOMPARE(copied(QStringLiteral("Copy name")), name);
    QCOMPARE(copied(QStringLiteral("Copy forkpoint-cli compare command")), context.commandLine());
    QVERIFY(copied(QStringLiteral("Copy rows")).contains(name + u'\t'));
    table->setCurrentIndex(table->model()->index(0, 2));
    QCOMPARE(copied(QStringLiteral("Copy cell")), table->currentIndex().data().toString());

    // "Open the folder" hands a path to the desktop and looks at nothing.
    context.sides[0].path = QStringLiteral("/no/such/run/model.pt");
    context.sides[0].steps.clear();
    QCOMPARE(folderUrl(context, Side::A), QUrl::fromLocalFile(QStringLiteral("/no/such/run")));
    context.sides[1].path = QStringLiteral("/no/such/series");
    context.sides[1].steps = {{4, "a", true}, {8, "b", true}};
    QCOMPARE(folderUrl(context, Side::B), QUrl::fromLocalFile(QStringLiteral("/no/such/series")));
}

void TestListPages::dialogsListThroughTheContext()
{
    FakeViewContext context;
    auto *dialog =
        new PathDialog(&context, PathDialog::Mode::Open, QStringLiteral("Open A"), nullptr);
    QSignalSpy chosen(dialog, &PathDialog::pathChosen);
    dialog->open();
    QCOMPARE(context.folderRequests.size(), std::size_t(1));
    QCOMPARE(context.folderRequests[0].second, context.folder);
    FolderListing listing{"/home/user", {{"runs", true, 0}, {"model.pt", false, 3}}, true};
    const auto answer = [&](FolderListing &&folder) {
        Q_EMIT context.folderListed(context.folderRequests.back().first,
                                    std::make_shared<const FolderListing>(std::move(folder)));
    };
    answer(std::move(listing));
    auto *view = dialog->findChild<QTreeView *>();
    QCOMPARE(view->model()->rowCount(), 2);
    QCOMPARE(view->model()->index(0, 0).data().toString(), QStringLiteral("runs/"));
    Q_EMIT view->activated(view->model()->index(0, 0)); // a folder is entered
    QCOMPARE(context.folderRequests.back().second, QStringLiteral("/home/user/runs"));
    QCOMPARE(view->model()->rowCount(), 0); // nothing of the old one while the new one is listed
    Q_EMIT context.requestFailed(context.folderRequests.back().first,
                                 QStringLiteral("cannot be listed: it is gone"));
    QStringList labels;
    for (const QLabel *label : dialog->findChildren<QLabel *>())
        labels += label->text();
    QVERIFY2(labels.contains(QStringLiteral("cannot be listed: it is gone")),
             qPrintable(labels.join(u'|')));
    dialog->showFolder(QStringLiteral("/home/user"));
    answer({"/home/user", {{"runs", true, 0}, {"model.pt", false, 3}}, true});
    Q_EMIT view->activated(view->model()->index(1, 0)); // a file is chosen
    QCOMPARE(chosen.count(), 1);
    QCOMPARE(chosen[0][0].toString(), QStringLiteral("/home/user/model.pt"));
    QCOMPARE(context.folder, QStringLiteral("/home/user"));
    QVERIFY(context.calls.contains(QStringLiteral("stopListing")));
}

void TestListPages::aTypedPathIsOpenedByReturn()
{
    FakeViewContext context;
    auto *dialog =
        new PathDialog(&context, PathDialog::Mode::Open, QStringLiteral("Open A"), nullptr);
    QSignalSpy chosen(dialog, &PathDialog::pathChosen);
    dialog->open();
    auto *path = qobject_cast<QLineEdit *>(dialog->focusWidget());
    QVERIFY(path);
    const auto go = [&](const QString &text) {
        path->setText(text);
        QTest::keyClick(path, Qt::Key_Return);
        QCOMPARE(context.folderRequests.back().second, QStringLiteral("/home/user"));
        Q_EMIT context.folderListed(
            context.folderRequests.back().first,
            std::make_shared<const FolderListing>(
                FolderListing{"/home/user", {{"runs", true, 0}, {"model.pt", false, 3}}, true}));
    };
    go(QStringLiteral("/home/user/runs")); // a folder is shown
    QCOMPARE(context.folderRequests.back().second, QStringLiteral("/home/user/runs"));
    go(QStringLiteral("/home/user/gone")); // what is not there is asked for, which says why
    QCOMPARE(context.folderRequests.back().second, QStringLiteral("/home/user/gone"));
    QCOMPARE(chosen.count(), 0);
    go(QStringLiteral("../model.pt"));
    QCOMPARE(chosen.count(), 1);
    QCOMPARE(chosen[0][0].toString(), QStringLiteral("/home/user/model.pt"));
}

void TestListPages::dialogsNameWhatIsSaved()
{
    FakeViewContext context;
    auto *dialog =
        new PathDialog(&context, PathDialog::Mode::Save, QStringLiteral("Save"), nullptr);
    dialog->suggest(QStringLiteral("report"),
                    {{QStringLiteral("Web page"), QStringLiteral("html")},
                     {QStringLiteral("JSON"), QStringLiteral("json")}});
    QSignalSpy chosen(dialog, &PathDialog::pathChosen);
    dialog->open();
    Q_EMIT context.folderListed(context.folderRequests.back().first,
                                std::make_shared<const FolderListing>(FolderListing{
                                    "/home/user", {{"report.json", false, 3}}, true}));
    auto *kind = dialog->findChild<QComboBox *>();
    const auto button = [&](const QString &text) -> QPushButton * {
        for (QPushButton *each : dialog->findChildren<QPushButton *>())
            if (each->text() == text)
                return each;
        return nullptr;
    };
    QVERIFY(button(QStringLiteral("Save")));
    kind->setCurrentIndex(1); // the suffix follows, and a file of that name is there
    QPushButton *replace = button(QStringLiteral("Replace"));
    QVERIFY(replace);
    replace->click();
    QCOMPARE(chosen.count(), 1);
    QCOMPARE(chosen[0][0].toString(), QStringLiteral("/home/user/report.json"));
}

/// A path that is typed as the name shows its folder first, and is no part of the one that is shown.
void TestListPages::dialogsTakeAPathAsName()
{
    FakeViewContext context;
    auto *dialog =
        new PathDialog(&context, PathDialog::Mode::Save, QStringLiteral("Save"), nullptr);
    dialog->suggest(QStringLiteral("report"), {{QStringLiteral("JSON"), QStringLiteral("json")}});
    QSignalSpy chosen(dialog, &PathDialog::pathChosen);
    dialog->open();
    auto *name = qobject_cast<QLineEdit *>(dialog->focusWidget());
    QVERIFY(name);
    name->setText(QStringLiteral("/tmp/elsewhere/out.json"));
    QTest::keyClick(name, Qt::Key_Return);
    QCOMPARE(chosen.count(), 0);
    QCOMPARE(context.folderRequests.back().second, QStringLiteral("/tmp/elsewhere"));
    QCOMPARE(name->text(), QStringLiteral("out.json"));
    QTest::keyClick(name, Qt::Key_Return);
    QCOMPARE(chosen.count(), 1);
    QCOMPARE(chosen[0][0].toString(), QStringLiteral("/tmp/elsewhere/out.json"));
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
