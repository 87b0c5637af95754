// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QByteArray>
#include <QColor>
#include <QSize>
#include <QString>

#include <functional>
#include <vector>

class QAction;
class QCustomPlot;
class QPaintDevice;
class QWidget;

namespace forkpoint {

/// A picture file of something that paints itself: "svg", or a PNG of twice the pixels.
QByteArray makePicture(QSize size, const QString &suffix,
                       const std::function<void(QPaintDevice *)> &paint);

/// What a curve of a plot is.
struct LegendEntry
{
    QString name;
    QColor color;
    bool dashed = false;
};

/// A plot as it is on the screen, with its legend and a note above it.
QByteArray makePicture(QCustomPlot *plot, const std::vector<LegendEntry> &legend,
                       const QString &note, const QString &suffix);

/// Right click on `widget`: copy its picture, or save it (`save` asks where).
void addPictureMenu(QWidget *widget, std::function<QByteArray(const QString &suffix)> picture,
                    std::function<void()> save);

} // namespace forkpoint
