// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/view_context.h"

#include <QWidget>

class QCheckBox;
class QLabel;
class QLineEdit;
class QPushButton;
class QTreeView;

namespace forkpoint {

class PairingTableModel;
class RowFilter;

/// Which tensor met which by which rule, who met nobody, and rename rules with a preview of what
/// they would do.
class PairingPage : public QWidget
{
    Q_OBJECT

public:
    explicit PairingPage(ViewContext *context, QWidget *parent = nullptr);

    QTreeView *view() const { return m_view; }
    PairingTableModel *model() const { return m_model; }
    void setFilter(const RowFilter &filter);
    QString summary() const; ///< counts, and what would help

Q_SIGNALS:
    void rowsChanged();

private:
    void refresh();
    void preview();
    void apply();
    std::optional<std::vector<RenameRule>> typedRules(QString &problem) const;

    ViewContext *m_context;
    PairingTableModel *m_model;
    QTreeView *m_view;
    QLabel *m_summary, *m_preview;
    QLineEdit *m_rename;
    QCheckBox *m_strict;
    QPushButton *m_apply, *m_suggest;
};

} // namespace forkpoint
