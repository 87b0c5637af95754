// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/view_context.h"

#include <QWidget>

class QCheckBox;
class QLabel;
class QLineEdit;
class QPushButton;
class QToolButton;
class QTreeView;

namespace forkpoint {

class PairingTableModel;
class RowFilter;

/// Which tensor met which by which rule, who met nobody, and what decides it: rename rules, with a
/// preview of what they would do, and which items are compared at all.
class PairingPage : public QWidget
{
    Q_OBJECT

public:
    explicit PairingPage(ViewContext *context, QWidget *parent = nullptr);

    QTreeView *view() const { return m_view; }
    PairingTableModel *model() const { return m_model; }
    void setFilter(const RowFilter &filter);
    void setRenameRules(const QString &rules); ///< as typed: previewed, not applied
    QString summary() const;                   ///< counts, and what would help

Q_SIGNALS:
    void rowsChanged();

private:
    void refresh();
    void preview();
    void setPreview(const QString &text);
    void apply();
    void buildScope();
    void showOptions(const PairingOptions &options);
    std::optional<PairingOptions> typed(QString &problem) const;
    QString leftOut(const PairingOptions &options) const;

    ViewContext *m_context;
    PairingTableModel *m_model;
    QTreeView *m_view;
    QLabel *m_summary, *m_preview;
    QLineEdit *m_rename, *m_include, *m_exclude;
    QToolButton *m_scope; ///< a menu of classes; none is checked: all of them
    QCheckBox *m_strict;
    QPushButton *m_apply, *m_suggest;
};

} // namespace forkpoint
