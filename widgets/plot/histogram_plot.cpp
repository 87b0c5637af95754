// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/plot/histogram_plot.h"

#include "model/format.h"
#include "widgets/plot/picture.h"
#include "widgets/plot/plot_theme.h"

#include <qcustomplot.h>

#include <QHBoxLayout>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QLabel>
#include <QToolTip>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>

namespace forkpoint {

namespace {

constexpr double CountOfNothing = 0.3; ///< lower end of the logarithmic count axis, labelled 0

/// Powers of ten, and 0 at the foot of the axis: a bar of one element stands on nothing.
class CountTicker final : public QCPAxisTickerLog
{
public:
    explicit CountTicker(const QCPAxis *axis) : m_axis(axis) {}

protected:
    QVector<double> createTickVector(double step, const QCPRange &range) override
    {
        QVector<double> ticks = QCPAxisTickerLog::createTickVector(step, range);
        const double room = m_axis->coordToPixel(CountOfNothing) - m_axis->coordToPixel(1.0);
        const bool both = room > QFontMetrics(m_axis->tickLabelFont()).height();
        ticks.removeIf([both](double tick) {
            return tick < (both ? 1.0 : 2.0) || tick != std::floor(tick); // counts are whole
        });
        ticks = spaced(std::move(ticks), m_axis);
        ticks.prepend(CountOfNothing);
        return ticks;
    }
    QString getTickLabel(double tick, const QLocale &locale, QChar format, int precision) override
    {
        return tick < 1.0 ? QStringLiteral("0")
                          : QCPAxisTickerLog::getTickLabel(tick, locale, format, precision);
    }

private:
    const QCPAxis *m_axis;
};

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
      m_empty(framePlot(m_plot, QStringLiteral("gb"), 2))
{
    setAccessibleName(tr("Histogram"));
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(8, 2, 8, 0);
    layout->setSpacing(0);
    m_header = new QHBoxLayout;
    m_header->addWidget(m_legend, 1);
    layout->addLayout(m_header);
    layout->addWidget(m_plot, 1);
    m_plot->yAxis->setTicker(QSharedPointer<QCPAxisTicker>(new CountTicker(m_plot->yAxis)));
    m_plot->installEventFilter(this);
    addPictureMenu(
        m_plot, [this](const QString &suffix) { return picture(suffix); },
        [this] { Q_EMIT saveRequested(); });
    m_legend->setWordWrap(true);
    m_plot->setFocusPolicy(Qt::StrongFocus);
    m_plot->setAccessibleName(tr("Histogram: arrow keys choose bins, Shift extends"));
    m_plot->setSelectionRectMode(QCP::srmCustom);
    m_selection = new QCPItemRect(m_plot);
    m_mark = new QCPItemStraightLine(m_plot);
    connect(m_plot->selectionRect(), &QCPSelectionRect::accepted, this, [this](const QRect &drawn) {
        const auto bin = [this](int x) { return int(std::lround(m_plot->xAxis->pixelToCoord(x))); };
        constexpr int Click = 3; // less is no drag
        if (drawn.width() < Click)
            clearSelection();
        else
            selectBins(bin(drawn.left()), bin(drawn.right()));
    });
    rebuild();
}

HistogramPlot::~HistogramPlot() = default;

void HistogramPlot::setSeries(std::vector<Series> series, const QString &quantity)
{
    m_series = std::move(series);
    m_quantity = quantity;
    m_selected.reset();
    rebuild();
}

void HistogramPlot::addControl(QWidget *control)
{
    m_header->addWidget(control);
}

QByteArray HistogramPlot::picture(const QString &suffix) const
{
    std::vector<LegendEntry> legend;
    for (const Series &series : m_series)
        legend.push_back({series.name, series.color, false});
    return makePicture(m_plot, legend, m_quantity, suffix);
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
    if (const std::uint64_t infinite = m_series[series].infinite)
        bins.emplace_back(infinitePosition(), infinite);
    if (const std::uint64_t nan = m_series[series].nan)
        bins.emplace_back(nanPosition(), nan);
    return bins;
}

// --- selecting ----------------------------------------------------------------------------------

/// What a range of several series is about: the difference where it is seen there, else a side.
MagnitudeKind HistogramPlot::kindWithin(int first, int last) const
{
    std::optional<MagnitudeKind> kind;
    for (std::size_t i = 0; i < m_series.size(); ++i) {
        for (const auto &[position, count] : drawnBins(i)) {
            if (position < first || position > last)
                continue;
            if (m_series[i].kind == MagnitudeKind::AbsDifference && position != m_zeroPosition)
                return m_series[i].kind;
            kind = kind.value_or(m_series[i].kind);
        }
    }
    const MagnitudeKind fallback =
        m_series.empty() ? MagnitudeKind::AbsDifference : m_series.back().kind;
    return kind.value_or(fallback);
}

void HistogramPlot::selectBins(int first, int last)
{
    if (m_series.empty())
        return;
    m_selected = {first, last};
    drawSelection();
    const auto [low, high] = std::minmax(first, last);
    MagnitudeRange range;
    range.kind = kindWithin(low, high);
    range.zero = low <= m_zeroPosition && high >= m_zeroPosition;
    range.infinite = low <= infinitePosition() && high >= infinitePosition();
    range.nan = low <= nanPosition() && high >= nanPosition();
    const int lowest = std::max(low, m_zeroPosition + 1);
    const int highest = std::min(high, infinitePosition() - 1);
    if (lowest <= highest)
        range.powers = {lowest, highest};
    Q_EMIT rangeSelected(range);
}

void HistogramPlot::clearSelection()
{
    const bool any = m_selected.has_value();
    m_selected.reset();
    drawSelection();
    if (any)
        Q_EMIT selectionCleared();
}

void HistogramPlot::setMarked(std::optional<double> magnitude)
{
    m_marked = magnitude;
    drawSelection();
}

void HistogramPlot::drawSelection()
{
    const QColor text = palette().color(QPalette::Text);
    m_selection->setVisible(m_selected.has_value() && !m_series.empty());
    if (m_selected) {
        const auto [low, high] = std::minmax(m_selected->first, m_selected->second);
        m_selection->topLeft->setCoords(low - 0.5, m_plot->yAxis->range().upper);
        m_selection->bottomRight->setCoords(high + 0.5, m_plot->yAxis->range().lower);
        m_selection->setPen(QPen(text, 1, Qt::DashLine));
        QColor fill = text;
        fill.setAlpha(24);
        m_selection->setBrush(fill);
    }
    m_mark->setVisible(m_marked.has_value() && !m_series.empty());
    if (m_marked) {
        const double place = *m_marked == 0.0 ? m_zeroPosition : std::floor(std::log2(*m_marked));
        m_mark->point1->setCoords(place, 1);
        m_mark->point2->setCoords(place, 2);
        m_mark->setPen(QPen(text, 1, Qt::DotLine));
    }
    m_plot->replot(QCustomPlot::rpQueuedReplot);
}

void HistogramPlot::moveCursor(int bins, bool extend)
{
    const int last = m_selected ? m_selected->second + bins : m_zeroPosition;
    const int inside = std::clamp(last, m_zeroPosition, nanPosition());
    selectBins(extend && m_selected ? m_selected->first : inside, inside);
}

bool HistogramPlot::takeKey(QKeyEvent *event)
{
    const bool extend = event->modifiers() & Qt::ShiftModifier;
    switch (event->key()) {
    case Qt::Key_Left: moveCursor(-1, extend); return true;
    case Qt::Key_Right: moveCursor(1, extend); return true;
    case Qt::Key_Escape: clearSelection(); return true;
    default: return false;
    }
}

// --- drawing ------------------------------------------------------------------------------------

void HistogramPlot::rebuild()
{
    m_plot->clearPlottables();
    int lowest = PowerHistogram::Highest, highest = PowerHistogram::Lowest;
    bool anyZero = false;
    bool anySpecial = false;
    double largest = 0;
    QStringList legend;
    for (const Series &series : m_series) {
        anyZero = anyZero || series.histogram.zeros() > 0;
        anySpecial = anySpecial || series.infinite + series.nan > 0;
        for (const std::uint64_t count : {series.histogram.zeros(), series.infinite, series.nan})
            largest = std::max(largest, double(count));
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
    m_infinitePosition = highest + 3;
    constexpr int MostLabels = 9;
    m_every = std::max(1, (highest - lowest + 1 + MostLabels - 1) / MostLabels);
    m_empty->setVisible(!any);
    for (QCPAxis *axis : {m_plot->xAxis, m_plot->yAxis})
        axis->setVisible(any);
    applyPlotTheme(m_plot, palette());
    if (any)
        buildAxis(lowest, highest, anyZero, anySpecial, largest);
    const double width = 0.9 / std::max<double>(1.0, double(m_series.size()));
    for (std::size_t i = 0; any && i < m_series.size(); ++i) {
        auto *bars = new QCPBars(m_plot->xAxis, m_plot->yAxis);
        bars->setWidth(width);
        bars->setBaseValue(CountOfNothing);
        bars->setPen(Qt::NoPen);
        bars->setBrush(m_series[i].color);
        const double shift = (double(i) - (double(m_series.size()) - 1) / 2) * width;
        for (const auto &[position, count] : drawnBins(i))
            bars->addData(position + shift, double(count) - CountOfNothing); // on top of the base
    }
    drawSelection();
}

void HistogramPlot::buildAxis(int lowest, int highest, bool anyZero, bool anySpecial,
                              double largest)
{
    QSharedPointer<QCPAxisTickerText> ticker(new QCPAxisTickerText);
    if (anyZero)
        ticker->addTick(m_zeroPosition, QStringLiteral("0"));
    // In a wide range the labels of what has no exponent stand near the first and the last power.
    const auto isFree = [&](int exponent) {
        return (!anyZero || 2 * (exponent - m_zeroPosition) >= m_every)
            && (!anySpecial || 2 * (infinitePosition() - exponent) >= m_every);
    };
    for (int exponent = lowest; exponent <= highest; exponent += m_every) {
        if (isFree(exponent))
            ticker->addTick(exponent, power(exponent));
    }
    if (anySpecial) {
        ticker->addTick(infinitePosition(), QStringLiteral("Inf"));
        ticker->addTick(nanPosition(), QStringLiteral("NaN"));
    }
    m_plot->xAxis->setTicker(ticker);
    m_plot->xAxis->setRange((anyZero ? m_zeroPosition : lowest) - 1.0,
                            anySpecial ? nanPosition() + std::max(1.0, m_every * 0.4)
                                       : highest + 1.0);
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
    lines.prepend(
        bin == m_zeroPosition           ? tr("exactly zero")
            : bin == infinitePosition() ? tr("infinite, of elements without a finite pair")
            : bin == nanPosition()      ? tr("NaN, of elements without a finite pair")
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
    if (object == m_plot && event->type() == QEvent::KeyPress
        && takeKey(static_cast<QKeyEvent *>(event)))
        return true;
    return QWidget::eventFilter(object, event);
}

void HistogramPlot::changeEvent(QEvent *event)
{
    if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange)
        rebuild();
    QWidget::changeEvent(event);
}

} // namespace forkpoint
