// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

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

} // namespace forkpoint
