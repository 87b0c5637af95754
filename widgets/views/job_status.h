// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/view_context.h"

#include <QWidget>

class QLabel;
class QProgressBar;
class QTimer;
class QToolButton;

namespace forkpoint {

/// The status line: device, what the running job does, its bytes with rate, cancel, and how many
/// findings and problems there are.
class JobStatus : public QWidget
{
    Q_OBJECT

public:
    explicit JobStatus(ViewContext *context, QWidget *parent = nullptr);

    /// Shows a passing remark for five seconds.
    void showMessage(const QString &text);

Q_SIGNALS:
    void findingsRequested();
    void problemsRequested();

private:
    void refreshJob();
    void refreshCounts();

    ViewContext *m_context;
    QLabel *m_device, *m_text;
    QProgressBar *m_progress;
    QToolButton *m_cancel, *m_findings, *m_problems;
    QTimer *m_messageTimer;
};

} // namespace forkpoint
