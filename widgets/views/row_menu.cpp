// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/row_menu.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QMenu>
#include <QTreeView>

namespace forkpoint {

namespace {

QString tr(const char *text)
{
    return QCoreApplication::translate("RowMenu", text);
}

void addCopy(QMenu *menu, const QString &title, const QString &text)
{
    QObject::connect(menu->addAction(title), &QAction::triggered, menu,
                     [text] { QGuiApplication::clipboard()->setText(text); });
}

void addNotes(QMenu *menu, PairNotes &notes, const std::string &name)
{
    const auto add = [&](const QString &title, bool checked, auto set) {
        QAction *action = menu->addAction(title);
        action->setCheckable(true);
        action->setChecked(checked);
        QObject::connect(action, &QAction::toggled, &notes, set);
    };
    add(tr("Pinned ★"), notes.isPinned(name),
        [&notes, name](bool on) { notes.setPinned(name, on); });
    add(tr("Difference is expected ✓"), notes.isExpected(name),
        [&notes, name](bool on) { notes.setExpected(name, on); });
}

} // namespace

void showRowMenu(QTreeView *view, ViewContext *context, const QPoint &position,
                 const std::string &name, bool isTensor)
{
    auto *menu = new QMenu(view);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    menu->addActions(view->actions());
    menu->addSeparator();
    if (!name.empty()) {
        addNotes(menu, context->notes(), name);
        menu->addSeparator();
    }
    if (isTensor && !name.empty())
        addCopy(menu, tr("Copy forkpoint-cli elements command"),
                context->elementsCommand(name, ElementOrder::Largest));
    menu->popup(view->viewport()->mapToGlobal(position));
}

} // namespace forkpoint
