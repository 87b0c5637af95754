// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/metric_pairs.h"

#include <QWidget>

class QLabel;
class QTreeView;

namespace forkpoint {

class CellTableModel;

/// The numbers that both sides logged: each with the step at which it differs first, the values
/// there and how much of them is known.
class MetricsPage : public QWidget
{
    Q_OBJECT

public:
    explicit MetricsPage(ViewContext *context, QWidget *parent = nullptr);

    QTreeView *view() const { return m_view; }
    bool hasMetrics() const { return !m_metrics.pairs().empty(); }
    /// Neither side has anything else.
    bool areMetricsAll() const;
    const MetricPair *selected() const; ///< until selectionChanged()
    /// False where there is none of that name, as it is displayed.
    bool select(const QString &name);

Q_SIGNALS:
    void selectionChanged();
    void metricChosen(const QString &name); ///< by the user, as it is displayed
    void message(const QString &text);      ///< for the status line

private:
    void refresh();
    void choose();

    ViewContext *m_context;
    CellTableModel *m_model;
    QTreeView *m_view;
    QLabel *m_counts;
    MetricPairs m_metrics;
    QString m_chosen; ///< the name of the one that was, which stays selected
    bool m_refreshing = false;
};

} // namespace forkpoint
