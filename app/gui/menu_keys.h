// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>

class QMainWindow;

namespace forkpoint {

/// Keys of the menu work while a line of text has the focus: Qt's lines take some of them for themselves
/// (Ctrl+E goes to the end of the line, Ctrl+D deletes). Keys by which text is edited everywhere stay theirs.
class MenuKeys final : public QObject
{
public:
    /// For all lines that `window` has by now.
    explicit MenuKeys(QMainWindow *window);

    bool eventFilter(QObject *object, QEvent *event) override;

private:
    QMainWindow *m_window;
};

} // namespace forkpoint
