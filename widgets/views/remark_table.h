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
    /// From now on columns are as wide as what they hold, and never cut a title. Where there is no
    /// room for that long texts are cut, then those of `first`; what is still too much is scrolled to.
    void fitColumns(std::vector<int> first);
    const RemarkListModel &model() const { return *m_model; }
    bool isEmpty() const { return m_model->rowCount() == 0; }
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

Q_SIGNALS:
    void roomChanged(); ///< sizeHint() did: the first row came, or the last one went
    void itemRequested(const QString &name); ///< show the tensor or value of that name

protected:
    void resizeEvent(QResizeEvent *event) override;
    void changeEvent(QEvent *event) override;

private:
    void fit();

    std::vector<int> m_narrowedFirst; ///< empty: widths are as they were given
    RemarkListModel *m_model;
    QTreeView *m_view;
    QLabel *m_empty;
};

} // namespace forkpoint
