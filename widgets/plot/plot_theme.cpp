// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/plot/plot_theme.h"

#include <qcustomplot.h>

#include <QLabel>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>

namespace forkpoint {

namespace {

QColor mixed(const QColor &a, const QColor &b, double share)
{
    const auto mix = [share](int x, int y) { return int(x * share + y * (1 - share)); };
    return QColor(mix(a.red(), b.red()), mix(a.green(), b.green()), mix(a.blue(), b.blue()));
}

} // namespace

void applyPlotTheme(QCustomPlot *plot, const QPalette &palette)
{
    const QColor text = palette.color(QPalette::PlaceholderText);
    const QColor base = palette.color(QPalette::Base);
    const QColor line = mixed(palette.color(QPalette::Text), base, 0.25);
    const QColor grid = mixed(palette.color(QPalette::Text), base, 0.08);
    plot->setBackground(base);
    for (QCPAxis *axis : {plot->xAxis, plot->yAxis}) {
        axis->setBasePen(line);
        axis->setTickPen(line);
        axis->setSubTickPen(Qt::NoPen);
        axis->setTickLabelColor(text);
        axis->setLabelColor(text);
        axis->setTickLabelFont(plot->font());
        axis->setLabelFont(plot->font());
        axis->grid()->setPen(grid);
        axis->grid()->setZeroLinePen(Qt::NoPen);
    }
}

QVector<double> spaced(QVector<double> ticks, const QCPAxis *axis)
{
    const auto isPower = [](double tick) {
        const double exponent = std::log10(tick);
        return std::abs(exponent - std::round(exponent)) < 1e-9;
    };
    std::stable_partition(ticks.begin(), ticks.end(), isPower);
    const double room = QFontMetrics(axis->tickLabelFont()).height();
    QVector<double> kept;
    for (const double tick : ticks) {
        const bool isFree = std::none_of(kept.begin(), kept.end(), [&](double other) {
            return std::abs(axis->coordToPixel(tick) - axis->coordToPixel(other)) < room;
        });
        if (isFree)
            kept.append(tick);
    }
    std::sort(kept.begin(), kept.end());
    return kept;
}

QLabel *framePlot(QCustomPlot *plot, const QString &numberFormat, int precision)
{
    auto *empty = new QLabel(plot);
    empty->setAlignment(Qt::AlignCenter);
    empty->setWordWrap(true);
    empty->setTextFormat(Qt::PlainText);
    empty->setForegroundRole(QPalette::PlaceholderText);
    auto *inside = new QVBoxLayout(plot);
    inside->addWidget(empty);
    plot->setMinimumHeight(90);
    plot->yAxis->setScaleType(QCPAxis::stLogarithmic);
    plot->yAxis->setTicker(QSharedPointer<QCPAxisTickerLog>(new QCPAxisTickerLog));
    plot->yAxis->setNumberFormat(numberFormat);
    plot->yAxis->setNumberPrecision(precision);
    plot->axisRect()->setMinimumMargins(QMargins(0, 4, 4, 0));
    return empty;
}

} // namespace forkpoint
