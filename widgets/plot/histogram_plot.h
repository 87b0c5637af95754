// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compare/diff_stats.h"
#include "model/compare/element_filter.h"

#include <QColor>
#include <QWidget>
#include <algorithm>

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

class QCPItemRect;
class QCPItemStraightLine;
class QCustomPlot;
class QHBoxLayout;
class QKeyEvent;
class QLabel;

namespace forkpoint {

/// Bars per power of two, several series side by side; zero in a bin of its own at the left,
/// infinities and NaN at the right. Counts are on a logarithmic axis, so that one element is seen
/// beside a million. Dragging, or Shift and the arrow keys, select bins to filter by; Escape takes
/// the selection off.
class HistogramPlot : public QWidget
{
    Q_OBJECT

public:
    struct Series
    {
        QString name; ///< "|B−A|"
        QColor color;
        PowerHistogram histogram;
        MagnitudeKind kind = MagnitudeKind::AbsDifference;
        std::uint64_t infinite = 0, nan = 0; ///< of that side
    };

    explicit HistogramPlot(QWidget *parent = nullptr);
    ~HistogramPlot() override;

    /// `quantity` names the axis: "magnitude, powers of two".
    void setSeries(std::vector<Series> series, const QString &quantity);
    /// Puts a control at the right end of the legend's line.
    void addControl(QWidget *control);
    /// "svg" or "png", with the legend.
    QByteArray picture(const QString &suffix) const;
    /// The text of an empty plot.
    void setEmptyText(const QString &text);
    /// What is drawn for one series: (position, count); zero stands at zeroPosition().
    std::vector<std::pair<int, std::uint64_t>> drawnBins(std::size_t series) const;
    int zeroPosition() const { return m_zeroPosition; }
    int infinitePosition() const { return m_infinitePosition; }
    int nanPosition() const { return m_infinitePosition + std::max(2, m_every * 2 / 3); }

    /// Selects bins by position, both included, and says so.
    void selectBins(int first, int last);
    void clearSelection();
    /// The magnitude of the row that the table is on; nothing for none.
    void setMarked(std::optional<double> magnitude);

Q_SIGNALS:
    void rangeSelected(const forkpoint::MagnitudeRange &range);
    void selectionCleared();
    void saveRequested(); ///< the picture

protected:
    void changeEvent(QEvent *event) override;
    bool eventFilter(QObject *object, QEvent *event) override;

private:
    void rebuild();
    void buildAxis(int lowest, int highest, bool anyZero, bool anySpecial, double largest);
    void drawSelection();
    void moveCursor(int bins, bool extend);
    bool takeKey(QKeyEvent *event);
    MagnitudeKind kindWithin(int first, int last) const;
    QString toolTipAt(double position) const;

    QCustomPlot *m_plot;
    QHBoxLayout *m_header;
    QLabel *m_legend, *m_empty;
    std::vector<Series> m_series;
    QString m_quantity;
    int m_zeroPosition = 0, m_infinitePosition = 0;
    int m_every = 1;                               ///< powers of two from one label to the next
    std::optional<std::pair<int, int>> m_selected; ///< where it began, and where it is
    std::optional<double> m_marked;
    QCPItemRect *m_selection = nullptr; ///< owned by the plot
    QCPItemStraightLine *m_mark = nullptr;
};

} // namespace forkpoint
