// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/plot/line_plot.h"

#include "widgets/plot/picture.h"
#include "widgets/plot/plot_theme.h"

#include <qcustomplot.h>

#include <QLabel>
#include <QVBoxLayout>

#include <cmath>
#include <limits>

namespace forkpoint {

namespace {

constexpr std::size_t MostDiscs = 300; ///< of a curve: more of them hide it

class SpacedTicker final : public QCPAxisTickerLog
{
public:
    explicit SpacedTicker(const QCPAxis *axis) : m_axis(axis) {}

protected:
    QVector<double> createTickVector(double step, const QCPRange &range) override
    {
        return spaced(QCPAxisTickerLog::createTickVector(step, range), m_axis);
    }

private:
    const QCPAxis *m_axis;
};

} // namespace

LinePlot::LinePlot(QWidget *parent)
    : QWidget(parent),
      m_plot(new QCustomPlot(this)),
      m_legend(new QLabel(this)),
      // Three digits: a range within a decade has ticks between the powers of ten.
      m_empty(framePlot(m_plot, QStringLiteral("gb"), 3))
{
    setAccessibleName(tr("Magnitudes over the steps"));
    const QSharedPointer<QCPAxisTickerFixed> wholeSteps(new QCPAxisTickerFixed);
    wholeSteps->setScaleStrategy(QCPAxisTickerFixed::ssMultiples);
    m_plot->xAxis->setTicker(wholeSteps);
    m_plot->yAxis->setTicker(QSharedPointer<QCPAxisTicker>(new SpacedTicker(m_plot->yAxis)));
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(8, 2, 8, 0);
    layout->setSpacing(0);
    layout->addWidget(m_legend);
    layout->addWidget(m_plot, 1);
    addPictureMenu(
        m_plot, [this](const QString &suffix) { return picture(suffix); },
        [this] { Q_EMIT saveRequested(); });
    m_legend->setWordWrap(true);
    rebuild();
}

void LinePlot::setScale(Scale scale)
{
    m_scale = scale;
    const bool isLinear = scale == Scale::Linear;
    m_plot->yAxis->setScaleType(isLinear ? QCPAxis::stLinear : QCPAxis::stLogarithmic);
    m_plot->yAxis->setNumberFormat(isLinear ? QStringLiteral("g") : QStringLiteral("gb"));
    m_plot->yAxis->setNumberPrecision(isLinear ? 6 : 3);
    m_plot->yAxis->setTicker(QSharedPointer<QCPAxisTicker>(
        isLinear ? new QCPAxisTicker : new SpacedTicker(m_plot->yAxis)));
    rebuild();
}

bool LinePlot::isShown(double value) const
{
    return std::isfinite(value) && (m_scale == Scale::Linear || value > 0.0);
}

void LinePlot::setRange(double lowest, double highest)
{
    if (m_scale == Scale::Logarithmic) {
        m_plot->yAxis->setRange(lowest / 2, highest * 2);
        return;
    }
    // Equal numbers have a range too, and halves do not overflow.
    const double half = highest / 2 - lowest / 2;
    const double margin = half > 0 ? half * 0.12 : std::max(std::abs(highest) * 0.01, 1e-9);
    m_plot->yAxis->setRange(lowest - margin, highest + margin);
}

void LinePlot::setSeries(std::vector<Series> series)
{
    m_series = std::move(series);
    rebuild();
}

QByteArray LinePlot::picture(const QString &suffix) const
{
    std::vector<LegendEntry> legend;
    for (const Series &series : m_series)
        legend.push_back({series.name, series.color, series.dashed});
    return makePicture(m_plot, legend, tr("by step"), suffix);
}

void LinePlot::setEmptyText(const QString &text)
{
    m_empty->setText(text);
}

void LinePlot::rebuild()
{
    m_plot->clearGraphs();
    applyPlotTheme(m_plot, palette());
    double lowest = 0, highest = 0, first = 0, last = 0;
    bool any = false;
    QStringList legend;
    for (std::size_t i = 0; i < m_series.size(); ++i) {
        const Series &series = m_series[i];
        QCPGraph *graph = m_plot->addGraph();
        // A curve that lies under another of its kind is seen on both sides of it.
        const bool under = series.dashed && i + 1 < m_series.size();
        graph->setPen(
            QPen(series.color, under ? 4.5 : 1.5, series.dashed ? Qt::DashLine : Qt::SolidLine));
        if (series.points.size() <= MostDiscs)
            graph->setScatterStyle(
                QCPScatterStyle(QCPScatterStyle::ssDisc, series.color, under ? 10 : 5));
        for (const auto &[step, value] : series.points) {
            const bool shown = isShown(value);
            graph->addData(step, shown ? value : std::numeric_limits<double>::quiet_NaN());
            if (!shown)
                continue;
            lowest = any ? std::min(lowest, value) : value;
            highest = any ? std::max(highest, value) : value;
            first = any ? std::min(first, step) : step;
            last = any ? std::max(last, step) : step;
            any = true;
        }
        legend += QStringLiteral("<span style='color:%1'>%2</span> %3")
                      .arg(series.color.name(),
                           series.dashed ? QStringLiteral("╌●╌") : QStringLiteral("─●─"),
                           series.name.toHtmlEscaped());
    }
    if (!legend.isEmpty())
        legend += QStringLiteral("<span style='color:%1'>%2</span>")
                      .arg(palette().color(QPalette::PlaceholderText).name(), tr("by step"));
    m_legend->setText(legend.join(QStringLiteral(" &nbsp; ")));
    m_empty->setVisible(!any);
    for (QCPAxis *axis : {m_plot->xAxis, m_plot->yAxis})
        axis->setVisible(any);
    if (any) {
        const double margin = std::max(0.5, (last - first) * 0.04);
        m_plot->xAxis->setRange(first - margin, last + margin);
        setRange(lowest, highest);
    }
    m_plot->replot(QCustomPlot::rpQueuedReplot);
}

void LinePlot::changeEvent(QEvent *event)
{
    if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange)
        rebuild();
    QWidget::changeEvent(event);
}

} // namespace forkpoint
