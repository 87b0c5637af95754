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

void showShortcuts(QWidget *window)
{
    auto *list = new QTreeWidget;
    list->setHeaderLabels({QObject::tr("Action"), QObject::tr("Shortcut")});
    list->setRootIsDecorated(false);
    list->setAlternatingRowColors(true);
    if (const auto *mainWindow = qobject_cast<QMainWindow *>(window)) {
        for (const QAction *entry : mainWindow->menuBar()->actions()) {
            QString title = entry->text();
            title.remove(u'&');
            auto *group = new QTreeWidgetItem(list, {title});
            if (entry->menu())
                addActions(group, entry->menu());
        }
    }
    list->expandAll();
    list->header()->setSectionResizeMode(0, QHeaderView::Stretch);
    QDialog *dialog = makeDialog(window, QObject::tr("Shortcuts"), list);
    dialog->resize(dialog->fontMetrics().averageCharWidth() * 70,
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
