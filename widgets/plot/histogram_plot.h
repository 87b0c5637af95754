// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/diff_stats.h"

#include <QColor>
#include <QWidget>

#include <memory>
#include <vector>

class QCustomPlot;
class QLabel;

namespace forkpoint {

/// Bars per power of two, several series side by side, zero in a bin of its own at the left. Counts
/// are on a logarithmic axis, so that one element is seen beside a million.
class HistogramPlot : public QWidget
{
    Q_OBJECT

public:
    struct Series
    {
        QString name; ///< "|B−A|"
        QColor color;
        PowerHistogram histogram;
    };

    explicit HistogramPlot(QWidget *parent = nullptr);
    ~HistogramPlot() override;

    /// `quantity` names the axis: "magnitude, powers of two".
    void setSeries(std::vector<Series> series, const QString &quantity);
    /// The text of an empty plot.
    void setEmptyText(const QString &text);
    /// What is drawn for one series: (position, count); zero stands at zeroPosition().
    std::vector<std::pair<int, std::uint64_t>> drawnBins(std::size_t series) const;
    int zeroPosition() const { return m_zeroPosition; }

protected:
    void changeEvent(QEvent *event) override;
    bool eventFilter(QObject *object, QEvent *event) override;

private:
    void rebuild();
    void buildAxis(int lowest, int highest, bool anyZero, double largest);
    QString toolTipAt(double position) const;

    QCustomPlot *m_plot;
    QLabel *m_legend, *m_empty;
    std::vector<Series> m_series;
    QString m_quantity;
    int m_zeroPosition = 0;
};

} // namespace forkpoint
