// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/view_context.h"

#include <QWidget>

class QComboBox;
class QLabel;
class QLineEdit;
class QSplitter;
class QToolButton;

namespace forkpoint {

class ElementView;
class HistogramPlot;
class StyledText;

/// Histogram and element table of the selected pair as one linked view: bins filter the table, its
/// row is marked in the histogram.
class ElementsPage : public QWidget
{
    Q_OBJECT

public:
    explicit ElementsPage(ViewContext *context, QWidget *parent = nullptr);

    ElementView *elements() const { return m_elements; }
    /// Shows a widget beside the histogram while there is room for both.
    void setBeside(QWidget *widget);
    /// Statistics to draw; null while there are none. `row` is the selected pair, or null; `lone`
    /// the side whose elements alone they count.
    void showStats(const TensorRow *row, const DiffStats *stats, std::optional<Side> lone);
    /// A box of the heat map; nothing takes it off.
    void setPart(const std::optional<PlanePart> &part);
    /// Goes to a flat index or coordinates, "[52, 23]"; says so when there is no such element.
    void goTo(const QString &text);

Q_SIGNALS:
    void message(const QString &text);
    void partCleared(); ///< by the user, here

protected:
    void resizeEvent(QResizeEvent *event) override;

private:
    QWidget *buildBar();
    QComboBox *addChoice(QWidget *bar, const QString &name);
    void applyFormat();
    void describeFilter();
    QString whyByIndex() const;
    void clearFilter();
    void markCurrent();
    void showOrder();
    void showPlace();
    void makeRoom();

    ViewContext *m_context;
    QSplitter *m_upper;
    QToolButton *m_plotButton; ///< while there is room for one of both alone
    HistogramPlot *m_plot;
    QWidget *m_beside = nullptr;
    QComboBox *m_plotKind, *m_order, *m_format, *m_bits;
    QLineEdit *m_goTo;
    StyledText *m_filterText;
    QLabel *m_place;
    ElementView *m_elements;
    QString m_shownName;
    Index m_elementCount = 0;
    forkpoint::Shape m_shape;
};

} // namespace forkpoint
