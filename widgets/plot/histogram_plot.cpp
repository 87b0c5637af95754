// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/plot/histogram_plot.h"

#include "model/format.h"
#include "widgets/plot/plot_theme.h"

#include <qcustomplot.h>

#include <QHelpEvent>
#include <QLabel>
#include <QToolTip>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>

namespace forkpoint {

namespace {

constexpr double CountOfNothing = 0.5; ///< lower end of the logarithmic count axis

QString power(int exponent)
{
    const QString digits = QStringLiteral("⁰¹²³⁴⁵⁶⁷⁸⁹");
    QString text = QStringLiteral("2");
    if (exponent < 0)
        text += QStringLiteral("⁻");
    for (QChar c : QString::number(std::abs(exponent)))
        text += digits[c.digitValue()];
    return text;
}

} // namespace

HistogramPlot::HistogramPlot(QWidget *parent)
    : QWidget(parent),
      m_plot(new QCustomPlot(this)),
      m_legend(new QLabel(this)),
      m_empty(new QLabel(m_plot))
{
    setAccessibleName(tr("Histogram"));
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(8, 2, 8, 0);
    layout->setSpacing(0);
    layout->addWidget(m_legend);
    layout->addWidget(m_plot, 1);
    m_empty->setAlignment(Qt::AlignCenter);
    m_empty->setWordWrap(true);
    m_empty->setTextFormat(Qt::PlainText);
    m_empty->setForegroundRole(QPalette::PlaceholderText);
    auto *inside = new QVBoxLayout(m_plot);
    inside->addWidget(m_empty);
    m_plot->setMinimumHeight(90);
    m_plot->yAxis->setScaleType(QCPAxis::stLogarithmic);
    m_plot->yAxis->setTicker(QSharedPointer<QCPAxisTickerLog>(new QCPAxisTickerLog));
    m_plot->yAxis->setNumberFormat(QStringLiteral("gb"));
    m_plot->yAxis->setNumberPrecision(2);
    m_plot->axisRect()->setMinimumMargins(QMargins(0, 4, 4, 0));
    m_plot->installEventFilter(this);
    rebuild();
}

HistogramPlot::~HistogramPlot() = default;

void HistogramPlot::setSeries(std::vector<Series> series, const QString &quantity)
{
    m_series = std::move(series);
    m_quantity = quantity;
    rebuild();
}

void HistogramPlot::setEmptyText(const QString &text)
{
    m_empty->setText(text);
}

std::vector<std::pair<int, std::uint64_t>> HistogramPlot::drawnBins(std::size_t series) const
{
    auto bins = m_series[series].histogram.bins();
    if (const std::uint64_t zeros = m_series[series].histogram.zeros())
        bins.insert(bins.begin(), {m_zeroPosition, zeros});
    return bins;
}

void HistogramPlot::rebuild()
{
    m_plot->clearPlottables();
    int lowest = PowerHistogram::Highest, highest = PowerHistogram::Lowest;
    bool anyZero = false;
    double largest = 0;
    QStringList legend;
    for (const Series &series : m_series) {
        anyZero = anyZero || series.histogram.zeros() > 0;
        largest = std::max(largest, double(series.histogram.zeros()));
        for (const auto &[exponent, count] : series.histogram.bins()) {
            lowest = std::min(lowest, exponent);
            highest = std::max(highest, exponent);
            largest = std::max(largest, double(count));
        }
        legend += QStringLiteral("<span style='color:%1'>■</span> %2")
                      .arg(series.color.name(), series.name.toHtmlEscaped());
    }
    legend +=
        QStringLiteral("<span style='color:%1'>%2</span>")
            .arg(palette().color(QPalette::PlaceholderText).name(), m_quantity.toHtmlEscaped());
    m_legend->setText(m_series.empty() ? QString() : legend.join(QStringLiteral(" &nbsp; ")));
    const bool any = largest > 0;
    if (lowest > highest)
        lowest = highest = 0;
    m_zeroPosition = lowest - 3;
    m_empty->setVisible(!any);
    for (QCPAxis *axis : {m_plot->xAxis, m_plot->yAxis})
        axis->setVisible(any);
    applyPlotTheme(m_plot, palette());
    if (any)
        buildAxis(lowest, highest, anyZero, largest);
    const double width = 0.9 / std::max<double>(1.0, double(m_series.size()));
    for (std::size_t i = 0; any && i < m_series.size(); ++i) {
        auto *bars = new QCPBars(m_plot->xAxis, m_plot->yAxis);
        bars->setWidth(width);
        bars->setBaseValue(CountOfNothing);
        bars->setPen(Qt::NoPen);
        bars->setBrush(m_series[i].color);
        const double shift = (double(i) - (double(m_series.size()) - 1) / 2) * width;
        for (const auto &[position, count] : drawnBins(i))
            bars->addData(position + shift, double(count));
    }
    m_plot->replot(QCustomPlot::rpQueuedReplot);
}

void HistogramPlot::buildAxis(int lowest, int highest, bool anyZero, double largest)
{
    QSharedPointer<QCPAxisTickerText> ticker(new QCPAxisTickerText);
    constexpr int MostLabels = 9;
    const int every = std::max(1, (highest - lowest + 1 + MostLabels - 1) / MostLabels);
    if (anyZero)
        ticker->addTick(m_zeroPosition, QStringLiteral("0"));
    for (int exponent = lowest; exponent <= highest; exponent += every)
        ticker->addTick(exponent, power(exponent));
    m_plot->xAxis->setTicker(ticker);
    m_plot->xAxis->setRange((anyZero ? m_zeroPosition : lowest) - 1.0, highest + 1.0);
    m_plot->yAxis->setRange(CountOfNothing, largest * 1.5);
}

QString HistogramPlot::toolTipAt(double position) const
{
    const int bin = int(std::lround(position));
    QStringList lines;
    for (std::size_t i = 0; i < m_series.size(); ++i) {
        for (const auto &[at, count] : drawnBins(i)) {
            if (at == bin)
                lines += QStringLiteral("%1: %2").arg(m_series[i].name,
                                                      QString::fromStdString(grouped(count)));
        }
    }
    if (lines.isEmpty())
        return {};
    lines.prepend(bin == m_zeroPosition
                      ? tr("exactly zero")
                      : tr("from %1 to below %2").arg(power(bin), power(bin + 1)));
    return lines.join(u'\n');
}

bool HistogramPlot::eventFilter(QObject *object, QEvent *event)
{
    if (object == m_plot && event->type() == QEvent::ToolTip) {
        const auto *help = static_cast<QHelpEvent *>(event);
        const QString text = toolTipAt(m_plot->xAxis->pixelToCoord(help->pos().x()));
        text.isEmpty() ? QToolTip::hideText() : QToolTip::showText(help->globalPos(), text, this);
        return true;
    }
    return QWidget::eventFilter(object, event);
}

void HistogramPlot::changeEvent(QEvent *event)
{
    if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange)
        rebuild();
    QWidget::changeEvent(event);
}

} // namespace forkpoint
