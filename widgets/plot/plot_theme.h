// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

class QCustomPlot;
class QPalette;

namespace forkpoint {

/// Gives axes, grid, labels and background of a plot the colours of a palette.
void applyPlotTheme(QCustomPlot *plot, const QPalette &palette);

} // namespace forkpoint
