// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/value_format.h"
#include "widgets/views/element_rows.h"

#include <QAbstractScrollArea>

#include <array>

class QAction;

namespace forkpoint {

/// The element table of the selected tensor: 10^10 elements scroll like ten. Rows that are on their
/// way or could not be read say so in their place.
class ElementView : public QAbstractScrollArea
{
    Q_OBJECT

public:
    explicit ElementView(ViewContext *context, QWidget *parent = nullptr);

    void setOrder(ElementOrder order);
    ElementOrder order() const { return m_rows->order(); }
    ElementOrder chosenOrder() const { return m_rows->chosenOrder(); }
    BitsOf bitsOf() const { return m_bits; }
    const ElementRows &rows() const { return *m_rows; }
    void setFilter(const ElementFilter &filter);
    const ElementFilter &filter() const { return m_rows->filter(); }
    void setFormat(ValueFormat format, BitsOf bits);
    /// Scrolls to that element in the order of indices, taking off a filter.
    void goToIndex(Index index);
    void goToFirstDifference();

    QAction *nextDifferenceAction() const { return m_next; }         ///< F7
    QAction *previousDifferenceAction() const { return m_previous; } ///< Shift+F7

    std::uint64_t rowCount() const { return m_rows->count(); }
    std::uint64_t firstVisibleRow() const { return m_top; }
    std::uint64_t currentRow() const { return m_current; }
    const ElementRow *currentElement() const { return m_rows->at(m_current); } ///< null: not known
    std::optional<Index> currentIndex() const;       ///< element of the current row, once known
    std::optional<double> currentDifference() const; ///< B-A of it, where it is a finite number
    void setCurrentRow(std::uint64_t row, bool extend = false);
    /// What a row shows, cell by cell; one cell with the reason while it has no data.
    QStringList rowTexts(std::uint64_t row) const;

Q_SIGNALS:
    void orderChanged(forkpoint::ElementOrder order);
    void filterChanged();
    void currentChanged();
    void message(const QString &text);

protected:
    void paintEvent(QPaintEvent *event) override;
    void resizeEvent(QResizeEvent *event) override;
    void scrollContentsBy(int dx, int dy) override;
    void keyPressEvent(QKeyEvent *event) override;
    void mousePressEvent(QMouseEvent *event) override;
    void mouseMoveEvent(QMouseEvent *event) override;
    void wheelEvent(QWheelEvent *event) override;
    void contextMenuEvent(QContextMenuEvent *event) override;
    void changeEvent(QEvent *event) override;

private:
    static constexpr std::uint64_t MaximumCopy = 100'000;

    void restart(bool samePair);
    void fetchVisible();
    void measure(const std::vector<ElementRow> &rows);
    void jump(bool backward);
    void copy();
    void finishCopy(const std::vector<ElementRow> &rows);
    void copyValue(const ElementRow &row);
    void askToSaveRows();
    QStringList texts(const ElementRow &row) const;
    QString emptyText() const;
    QString bitsTitle() const;

    int rowsInView() const;
    int rowPixels() const;
    std::vector<int> columnWidths() const;
    std::uint64_t rowAtY(int y) const;
    void setTop(std::uint64_t top);
    void updateScrollBars();
    void paintHeader(QPainter &painter, const std::vector<int> &widths) const;
    void paintRow(QPainter &painter, std::uint64_t row, int y,
                  const std::vector<int> &widths) const;
    void paintBits(QPainter &painter, const QRect &cell, const ElementRow &row) const;

    ViewContext *m_context;
    ElementRows *m_rows;
    QAction *m_next, *m_previous, *m_copy;
    ValueFormat m_format = ValueFormat::Digits;
    BitsOf m_bits = BitsOf::B;
    std::array<int, 5> m_widest{}; ///< characters of each column up to the ULP
    std::uint64_t m_top = 0, m_current = 0, m_anchor = 0;
    bool m_scrolling = false;
    QString m_saveTo; ///< where the rows go that are being collected; empty: the clipboard
};

} // namespace forkpoint
