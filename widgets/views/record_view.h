// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/view_context.h"

#include <QWidget>

class QLabel;
class QPlainTextEdit;
class QToolButton;
class QTreeView;

namespace forkpoint {

class CellTableModel;
class StyledText;

/// One record of both sides: what it is, its tensors and values, and the lines that it comes from,
/// verbatim. The lines are asked for while it is seen.
class RecordView : public QWidget
{
    Q_OBJECT

public:
    explicit RecordView(ViewContext *context, QWidget *parent = nullptr);

    /// Null for none; the row is copied.
    void setRow(const RecordRow *row);
    QString summary() const;        ///< the header as plain text
    QString lines(Side side) const; ///< as shown
    CellTableModel *tensors() const { return m_tensors; }

Q_SIGNALS:
    void message(const QString &text);
    void tensorRequested();
    void namesakeRequested();

protected:
    void showEvent(QShowEvent *event) override;
    void resizeEvent(QResizeEvent *event) override;
    void changeEvent(QEvent *event) override;

private:
    QWidget *buildLines(Side side);
    void refreshHeader();
    void refreshTable();
    void makeRoom();
    void ask();
    void receive(quint64 id, std::shared_ptr<const RecordText> text);
    void showLines(const QString &instead);
    void copyLines(Side side);

    ViewContext *m_context;
    StyledText *m_header;
    CellTableModel *m_tensors;
    QTreeView *m_view;
    QLabel *m_nothing;  ///< where the table would be, of a record without a value
    QWidget *m_sources; ///< the lines of both
    QLabel *m_origins[2];
    QPlainTextEdit *m_lines[2];
    QToolButton *m_copy[2];
    QToolButton *m_open, *m_namesake;
    std::optional<RecordRow> m_row;
    std::shared_ptr<const RecordText> m_text;
    std::uint64_t m_askedId = 0;
    bool m_isPending = false;
};

} // namespace forkpoint
