// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/view_context.h"
#include "widgets/views/remark_table.h"

#include <QDockWidget>

class QLabel;

namespace forkpoint {

/// Tensors of the selected step that hold NaN or infinities, equal ones and one-sided ones too.
class NonFiniteDock : public QDockWidget
{
    Q_OBJECT

public:
    explicit NonFiniteDock(ViewContext *context, QWidget *parent = nullptr);

    void search(); ///< over the step that is selected now

Q_SIGNALS:
    void itemRequested(const QString &name);

private:
    void show(const NonFiniteFindings &findings);
    void describe(const QString &text);

    ViewContext *m_context;
    RemarkTable *m_table;
    QLabel *m_summary;
    QString m_step; ///< that was searched, for people
    std::uint64_t m_askedId = 0;
};

} // namespace forkpoint
