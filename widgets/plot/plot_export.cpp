// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/plot/plot_export.h"

#include <qcustomplot.h>

#include <QApplication>
#include <QClipboard>
#include <QFileDialog>
#include <QMenu>
#include <QSvgGenerator>

namespace forkpoint {

namespace {

constexpr double Sharpness = 2.0; ///< pixels of a saved picture, a pixel of the screen

bool saveSvg(QCustomPlot *plot, const QString &path)
{
    QSvgGenerator generator;
    generator.setFileName(path);
    generator.setSize(plot->size());
    generator.setViewBox(plot->rect());
    QCPPainter painter;
    if (!painter.begin(&generator))
        return false;
    painter.setMode(QCPPainter::pmVectorized);
    painter.fillRect(plot->rect(), plot->palette().color(QPalette::Base));
    plot->toPainter(&painter, plot->width(), plot->height());
    return painter.end();
}

void choosePath(QCustomPlot *plot, const QString &name)
{
    auto *dialog = new QFileDialog(plot->window(), QObject::tr("Save plot"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setNameFilters({QObject::tr("SVG (*.svg)"), QObject::tr("PNG (*.png)")});
    dialog->setDefaultSuffix(QStringLiteral("svg"));
    dialog->selectFile(name + QStringLiteral(".svg"));
    QObject::connect(dialog, &QFileDialog::fileSelected, plot,
                     [plot](const QString &path) { savePlot(plot, path); });
    dialog->open();
}

} // namespace

bool savePlot(QCustomPlot *plot, const QString &path)
{
    if (path.endsWith(QLatin1String(".svg"), Qt::CaseInsensitive))
        return saveSvg(plot, path);
    return plot->toPixmap(plot->width(), plot->height(), Sharpness).save(path, "PNG");
}

void addPlotMenu(QCustomPlot *plot, const QString &name)
{
    plot->setContextMenuPolicy(Qt::ActionsContextMenu);
    auto *copy = new QAction(QObject::tr("Copy picture"), plot);
    auto *save = new QAction(QObject::tr("Save plot as SVG or PNG…"), plot);
    QObject::connect(copy, &QAction::triggered, plot, [plot] {
        QApplication::clipboard()->setPixmap(
            plot->toPixmap(plot->width(), plot->height(), Sharpness));
    });
    QObject::connect(save, &QAction::triggered, plot, [plot, name] { choosePath(plot, name); });
    plot->addActions({copy, save});
}

} // namespace forkpoint
