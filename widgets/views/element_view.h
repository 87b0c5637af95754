// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/view_context.h"

#include <QAbstractScrollArea>

#include <array>
#include <map>
#include <vector>

class QAction;

namespace forkpoint {

/// The element table of the selected tensor. Rows are numbered with 64 bits, so 10^10 elements
/// scroll like ten. Only windows of rows are asked for; rows that are on their way or could not be
/// read say so in their place.
class ElementView : public QAbstractScrollArea
{
    Q_OBJECT

public:
    explicit ElementView(ViewContext *context, QWidget *parent = nullptr);

    void setOrder(ElementOrder order);
    ElementOrder order() const { return m_order; }
    /// With order ByIndex scrolls to that element, else switches to it first.
    void goToIndex(Index index);
    void goToFirstDifference();

    QAction *nextDifferenceAction() const { return m_next; }         ///< F7
    QAction *previousDifferenceAction() const { return m_previous; } ///< Shift+F7

    std::uint64_t rowCount() const;
    std::uint64_t firstVisibleRow() const { return m_top; }
    std::uint64_t currentRow() const { return m_current; }
    void setCurrentRow(std::uint64_t row, bool extend = false);
    /// What a row shows, cell by cell; one cell with the reason while it has no data.
    QStringList rowTexts(std::uint64_t row) const;

Q_SIGNALS:
    void orderChanged(forkpoint::ElementOrder order);
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
    static constexpr std::uint64_t PageRows = 256;
    static constexpr std::size_t MaximumPages = 64;
    static constexpr std::uint64_t MaximumCopy = 100'000;

    const TensorRow *tensor() const;
    void restart();
    void fetchVisible();
    void request(std::uint64_t offset, std::uint64_t count);
    void receive(quint64 id, const std::shared_ptr<const ElementPage> &page);
    void measure(const std::vector<ElementRow> &rows);
    void fail(quint64 id, const QString &error);
    void jump(bool backward);
    void land(quint64 id, std::optional<Index> index);
    void copy();
    void finishCopy(const std::vector<ElementRow> &rows);
    const ElementRow *rowAt(std::uint64_t row) const;
    QStringList texts(const ElementRow &row) const;
    QString emptyText() const;

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
    QAction *m_next, *m_previous, *m_copy;
    ElementOrder m_order = ElementOrder::Largest;
    std::shared_ptr<const CheckpointComparison> m_comparison; ///< keeps tensor() alive
    std::optional<std::size_t> m_tensor;
    QString m_tensorName;
    DType m_dtype;
    forkpoint::Shape m_shape;
    Index m_elements = 0;
    std::optional<Index> m_differing;

    std::map<std::uint64_t, std::vector<ElementRow>> m_pages; ///< by page number
    std::array<int, 5> m_widest{}; ///< characters of each column up to the ULP
    std::uint64_t m_nextId = 1;
    std::uint64_t m_pendingId = 0, m_pendingOffset = 0, m_pendingCount = 0;
    std::uint64_t m_jumpId = 0, m_copyId = 0;
    std::optional<std::uint64_t> m_end; ///< rows, once a complete page told
    std::uint64_t m_failedOffset = 0, m_failedCount = 0;
    QString m_error;

    std::uint64_t m_top = 0, m_current = 0, m_anchor = 0;
    bool m_scrolling = false;
};

} // namespace forkpoint
