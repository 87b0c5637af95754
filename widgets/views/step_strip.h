// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/traces/timeline_rows.h"
#include "widgets/metric_deltas.h"
#include "widgets/step_axis.h"
#include "widgets/step_pyramid.h"
#include "widgets/view_context.h"
#include "widgets/views/timeline_lanes.h"

#include <QWidget>

#include <vector>

class QAction;
class QActionGroup;
class QMenu;
class QToolButton;

namespace forkpoint {

/// The scrubber: a lane of a metric's B-A with the precision known, a lane of checkpoints with a
/// mark per step, and where both sides have a trace the stages of the causal chain, or the ranks or
/// micro-batches instead of them. Click, arrow keys, Home and End select; the wheel and plus and minus zoom, dragging and Ctrl with the arrow
/// keys pan; right click copies or saves a picture.
class StepStrip : public QWidget
{
    Q_OBJECT

public:
    explicit StepStrip(ViewContext *context, QWidget *parent = nullptr);

    QAction *nextDifferenceAction() const { return m_next; }         ///< F8
    QAction *previousDifferenceAction() const { return m_previous; } ///< Shift+F8
    QAction *zoomToFitAction() const { return m_fit; }               ///< Ctrl+0

    /// What the rows of the timeline stand for; ranks and micro-batches that behave alike share one.
    enum class Rows { Stages, Ranks, MicroBatches };
    Rows rows() const { return m_rows; }
    /// False where the traces have no such rows.
    bool showRows(Rows rows);
    QMenu *rowsMenu() const { return m_rowsMenu; } ///< to choose them

    /// The row of the timeline in which the runs part; null where there is none.
    QRect rowOfInterest() const { return m_timeline.rowOfDivergence(timelineArea()); }

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
    /// Draws that metric instead of the loss and brings the step into view at which it first differs.
    void drawMetric(const QString &name);
    const Timeline &timeline() const { return m_timeline.timeline(); }
    /// As it is on the screen, as a file: suffix "png" or "svg".
    QByteArray picture(const QString &suffix) const;

Q_SIGNALS:
    /// A cell of the timeline was clicked; its step has been selected.
    void cellChosen(std::int64_t step, const std::string &stage);
    /// Likewise: the first rank of a row that differs there, else the first one.
    void rankChosen(std::int64_t step, std::size_t rank);
    void microBatchChosen(std::int64_t step, std::int64_t microBatch);
    void cellActivated(); ///< by a double click

protected:
    void paintEvent(QPaintEvent *event) override;
    void mousePressEvent(QMouseEvent *event) override;
    void mouseMoveEvent(QMouseEvent *event) override;
    void mouseReleaseEvent(QMouseEvent *event) override;
    void mouseDoubleClickEvent(QMouseEvent *event) override;
    void wheelEvent(QWheelEvent *event) override;
    void keyPressEvent(QKeyEvent *event) override;
    void resizeEvent(QResizeEvent *event) override;
    bool event(QEvent *event) override;

private:
    static constexpr std::size_t NoMark = ~std::size_t(0);

    struct Marks
    {
        std::shared_ptr<const std::vector<StepMark>> steps;
        StepPyramid pyramid;

        explicit Marks(std::shared_ptr<const std::vector<StepMark>> marks);
        std::size_t size() const { return steps->size(); }
        const StepMark &operator[](std::size_t mark) const { return (*steps)[mark]; }
        /// The first at or after a step, looking from a mark that is not beyond it.
        std::size_t after(double step, std::size_t from = 0) const;
    };

    void refresh();
    void refreshMetric();
    std::string metricToShow() const;
    void refreshMarks();
    void refreshTimeline();
    void buildRows();
    void refreshRows();
    void choose(const TimelineLanes::Place &place);
    std::string rowOfDivergence() const;
    void openAtDivergence();
    void measure();
    void select(Step step);
    void jump(bool backward);
    std::size_t selectedMark() const; ///< of the stops, or NoMark
    std::optional<std::size_t> markAt(int x) const;
    QString toolTipAt(const QPoint &position) const;

    QRect plotArea() const;
    QRect timelineArea() const;
    int metricHeight() const;
    int laneHeight() const;
    int timelineHeight() const { return m_timeline.height(fontMetrics()); }

    bool isEmpty() const; ///< nothing but a sentence to show
    void paint(QPainter &painter) const;
    void paintMetric(QPainter &painter, const QRect &lane) const;
    void paintMetricPoint(QPainter &painter, const QRect &plot, int x,
                          const MetricDeltas::Extremes &extremes, bool dense) const;
    void paintMarks(QPainter &painter, const QRect &lane) const;
    void paintAxis(QPainter &painter, const QRect &lane) const;
    void paintEmpty(QPainter &painter) const;

    ViewContext *m_context;
    QAction *m_next, *m_previous, *m_fit;
    std::shared_ptr<const RunComparison> m_comparison;
    std::shared_ptr<const RunComparison> m_marked; ///< whose marks and timeline are shown
    std::shared_ptr<const Marks> m_lane;           ///< what the lane of checkpoints shows
    std::shared_ptr<const Marks> m_stops; ///< what can be selected: beside a timeline one a step
    TimelineLanes m_timeline;
    Rows m_rows = Rows::Stages;
    std::vector<TimelineRow> m_rankRows, m_batchRows; ///< of m_marked, once they were asked for
    QMenu *m_rowsMenu;
    QActionGroup *m_rowsActions;
    QToolButton *m_rowsButton; ///< below the labels, where there is a choice
    bool m_openedAtDivergence = false;
    MetricDeltas m_metric;
    QString m_metricName;
    QString m_chosenMetric; ///< instead of the loss; of a pair that has it
    StepAxis m_axis;
    int m_labelWidth = 0;
    QPoint m_pressedAt;
    double m_pressedFrom = 0;
    bool m_pressed = false, m_dragging = false;
};

} // namespace forkpoint
