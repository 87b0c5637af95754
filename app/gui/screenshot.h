// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/gui/arguments.h"
#include "widgets/view_context.h"

#include <QElapsedTimer>
#include <QTimer>

namespace forkpoint {

class MainWindow;

/// Waits until nothing more is coming, selects what was asked for, writes the window to a file and
/// quits the application.
class Screenshot final : public QObject
{
    Q_OBJECT

public:
    Screenshot(const Arguments &arguments, ViewContext &context, MainWindow &window);

private:
    enum class Stage { Comparing, Selecting, Showing, Settling };

    void look();
    bool busy() const;
    void select();
    void write();

    Arguments m_arguments;
    ViewContext &m_context;
    MainWindow &m_window;
    Stage m_stage = Stage::Comparing;
    bool m_missing = false; ///< something asked for is not there: the picture is of less
    QTimer m_timer;
    QElapsedTimer m_quiet; ///< since something last changed
    QElapsedTimer m_since;
};

} // namespace forkpoint
