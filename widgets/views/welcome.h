// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/view_context.h"

#include <QWidget>

class QLabel;
class QVBoxLayout;

namespace forkpoint {

class DropTarget;

/// Before anything is open: two large drop targets, recent pairs, the bundled samples.
class Welcome : public QWidget
{
    Q_OBJECT

public:
    explicit Welcome(ViewContext *context, QWidget *parent = nullptr);

    /// Reads recent pairs and samples anew.
    void refresh();

Q_SIGNALS:
    void openRequested(forkpoint::Side side);

protected:
    void showEvent(QShowEvent *event) override;
    void changeEvent(QEvent *event) override;

private:
    void enlargeHeading();
    void refreshSides();
    void fillRecent();
    void fillSamples();

    ViewContext *m_context;
    QLabel *m_heading = nullptr;
    DropTarget *m_targets[2];
    QLabel *m_missing; ///< which side a comparison still waits for
    QVBoxLayout *m_recent, *m_samples;
};

} // namespace forkpoint
