// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/plot/picture.h"

#include <qcustomplot.h>

#include <QAction>
#include <QApplication>
#include <QBuffer>
#include <QClipboard>
#include <QSvgGenerator>

namespace forkpoint {

namespace {

constexpr double Sharpness = 2.0; ///< pixels of a saved picture, a pixel of the screen
constexpr int Gap = 6;

/// One line from left to right; a dashed curve has a dashed mark.
void paintLegend(QPainter &painter, const std::vector<LegendEntry> &legend, const QString &note,
                 const QPalette &palette)
{
    const QFontMetrics metrics = painter.fontMetrics();
    const int middle = Gap + metrics.height() / 2, mark = metrics.height();
    int x = Gap;
    const auto write = [&](const QString &text, const QColor &color) {
        painter.setPen(color);
        painter.drawText(QPoint(x, Gap + metrics.ascent()), text);
        x += metrics.horizontalAdvance(text) + 2 * Gap;
    };
    for (const LegendEntry &entry : legend) {
        painter.setPen(QPen(entry.color, mark / 4, entry.dashed ? Qt::DotLine : Qt::SolidLine));
        painter.drawLine(x, middle, x + mark, middle);
        x += mark + Gap;
        write(entry.name, palette.color(QPalette::Text));
    }
    write(note, palette.color(QPalette::PlaceholderText));
}

} // namespace

QByteArray makePicture(QSize size, const QString &suffix,
                       const std::function<void(QPaintDevice *)> &paint)
{
    QBuffer buffer;
    buffer.open(QIODevice::WriteOnly);
    if (suffix == QLatin1String("svg")) {
        QSvgGenerator generator;
        generator.setOutputDevice(&buffer);
        generator.setSize(size);
        generator.setViewBox(QRect(QPoint(0, 0), size));
        generator.setTitle(QStringLiteral("Forkpoint"));
        paint(&generator);
        return buffer.data();
    }
    QImage image(size * Sharpness, QImage::Format_RGB32);
    image.setDevicePixelRatio(Sharpness);
    paint(&image);
    image.save(&buffer, "PNG");
    return buffer.data();
}

QByteArray makePicture(QCustomPlot *plot, const std::vector<LegendEntry> &legend,
                       const QString &note, const QString &suffix)
{
    const QSize whole = plot->size() + QSize(0, plot->fontMetrics().height() + 2 * Gap);
    return makePicture(whole, suffix, [&](QPaintDevice *device) {
        QCPPainter painter(device);
        painter.setMode(QCPPainter::pmVectorized);
        painter.fillRect(QRect(QPoint(0, 0), whole), plot->palette().color(QPalette::Base));
        painter.setFont(plot->font());
        paintLegend(painter, legend, note, plot->palette());
        painter.translate(0, whole.height() - plot->height());
        plot->toPainter(&painter, plot->width(), plot->height());
    });
}

void addPictureMenu(QWidget *widget, std::function<QByteArray(const QString &suffix)> picture,
                    std::function<void()> save)
{
    widget->setContextMenuPolicy(Qt::ActionsContextMenu);
    auto *copyAction = new QAction(QObject::tr("Copy picture"), widget);
    auto *saveAction = new QAction(QObject::tr("Save picture as PNG or SVG…"), widget);
    QObject::connect(copyAction, &QAction::triggered, widget, [picture = std::move(picture)] {
        const QByteArray png = picture(QStringLiteral("png"));
        QApplication::clipboard()->setImage(QImage::fromData(png, "PNG"));
    });
    QObject::connect(saveAction, &QAction::triggered, widget, std::move(save));
    widget->addActions({copyAction, saveAction});
}

} // namespace forkpoint
