// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/menu_keys.h"

#include <QAction>
#include <QKeyEvent>
#include <QLineEdit>
#include <QMainWindow>

#include <algorithm>

namespace forkpoint {

namespace {

bool editsEverywhere(const QKeyEvent &key)
{
    constexpr QKeySequence::StandardKey Keys[] = {
        QKeySequence::Copy, QKeySequence::Cut,  QKeySequence::Paste,     QKeySequence::SelectAll,
        QKeySequence::Undo, QKeySequence::Redo, QKeySequence::Backspace, QKeySequence::Delete};
    return std::any_of(std::begin(Keys), std::end(Keys),
                       [&](QKeySequence::StandardKey each) { return key.matches(each); });
}

} // namespace

MenuKeys::MenuKeys(QMainWindow *window) : QObject(window), m_window(window)
{
    for (QLineEdit *line : window->findChildren<QLineEdit *>())
        line->installEventFilter(this);
}

bool MenuKeys::eventFilter(QObject *object, QEvent *event)
{
    if (event->type() != QEvent::ShortcutOverride)
        return QObject::eventFilter(object, event);
    const auto &key = static_cast<const QKeyEvent &>(*event);
    const bool isCommand = (key.modifiers() & Qt::ControlModifier) != 0 && !editsEverywhere(key);
    if (!isCommand)
        return false;
    const QKeySequence pressed(key.keyCombination());
    const QList<QAction *> actions = m_window->findChildren<QAction *>();
    const bool isOfMenu = std::any_of(actions.begin(), actions.end(), [&](const QAction *action) {
        return action->isEnabled() && action->shortcuts().contains(pressed);
    });
    if (isOfMenu)
        event->ignore(); // else the line would accept it
    return isOfMenu;
}

} // namespace forkpoint
