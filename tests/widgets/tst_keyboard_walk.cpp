// SPDX-License-Identifier: GPL-3.0-or-later
// An investigation by the keyboard alone: from two paths to a report.
#include "viewer_fixture.h"
#include "widget_test_main.h"
#include "widgets/views/element_view.h"
#include "widgets/views/path_dialog.h"
#include "widgets/views/tensor_detail.h"
#include "widgets/views/tensor_list.h"

#include <QApplication>
#include <QClipboard>
#include <QLineEdit>
#include <QSettings>
#include <QTemporaryDir>
#include <QTest>
#include <QTreeView>

using namespace forkpoint;

class TestKeyboardWalk : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void fromTwoPathsToAReport();

private:
    static void press(Qt::Key key, Qt::KeyboardModifiers with = {});
    static void typePath(const Viewer &viewer, const QString &path);

    QTemporaryDir m_folder;
};

/// Wherever the keyboard is.
void TestKeyboardWalk::press(Qt::Key key, Qt::KeyboardModifiers with)
{
    QTest::keyClick(QApplication::focusWidget() ? QApplication::focusWidget()
                                                : QApplication::activeWindow(),
                    key, with);
}

/// Tabs to the line of the path, types it and goes on with Return, and Tab to the button.
void TestKeyboardWalk::typePath(const Viewer &viewer, const QString &path)
{
    QTRY_VERIFY(QApplication::activeWindow() != &viewer.window);
    auto *dialog = qobject_cast<PathDialog *>(QApplication::activeWindow());
    QVERIFY(dialog);
    QTRY_VERIFY(QApplication::focusWidget());
    for (int i = 0; i < 20 && !qobject_cast<QLineEdit *>(QApplication::focusWidget()); ++i)
        press(Qt::Key_Tab);
    auto *line = qobject_cast<QLineEdit *>(QApplication::focusWidget());
    QVERIFY(line);
    press(Qt::Key_A, Qt::ControlModifier);
    QTest::keyClicks(line, path);
    const bool saves = dialog->windowTitle().startsWith(QStringLiteral("Export"));
    press(saves ? Qt::Key_Return : Qt::Key_O, saves ? Qt::NoModifier : Qt::AltModifier);
}

void TestKeyboardWalk::fromTwoPathsToAReport()
{
    QVERIFY(m_folder.isValid());
    QSettings::setPath(QSettings::NativeFormat, QSettings::UserScope, m_folder.path());
    Viewer viewer;
    viewer.window.activateWindow();
    QTRY_VERIFY(viewer.window.isActiveWindow());
    press(Qt::Key_O, Qt::ControlModifier | Qt::AltModifier);
    typePath(viewer, SampleA);
    QTRY_VERIFY(QApplication::activeWindow()->windowTitle().contains(QStringLiteral("B")));
    typePath(viewer, SampleC);
    QTRY_VERIFY_WITH_TIMEOUT(viewer.finished(), Patience);
    viewer.window.activateWindow(); // as a window manager does once a dialog is gone
    QTRY_VERIFY(viewer.window.isActiveWindow());

    // It opens where the runs part, with the keyboard in the list; Return leads to the elements.
    auto *list = viewer.window.findChild<QTreeView *>(QStringLiteral("tensorTable"));
    QTRY_COMPARE(QApplication::focusWidget(), static_cast<QWidget *>(list));
    const std::string first = "optimizer.state.0.exp_avg";
    QTRY_VERIFY(viewer.context.selectedTensor() == viewer.rowOf(first));
    press(Qt::Key_Return);
    auto *elements = viewer.find<TensorDetail>()->elementView();
    QCOMPARE(QApplication::focusWidget(), static_cast<QWidget *>(elements));
    QTRY_VERIFY_WITH_TIMEOUT(elements->currentElement(), Patience);
    press(Qt::Key_Down);
    QCOMPARE(elements->currentRow(), std::uint64_t(1));

    press(Qt::Key_C, Qt::ControlModifier | Qt::AltModifier);
    const QString command = QApplication::clipboard()->text();
    QVERIFY2(command.startsWith(QStringLiteral("forkpoint-cli elements "))
                 && command.contains(QString::fromStdString(first)),
             qPrintable(command));
    press(Qt::Key_E, Qt::ControlModifier | Qt::ShiftModifier);
    QVERIFY(viewer.context.notes().isExpected(first));
    press(Qt::Key_E, Qt::ControlModifier | Qt::ShiftModifier);
    QVERIFY(!viewer.context.notes().isExpected(first));
    press(Qt::Key_B, Qt::ControlModifier);
    QVERIFY(viewer.context.notes().isPinned(first));

    const QString report = m_folder.filePath(QStringLiteral("report.html"));
    viewer.context.setLastFolder(FolderUse::Save, m_folder.path());
    press(Qt::Key_F, Qt::ControlModifier); // a line of text, of which Ctrl+E would be the end
    QVERIFY(qobject_cast<QLineEdit *>(QApplication::focusWidget()));
    press(Qt::Key_E, Qt::ControlModifier);
    typePath(viewer, QStringLiteral("report.html"));
    QTRY_VERIFY_WITH_TIMEOUT(QFile::exists(report), 10'000);
    viewer.window.activateWindow();
    QTRY_VERIFY(viewer.window.isActiveWindow());
    press(Qt::Key_F5);
    QTRY_VERIFY(!viewer.finished() || viewer.jobs.starts > 2);
    QTRY_VERIFY_WITH_TIMEOUT(viewer.finished(), Patience);
    QTRY_VERIFY(viewer.context.selectedTensor() == viewer.rowOf(first)); // as before
}

FP_WIDGET_TEST_MAIN(TestKeyboardWalk)
#include "tst_keyboard_walk.moc"
