// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/gui/arguments.h"
#include "widgets/view_context.h"

#include <QElapsedTimer>
#include <QTimer>

namespace forkpoint {

class MainWindow;

/// Leads the window to what the command line asks for: a step, a tensor, pages. With --screenshot it
/// waits until nothing more is coming, writes the window to a file and quits the application; an
/// ordinary start is led as soon as there is something to lead to. What is not there is said on
/// standard error, and in the window.
class StartingView final : public QObject
{
    Q_OBJECT

public:
    StartingView(const Arguments &arguments, ViewContext &context, MainWindow &window);

private:
    enum class Stage { Opening, Selecting, Showing, Settling };

    void look();
    bool isReady() const;
    bool hasFailed() const;
    void select();
    void show();
    void miss(const QString &option, const QString &text);
    void write();

    bool isPicture() const { return !m_arguments.screenshot.isEmpty(); }

    Arguments m_arguments;
    ViewContext &m_context;
    MainWindow &m_window;
    Stage m_stage = Stage::Opening;
    bool m_missing = false; ///< something asked for is not there: the picture is of less
    QTimer m_timer;
    QElapsedTimer m_quiet; ///< since something last changed
    QElapsedTimer m_since;
};

} // namespace forkpoint
