// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/view_context.h"

#include <QWidget>

#include <vector>

class QAction;

namespace forkpoint {

/// The scrubber: a lane of a metric's B-A with the precision known, and a lane of checkpoints with a
/// mark per step. Click, arrow keys, Home and End select; the wheel zooms, dragging pans.
class StepStrip : public QWidget
{
    Q_OBJECT

public:
    explicit StepStrip(ViewContext *context, QWidget *parent = nullptr);

    QAction *nextDifferenceAction() const { return m_next; }         ///< F8
    QAction *previousDifferenceAction() const { return m_previous; } ///< Shift+F8
    QAction *zoomToFitAction() const { return m_fit; }               ///< Ctrl+0

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

    /// What one pixel column of the checkpoint lane shows: the most telling of its marks.
    struct Column
    {
        int x = 0;
        StepStatus status = StepStatus::Identical;
        std::size_t first = 0, last = 0; ///< marks, inclusive
    };
    std::vector<Column> columns() const; ///< as painted at the present zoom
    /// "0 at every common step (every bit known)", as written in the metric lane.
    QString metricSummary() const;

protected:
    void paintEvent(QPaintEvent *event) override;
    void mousePressEvent(QMouseEvent *event) override;
    void mouseMoveEvent(QMouseEvent *event) override;
    void mouseReleaseEvent(QMouseEvent *event) override;
    void wheelEvent(QWheelEvent *event) override;
    void keyPressEvent(QKeyEvent *event) override;
    bool event(QEvent *event) override;

private:
    struct MetricDelta
    {
        Step step = 0;
        double delta = 0.0;
        bool bitsDiffer = false;
    };

    void refresh();
    void refreshMetric();
    void measureLabels();
    void zoomToFit();
    void zoomAt(double x, double factor);
    void clampRange();
    void select(std::size_t mark);
    void jump(bool backward);
    static constexpr std::size_t NoMark = ~std::size_t(0);
    std::size_t selectedMark() const; ///< or NoMark
    std::optional<std::size_t> markAt(int x) const;
    QString toolTipAt(const QPoint &position) const;

    double xOf(double step) const;
    double stepAt(double x) const;
    double pixelsPerStep() const;
    QRect plotArea() const;
    int metricHeight() const;
    int laneHeight() const;

    void paintMetric(QPainter &painter, const QRect &lane) const;
    void paintMarks(QPainter &painter, const QRect &lane) const;
    void paintAxis(QPainter &painter, const QRect &lane) const;
    void paintEmpty(QPainter &painter) const;

    ViewContext *m_context;
    QAction *m_next, *m_previous, *m_fit;
    std::shared_ptr<const RunComparison> m_comparison;
    std::vector<MetricDelta> m_deltas; ///< by step
    QString m_metricName;
    double m_lowest = 0, m_highest = 1; ///< steps of the whole axis
    double m_from = 0, m_to = 1;        ///< steps in view
    int m_labelWidth = 0;
    bool m_fitted = true;
    QPoint m_pressedAt;
    double m_pressedFrom = 0;
    bool m_pressed = false, m_dragging = false;
};

} // namespace forkpoint
