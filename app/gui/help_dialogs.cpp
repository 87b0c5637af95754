// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/help_dialogs.h"

#include <QAction>
#include <QDialog>
#include <QDialogButtonBox>
#include <QHeaderView>
#include <QLabel>
#include <QMainWindow>
#include <QMenu>
#include <QMenuBar>
#include <QTreeWidget>
#include <QVBoxLayout>

namespace forkpoint {

namespace {

QDialog *makeDialog(QWidget *window, const QString &title, QWidget *content)
{
    auto *dialog = new QDialog(window);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setWindowTitle(title);
    auto *buttons = new QDialogButtonBox(QDialogButtonBox::Close, dialog);
    QObject::connect(buttons, &QDialogButtonBox::rejected, dialog, &QDialog::reject);
    auto *layout = new QVBoxLayout(dialog);
    layout->addWidget(content);
    layout->addWidget(buttons);
    return dialog;
}

void addActions(QTreeWidgetItem *group, const QMenu *menu)
{
    for (const QAction *action : menu->actions()) {
        if (action->menu()) {
            addActions(group, action->menu());
            continue;
        }
        if (action->shortcut().isEmpty())
            continue;
        QString text = action->text();
        text.remove(u'&');
        new QTreeWidgetItem(group, {text, action->shortcut().toString(QKeySequence::NativeText)});
    }
}

} // namespace

namespace {

/// Keys that a view answers while it has the focus; no menu has them.
void addViewKeys(QTreeWidget *list)
{
    const auto group = [list](const QString &title,
                              std::initializer_list<std::pair<QString, QString>> keys) {
        auto *item = new QTreeWidgetItem(list, {title});
        for (const auto &[action, key] : keys)
            new QTreeWidgetItem(item, {action, key});
    };
    const auto tr = [](const char *text) { return QObject::tr(text); };
    group(tr("In the step strip"),
          {{tr("Previous, next step"), tr("Left, Right")},
           {tr("First, last step"), tr("Home, End")},
           {tr("Closer, farther"), tr("+, -")},
           {tr("Pan"), tr("Ctrl+Left, Ctrl+Right")}});
    group(tr("In the lists"),
          {{tr("Take off every filter"), tr("Esc")},
           {tr("Copy rows"), tr("Ctrl+C")},
           {tr("Menu of the row"), tr("Menu, Shift+F10")}});
    group(tr("In the histogram"),
          {{tr("Choose a bin"), tr("Left, Right")},
           {tr("Choose several"), tr("Shift+Left, Shift+Right")},
           {tr("Take the filter off"), tr("Esc")}});
    group(tr("In the heat map"),
          {{tr("Choose a cell"), tr("arrow keys")},
           {tr("Draw a box"), tr("Shift and the arrow keys")},
           {tr("Filter the elements by it"), tr("Return")},
           {tr("Look closer at it"), tr("+")},
           {tr("The whole tensor"), tr("-, Home")},
           {tr("Take the box off"), tr("Esc")}});
    group(tr("In the element table"),
          {{tr("Extend the selection"), tr("Shift and the arrow keys")},
           {tr("First, last row"), tr("Home, End")},
           {tr("Copy rows"), tr("Ctrl+C")}});
}

} // namespace

void showShortcuts(QWidget *window)
{
    auto *list = new QTreeWidget;
    list->setHeaderLabels({QObject::tr("Action"), QObject::tr("Shortcut")});
    list->setRootIsDecorated(false);
    list->setAlternatingRowColors(true);
    list->setAccessibleName(QObject::tr("Shortcuts"));
    if (const auto *mainWindow = qobject_cast<QMainWindow *>(window)) {
        for (const QAction *entry : mainWindow->menuBar()->actions()) {
            QString title = entry->text();
            title.remove(u'&');
            auto *group = new QTreeWidgetItem(list, {title});
            if (entry->menu())
                addActions(group, entry->menu());
        }
    }
    addViewKeys(list);
    list->expandAll();
    QFont bold = list->font();
    bold.setBold(true);
    for (int group = 0; group < list->topLevelItemCount(); ++group)
        list->topLevelItem(group)->setFont(0, bold);
    list->header()->setStretchLastSection(false);
    list->header()->setSectionResizeMode(0, QHeaderView::Stretch);
    list->header()->setSectionResizeMode(1, QHeaderView::ResizeToContents);
    QDialog *dialog = makeDialog(window, QObject::tr("Shortcuts"), list);
    dialog->resize(dialog->fontMetrics().averageCharWidth() * 84,
                   dialog->fontMetrics().height() * 34);
    dialog->show();
}

void showAbout(QWidget *window)
{
    const QString text =
        QObject::tr("<h3>Forkpoint %1</h3>"
                    "<p>Finds where two training runs part.</p>"
                    "<p>Free software under the GNU General Public License, version 3 or later. "
                    "There is no warranty.</p>"
                    "<p>Built on<br>Qt %2 (LGPL-3.0)<br>QCustomPlot (GPL-3.0-or-later)<br>"
                    "zlib (Zlib)<br>OpenSSL, SHA-256 (Apache-2.0)<br>"
                    "nlohmann-json (MIT)<br>CLI11 (BSD-3-Clause)</p>")
            .arg(QStringLiteral(FORKPOINT_VERSION), QString::fromLatin1(qVersion()));
    auto *label = new QLabel(text);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    makeDialog(window, QObject::tr("About Forkpoint"), label)->show();
}

} // namespace forkpoint
