// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

class QCustomPlot;

namespace forkpoint {

/// Writes what a plot shows; the name's ending decides between PNG and SVG. False where it cannot
/// be written.
bool savePlot(QCustomPlot *plot, const QString &path);

/// A menu on the plot: copy the picture, save it.
void addPlotMenu(QCustomPlot *plot, const QString &name);

} // namespace forkpoint
