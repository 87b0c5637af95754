// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compare/element_map.h"

#include <QImage>
#include <QWidget>

#include <memory>
#include <optional>

namespace forkpoint {

/// Powers of two from the weakest to the strongest colour.
struct ColourRange
{
    int lowest = 0, highest = 0;
};

/// A map of two tensors as coloured cells, with its axes and its scale. A box is drawn with the
/// mouse or with Shift and the arrow keys; Return filters by it, plus looks closer, Escape takes it
/// off.
class HeatMapView : public QWidget
{
    Q_OBJECT

public:
    explicit HeatMapView(QWidget *parent = nullptr);

    void setMap(std::shared_ptr<const ElementMap> map);
    const ElementMap *map() const { return m_map.get(); }
    void setAxes(const QString &rows, const QString &columns);
    /// Nothing: from the smallest to the largest magnitude of the map.
    void setRange(std::optional<ColourRange> range);
    ColourRange range() const;                    ///< in use
    void setMarked(std::optional<Index> element); ///< the row that the table is on
    void setEmptyText(const QString &text);

    /// In cells, from a corner to the opposite one; for tests and the keyboard.
    void selectBox(QPoint from, QPoint to);
    void clearBox();
    std::optional<PlaneWindow> box() const; ///< of the plane
    QColor colourOf(const MapCell &cell) const;
    QString cellText(std::size_t row, std::size_t column) const;
    QByteArray picture(const QString &suffix) const; ///< "svg" or "png", with axes and scale

    QSize sizeHint() const override { return {400, 260}; }
    QSize minimumSizeHint() const override { return {160, 120}; }

Q_SIGNALS:
    void boxSelected(const forkpoint::PlaneWindow &window); ///< filter by it
    void boxCleared();
    void closerRequested(const forkpoint::PlaneWindow &window);
    void elementActivated(forkpoint::Index index);
    void saveRequested(); ///< the picture

protected:
    void paintEvent(QPaintEvent *event) override;
    void mousePressEvent(QMouseEvent *event) override;
    void mouseMoveEvent(QMouseEvent *event) override;
    void mouseReleaseEvent(QMouseEvent *event) override;
    void mouseDoubleClickEvent(QMouseEvent *event) override;
    void wheelEvent(QWheelEvent *event) override;
    void keyPressEvent(QKeyEvent *event) override;
    void changeEvent(QEvent *event) override;
    bool event(QEvent *event) override;

private:
    QRect mapArea() const;
    QRect cellsRect(QPoint from, QPoint to) const; ///< pixels of a box of cells
    std::optional<QPoint> cellAt(QPoint pixel) const;
    PlaneWindow windowOf(QPoint from, QPoint to) const;
    void render();
    void paint(QPainter &painter) const;
    void paintAxes(QPainter &painter, const QRect &area) const;
    void paintScale(QPainter &painter, const QRect &area) const;
    void paintScaleName(QPainter &painter, const QRect &bar) const;
    void paintMarked(QPainter &painter) const;

    std::shared_ptr<const ElementMap> m_map;
    QImage m_image; ///< a pixel a cell
    QString m_rowAxis, m_columnAxis, m_emptyText;
    std::optional<ColourRange> m_range;
    std::optional<Index> m_marked;
    std::optional<QPoint> m_from, m_to; ///< corners of the box, in cells
    bool m_dragging = false;
};

} // namespace forkpoint
