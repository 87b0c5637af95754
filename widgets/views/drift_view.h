// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/view_context.h"

#include <QWidget>

class QComboBox;
class QLabel;
class QTreeView;

namespace forkpoint {

class CellTableModel;
class LinePlot;

/// One record over the steps of both traces: where it differs, and how far a number that the tool
/// recorded beside the digest drifts. Asks while it is seen.
class DriftView : public QWidget
{
    Q_OBJECT

public:
    explicit DriftView(ViewContext *context, QWidget *parent = nullptr);

    /// Null for none.
    void setRow(const RecordRow *row, std::size_t rank);
    QString note() const;
    CellTableModel *model() const { return m_model; }

Q_SIGNALS:
    void stepRequested(std::int64_t step);
    void message(const QString &text);

protected:
    void showEvent(QShowEvent *event) override;
    void changeEvent(QEvent *event) override;

private:
    void ask();
    void receive(quint64 id, std::shared_ptr<const RecordDrift> drift);
    void refresh();
    void fillStatistics();

    ViewContext *m_context;
    QLabel *m_note;
    QComboBox *m_statistic;
    LinePlot *m_plot;
    CellTableModel *m_model;
    QTreeView *m_view;
    std::optional<DriftQuery> m_query;
    QString m_name;
    std::shared_ptr<const RecordDrift> m_drift;
    std::uint64_t m_askedId = 0;
    bool m_isPending = false;
};

} // namespace forkpoint
