// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/models/remark_list_model.h"
#include "widgets/view_context.h"

#include <QStackedWidget>

#include <vector>

class QLabel;
class QTreeView;

namespace forkpoint {

/// Remarks as a table whose rows can be copied and followed, or a sentence while there are none.
class RemarkTable : public QStackedWidget
{
    Q_OBJECT

public:
    /// `characters` a column, the sign's first; 0 stretches.
    RemarkTable(ViewContext *context, const QString &accessibleName, const QStringList &columns,
                const std::vector<int> &characters, QWidget *parent);

    void setRows(std::vector<Remark> rows);
    void setEmptyText(const QString &text);
    const RemarkListModel &model() const { return *m_model; }
    bool isEmpty() const { return m_model->rowCount() == 0; }
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

Q_SIGNALS:
    void roomChanged(); ///< sizeHint() did: the first row came, or the last one went
    void itemRequested(const QString &name); ///< show the tensor or value of that name

private:
    RemarkListModel *m_model;
    QTreeView *m_view;
    QLabel *m_empty;
};

} // namespace forkpoint
