// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QVector>

class QCPAxis;
class QCustomPlot;
class QLabel;
class QPalette;
class QString;

namespace forkpoint {

/// Gives axes, grid, labels and background of a plot the colours of a palette.
void applyPlotTheme(QCustomPlot *plot, const QPalette &palette);

/// What every plot starts with: a logarithmic y axis (QCustomPlot's number format and precision),
/// and in its middle the label that is returned, for when there is nothing to draw.
QLabel *framePlot(QCustomPlot *plot, const QString &numberFormat, int precision);

/// The ticks of a vertical axis whose labels keep the height of a line from each other, rising;
/// powers of ten come first.
QVector<double> spaced(QVector<double> ticks, const QCPAxis *axis);

} // namespace forkpoint
