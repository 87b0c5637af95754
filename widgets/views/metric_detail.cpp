// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/metric_detail.h"

#include "widgets/display_text.h"
#include "widgets/models/metric_step_model.h"
#include "widgets/plot/line_plot.h"
#include "widgets/views/card.h"
#include "widgets/views/metrics_page.h"
#include "widgets/views/saving.h"
#include "widgets/views/table_actions.h"
#include "widgets/views/view_setup.h"

#include <QEvent>
#include <QLabel>
#include <QSplitter>
#include <QTreeView>
#include <QVBoxLayout>

#include <array>
#include <cmath>

namespace forkpoint {

namespace {

/// Beyond these a point stands for its neighbours: the lowest and the highest of each stretch.
constexpr std::size_t MostPoints = 4000;

std::vector<std::pair<double, double>> curveOf(const MetricSeries &series)
{
    std::vector<std::pair<double, double>> curve;
    const std::size_t stretch = (2 * series.points.size() + MostPoints - 1) / MostPoints;
    const auto add = [&](const MetricPoint &point) {
        curve.emplace_back(double(point.step), point.value);
    };
    for (std::size_t from = 0; from < series.points.size();
         from += std::max<std::size_t>(stretch, 1)) {
        if (series.points.size() <= MostPoints) {
            curve.clear();
            for (const MetricPoint &point : series.points)
                add(point);
            return curve;
        }
        std::size_t least = from, most = from;
        for (std::size_t i = from; i < std::min(from + stretch, series.points.size()); ++i) {
            if (series.points[i].value < series.points[least].value)
                least = i;
            if (series.points[i].value > series.points[most].value)
                most = i;
        }
        add(series.points[std::min(least, most)]);
        if (least != most)
            add(series.points[std::max(least, most)]);
    }
    return curve;
}

} // namespace

MetricDetail::MetricDetail(ViewContext *context, MetricsPage *metrics, QWidget *parent)
    : QWidget(parent),
      m_context(context),
      m_metrics(metrics),
      m_model(new MetricStepModel(this)),
      m_title(new QLabel(this)),
      m_note(new QLabel(this))
{
    setObjectName(QStringLiteral("metricDetail"));
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(1, 8, 1, 1);
    for (QLabel *label : {m_title, m_note}) {
        label->setTextFormat(Qt::PlainText);
        label->setWordWrap(true);
        label->setIndent(10);
        layout->addWidget(label);
    }
    m_note->setForegroundRole(QPalette::PlaceholderText);
    auto *splitter = new QSplitter(Qt::Vertical, this);
    splitter->setChildrenCollapsible(false);
    m_plot = new LinePlot(splitter);
    m_plot->setScale(LinePlot::Scale::Linear);
    m_plot->setAccessibleName(tr("Curves of the metric"));
    m_view = makeTable(m_model, tr("The metric by step"), splitter);
    m_view->setObjectName(QStringLiteral("metricSteps"));
    setColumnWidths(m_view, std::array{2, 9, 22, 22, 0});
    addTableActions(m_view, context, QStringLiteral("metric-by-step"),
                    [this](const QString &text) { Q_EMIT message(text); });
    splitter->addWidget(m_plot);
    splitter->addWidget(m_view);
    splitter->setSizes({200, 240});
    layout->addWidget(splitter, 1);
    connect(m_plot, &LinePlot::saveRequested, this, [this, context] {
        askToSavePicture(context, this, QStringLiteral("metric-") + m_title->text(),
                         [this](const QString &suffix) { return m_plot->picture(suffix); });
    });
    connect(metrics, &MetricsPage::selectionChanged, this, &MetricDetail::refresh);
    refresh();
}

void MetricDetail::refresh()
{
    const MetricPair *pair = m_metrics->selected();
    m_model->setPair(pair);
    m_title->setText(pair ? displayText(pair->name) : tr("Select a metric to see its numbers."));
    QString note = pair ? pair->precision() : QString();
    if (m_model->steps() > MetricStepModel::MostRows)
        note += tr(" · %1 of %2 steps are listed")
                    .arg(groupedText(MetricStepModel::MostRows), groupedText(m_model->steps()));
    const bool isKept = !pair || pair->a || pair->b;
    const bool isReport = m_context->side(Side::A).phase == SideState::Phase::Recorded;
    if (!isKept)
        note += tr(" · this report keeps no numbers of the metric, the strip above shows B−A");
    else if (isReport && pair && pair->compared && pair->compared->commonSteps > m_model->steps())
        note += tr(" · the report keeps %1 steps of %2: those around the first difference, and the "
                   "extremes of the others")
                    .arg(groupedText(m_model->steps()), groupedText(pair->compared->commonSteps));
    m_note->setText(note);
    m_plot->setEmptyText(isKept ? tr("No finite number was logged.") : QString());
    const auto &first = pair && pair->compared ? pair->compared->firstProvenDifference
                                               : std::optional<std::int64_t>();
    if (const auto row = first ? m_model->rowOf(*first) : std::nullopt) {
        m_view->setCurrentIndex(m_model->index(*row, 1));
        m_view->scrollTo(m_model->index(*row, 1), QAbstractItemView::PositionAtCenter);
    }
    plot();
}

void MetricDetail::plot()
{
    const Theme theme = Theme::of(palette());
    std::vector<LinePlot::Series> curves;
    if (const MetricPair *pair = m_metrics->selected()) {
        if (pair->a)
            curves.push_back({tr("A"), theme.a, true, curveOf(*pair->a)});
        if (pair->b)
            curves.push_back({tr("B"), theme.b, false, curveOf(*pair->b)});
    }
    m_plot->setSeries(std::move(curves));
}

void MetricDetail::changeEvent(QEvent *event)
{
    if (event->type() == QEvent::PaletteChange)
        plot();
    QWidget::changeEvent(event);
}

void MetricDetail::paintEvent(QPaintEvent *)
{
    paintCard(this);
}

} // namespace forkpoint
