// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/view_context.h"

#include <QWidget>

class QLabel;
class QTreeView;

namespace forkpoint {

class LinePlot;
class MetricsPage;
class MetricStepModel;

/// The metric that is selected in the list: the curves of both sides and its numbers by step.
class MetricDetail : public QWidget
{
    Q_OBJECT

public:
    MetricDetail(ViewContext *context, MetricsPage *metrics, QWidget *parent = nullptr);

    MetricStepModel *model() const { return m_model; }

Q_SIGNALS:
    void message(const QString &text); ///< for the status line

protected:
    void paintEvent(QPaintEvent *event) override;
    void changeEvent(QEvent *event) override;

private:
    void refresh();
    void plot();

    ViewContext *m_context;
    MetricsPage *m_metrics;
    MetricStepModel *m_model;
    QLabel *m_title, *m_note;
    LinePlot *m_plot;
    QTreeView *m_view;
};

} // namespace forkpoint
