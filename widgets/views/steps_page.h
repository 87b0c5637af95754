// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/view_context.h"

#include <QWidget>

class QLabel;
class QTreeView;

namespace forkpoint {

class HistoryTableModel;
class LinePlot;

/// The selected pair over the steps of both runs: how it differs, whether the difference is damped,
/// preserved or amplified, and what each run itself changed. Asks while it is seen.
class StepsPage : public QWidget
{
    Q_OBJECT

public:
    explicit StepsPage(ViewContext *context, QWidget *parent = nullptr);

    HistoryTableModel *model() const { return m_model; }

protected:
    void showEvent(QShowEvent *event) override;
    void changeEvent(QEvent *event) override;

private:
    bool hasSteps() const;
    void refreshTensor();
    void ask();
    void receive(quint64 id, std::shared_ptr<const TensorHistory> history);
    void plot();
    void describe(const QString &text);

    ViewContext *m_context;
    HistoryTableModel *m_model;
    QTreeView *m_view;
    LinePlot *m_plot;
    QLabel *m_note;
    QString m_name; ///< of the tensor that is, or would be, followed
    std::uint64_t m_askedId = 0;
};

} // namespace forkpoint
