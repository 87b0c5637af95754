// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QColor>
#include <QWidget>

#include <vector>

class QCustomPlot;
class QLabel;

namespace forkpoint {

/// Numbers over the steps. On a logarithmic axis, which is of magnitudes, zero leaves a gap as
/// unknown values do.
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

    enum class Scale { Logarithmic, Linear };

    explicit LinePlot(QWidget *parent = nullptr);

    void setScale(Scale scale); ///< at first logarithmic

    void setSeries(std::vector<Series> series);
    void setEmptyText(const QString &text);
    QByteArray picture(const QString &suffix) const; ///< "svg" or "png", with the legend

Q_SIGNALS:
    void saveRequested(); ///< the picture

protected:
    void changeEvent(QEvent *event) override;

private:
    void rebuild();
    bool isShown(double value) const;
    void setRange(double lowest, double highest);

    QCustomPlot *m_plot;
    QLabel *m_legend, *m_empty;
    std::vector<Series> m_series;
    Scale m_scale = Scale::Logarithmic;
};

} // namespace forkpoint
