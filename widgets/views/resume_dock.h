// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/view_context.h"
#include "widgets/views/remark_table.h"

#include <QDockWidget>

class QLabel;

namespace forkpoint {

/// What a resume of the selected step needs, on both sides: equal or not, and whether each checkpoint
/// agrees with itself. What differs or contradicts itself stands first.
class ResumeDock : public QDockWidget
{
    Q_OBJECT

public:
    explicit ResumeDock(ViewContext *context, QWidget *parent = nullptr);

Q_SIGNALS:
    void itemRequested(const QString &name);

private:
    void refresh();

    ViewContext *m_context;
    RemarkTable *m_table;
    QLabel *m_summary;
    std::shared_ptr<const CheckpointComparison> m_shown;
};

} // namespace forkpoint
