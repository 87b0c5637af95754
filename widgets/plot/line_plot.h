// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QColor>
#include <QWidget>

#include <vector>

class QCustomPlot;
class QLabel;

namespace forkpoint {

/// Magnitudes over the steps, on a logarithmic axis; zero and unknown values leave a gap.
class LinePlot : public QWidget
{
    Q_OBJECT

public:
    struct Series
    {
        QString name;
        QColor color;
        bool dashed = false; ///< so that colour does not stand alone
        std::vector<std::pair<double, double>> points;
    };

    explicit LinePlot(QWidget *parent = nullptr);

    void setSeries(std::vector<Series> series);
    void setEmptyText(const QString &text);
    QByteArray picture(const QString &suffix) const; ///< "svg" or "png", with the legend

Q_SIGNALS:
    void saveRequested(); ///< the picture

protected:
    void changeEvent(QEvent *event) override;

private:
    void rebuild();

    QCustomPlot *m_plot;
    QLabel *m_legend, *m_empty;
    std::vector<Series> m_series;
};

} // namespace forkpoint
