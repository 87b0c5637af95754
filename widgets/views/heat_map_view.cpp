// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/heat_map_view.h"

#include "widgets/display_text.h"
#include "widgets/plot/picture.h"
#include "widgets/theme.h"
#include "widgets/views/heat_map_colours.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPaintEngine>
#include <QPainter>
#include <QToolTip>

#include <algorithm>
#include <cmath>

namespace forkpoint {

namespace {

constexpr int ScaleWidth = 12, Gap = 8;

QString nameOf(MapQuantity quantity)
{
    switch (quantity) {
    case MapQuantity::A: return QStringLiteral("|A|");
    case MapQuantity::B: return QStringLiteral("|B|");
    case MapQuantity::Difference: return QStringLiteral("|B−A|");
    case MapQuantity::Ulp: break;
    }
    return QStringLiteral("ULP");
}

bool isOfDifference(MapQuantity quantity)
{
    return quantity == MapQuantity::Difference || quantity == MapQuantity::Ulp;
}

ColourRange rangeOf(const ElementMap &map)
{
    std::optional<ColourRange> range;
    for (const MapCell &cell : map.cells) {
        if (cell.index == NoIndex || cell.value == 0.0)
            continue;
        const int power = std::ilogb(cell.value);
        range = range ? ColourRange{std::min(range->lowest, power), std::max(range->highest, power)}
                      : ColourRange{power, power};
    }
    return range.value_or(ColourRange());
}

} // namespace

HeatMapView::HeatMapView(QWidget *parent) : QWidget(parent)
{
    setObjectName(QStringLiteral("heatMap"));
    setAccessibleName(tr("Heat map"));
    setFocusPolicy(Qt::StrongFocus);
    setMouseTracking(true);
    addPictureMenu(
        this, [this](const QString &suffix) { return picture(suffix); },
        [this] { Q_EMIT saveRequested(); });
}

void HeatMapView::setMap(std::shared_ptr<const ElementMap> map)
{
    const bool same = map && m_map && map->query == m_map->query;
    m_map = std::move(map);
    if (!same)
        m_from = m_to = std::nullopt;
    render();
}

void HeatMapView::setAxes(const QString &rows, const QString &columns)
{
    m_rowAxis = rows;
    m_columnAxis = columns;
    update();
}

void HeatMapView::setRange(std::optional<ColourRange> range)
{
    m_range = range;
    render();
}

ColourRange HeatMapView::range() const
{
    return m_range ? *m_range : m_map ? rangeOf(*m_map) : ColourRange();
}

void HeatMapView::setMarked(std::optional<Index> element)
{
    m_marked = element;
    update();
}

void HeatMapView::setEmptyText(const QString &text)
{
    m_emptyText = text;
    update();
}

// --- colours ------------------------------------------------------------------------------------

QColor HeatMapView::colourOf(const MapCell &cell) const
{
    const Theme theme = Theme::of(palette());
    const MapQuantity quantity = m_map->query.quantity;
    if (cell.elements == 0)
        return theme.window;
    if (cell.index == NoIndex && cell.notFinite > 0)
        return theme.unknown;
    if (cell.index == NoIndex || cell.value == 0.0)
        return isOfDifference(quantity) && cell.differing > 0 ? heatColour(theme, quantity, 0)
                                                              : theme.header;
    const ColourRange used = range();
    const double span = std::max(1, used.highest - used.lowest + 1);
    const double place = std::log2(std::fabs(cell.value)) - used.lowest;
    return heatColour(theme, quantity, place / span);
}

void HeatMapView::render()
{
    m_image = {};
    if (m_map && !m_map->cells.empty()) {
        m_image = QImage(int(m_map->columns), int(m_map->rows), QImage::Format_RGB32);
        for (std::size_t row = 0; row < m_map->rows; ++row) {
            for (std::size_t column = 0; column < m_map->columns; ++column)
                m_image.setPixelColor(int(column), int(row), colourOf(m_map->at(row, column)));
        }
    }
    update();
}

// --- geometry -----------------------------------------------------------------------------------

QRect HeatMapView::mapArea() const
{
    const int line = fontMetrics().height();
    const int left = fontMetrics().horizontalAdvance(QStringLiteral("00000000")) + Gap;
    const int right =
        ScaleWidth + 2 * Gap + fontMetrics().horizontalAdvance(QStringLiteral("0.0e-000"));
    return rect().adjusted(left, line + 4, -right, -2 * line - 4);
}

QRect HeatMapView::cellsRect(QPoint from, QPoint to) const
{
    const QRect area = mapArea();
    const auto x = [&](int column) {
        return area.left() + column * area.width() / m_image.width();
    };
    const auto y = [&](int row) { return area.top() + row * area.height() / m_image.height(); };
    const int left = std::min(from.x(), to.x()), right = std::max(from.x(), to.x()) + 1;
    const int top = std::min(from.y(), to.y()), bottom = std::max(from.y(), to.y()) + 1;
    return QRect(QPoint(x(left), y(top)), QPoint(x(right) - 1, y(bottom) - 1));
}

std::optional<QPoint> HeatMapView::cellAt(QPoint pixel) const
{
    const QRect area = mapArea();
    if (m_image.isNull() || area.width() <= 0 || area.height() <= 0)
        return std::nullopt;
    const int column = (pixel.x() - area.left()) * m_image.width() / area.width();
    const int row = (pixel.y() - area.top()) * m_image.height() / area.height();
    return QPoint(std::clamp(column, 0, m_image.width() - 1),
                  std::clamp(row, 0, m_image.height() - 1));
}

PlaneWindow HeatMapView::windowOf(QPoint from, QPoint to) const
{
    const auto at = [&](int row, int column) {
        return m_map->windowOf(std::size_t(row), std::size_t(column));
    };
    const PlaneWindow first = at(std::min(from.y(), to.y()), std::min(from.x(), to.x()));
    const PlaneWindow last = at(std::max(from.y(), to.y()), std::max(from.x(), to.x()));
    return {first.row, first.column, last.row + last.rows - first.row,
            last.column + last.columns - first.column};
}

void HeatMapView::selectBox(QPoint from, QPoint to)
{
    if (m_image.isNull())
        return;
    const QRect cells(0, 0, m_image.width(), m_image.height());
    const auto inside = [&](QPoint cell) {
        return QPoint(std::clamp(cell.x(), 0, cells.right()),
                      std::clamp(cell.y(), 0, cells.bottom()));
    };
    m_from = inside(from);
    m_to = inside(to);
    update();
}

void HeatMapView::clearBox()
{
    m_from = m_to = std::nullopt;
    update();
}

std::optional<PlaneWindow> HeatMapView::box() const
{
    if (!m_from || !m_to || m_image.isNull())
        return std::nullopt;
    return windowOf(*m_from, *m_to);
}

QString HeatMapView::cellText(std::size_t row, std::size_t column) const
{
    const MapCell &cell = m_map->at(row, column);
    const PlaneWindow window = m_map->windowOf(row, column);
    const auto span = [](Index first, Index count) {
        return count <= 1 ? QString::number(first)
                          : QStringLiteral("%1–%2").arg(first).arg(first + count - 1);
    };
    QString text = tr("row %1, column %2\n%3 of it")
                       .arg(span(window.row, window.rows), span(window.column, window.columns),
                            countedText(cell.elements, "element", "elements"));
    if (isOfDifference(m_map->query.quantity))
        text += tr(", %1 differ").arg(groupedText(cell.differing));
    if (cell.notFinite > 0)
        text += tr(", %1 not finite").arg(groupedText(cell.notFinite));
    if (cell.index != NoIndex)
        text += tr("\nlargest: %1 at element %2")
                    .arg(QString::number(cell.value, 'g', 9))
                    .arg(cell.index);
    return text;
}

// --- mouse and keyboard -------------------------------------------------------------------------

void HeatMapView::mousePressEvent(QMouseEvent *event)
{
    if (event->button() != Qt::LeftButton)
        return;
    const auto cell = cellAt(event->pos());
    m_dragging = cell.has_value() && mapArea().contains(event->pos());
    if (m_dragging)
        selectBox(*cell, *cell);
}

void HeatMapView::mouseMoveEvent(QMouseEvent *event)
{
    if (!m_dragging)
        return;
    if (const auto cell = cellAt(event->pos()))
        selectBox(*m_from, *cell);
}

void HeatMapView::mouseReleaseEvent(QMouseEvent *)
{
    if (m_dragging && box())
        Q_EMIT boxSelected(*box());
    m_dragging = false;
}

void HeatMapView::mouseDoubleClickEvent(QMouseEvent *event)
{
    const auto cell = cellAt(event->pos());
    if (!cell || !mapArea().contains(event->pos()))
        return;
    const MapCell &shown = m_map->at(std::size_t(cell->y()), std::size_t(cell->x()));
    if (shown.index != NoIndex)
        Q_EMIT elementActivated(shown.index);
}

void HeatMapView::wheelEvent(QWheelEvent *event)
{
    const auto cell = cellAt(event->position().toPoint());
    if (!cell || event->angleDelta().y() == 0)
        return;
    const bool closer = event->angleDelta().y() > 0;
    const PlaneWindow centre = windowOf(*cell, *cell);
    const PlaneWindow &now = m_map->query.window;
    const auto scaled = [closer](Index extent, Index whole) {
        return closer ? std::max<Index>(1, extent / 2) : std::min(whole, extent * 2);
    };
    const auto begin = [](Index middle, Index extent, Index whole) {
        const Index first = middle > extent / 2 ? middle - extent / 2 : 0;
        return std::min(first, whole - extent);
    };
    const ElementPlane &plane = m_map->query.plane;
    PlaneWindow next;
    next.rows = scaled(now.rows, plane.rows);
    next.columns = scaled(now.columns, plane.columns);
    next.row = begin(centre.row, next.rows, plane.rows);
    next.column = begin(centre.column, next.columns, plane.columns);
    Q_EMIT closerRequested(next);
    event->accept();
}

void HeatMapView::keyPressEvent(QKeyEvent *event)
{
    const QPoint at = m_to.value_or(QPoint(0, 0));
    QPoint step;
    switch (event->key()) {
    case Qt::Key_Left: step = {-1, 0}; break;
    case Qt::Key_Right: step = {1, 0}; break;
    case Qt::Key_Up: step = {0, -1}; break;
    case Qt::Key_Down: step = {0, 1}; break;
    case Qt::Key_Return:
    case Qt::Key_Enter:
        if (box())
            Q_EMIT boxSelected(*box());
        return;
    case Qt::Key_Plus:
        if (box())
            Q_EMIT closerRequested(*box());
        return;
    case Qt::Key_Minus:
    case Qt::Key_Home:
        if (m_map)
            Q_EMIT closerRequested(PlaneWindow::of(m_map->query.plane));
        return;
    case Qt::Key_Escape:
        clearBox();
        Q_EMIT boxCleared();
        return;
    default: QWidget::keyPressEvent(event); return;
    }
    const QPoint to = m_to ? at + step : at;
    selectBox(event->modifiers() & Qt::ShiftModifier && m_from ? *m_from : to, to);
}

bool HeatMapView::event(QEvent *event)
{
    if (event->type() == QEvent::ToolTip) {
        const auto *help = static_cast<QHelpEvent *>(event);
        const auto cell = cellAt(help->pos());
        if (cell && mapArea().contains(help->pos()))
            QToolTip::showText(
                help->globalPos(),
                plainToolTip(cellText(std::size_t(cell->y()), std::size_t(cell->x()))), this);
        else
            QToolTip::hideText();
        return true;
    }
    return QWidget::event(event);
}

void HeatMapView::changeEvent(QEvent *event)
{
    if (event->type() == QEvent::PaletteChange)
        render();
    QWidget::changeEvent(event);
}

// --- painting -----------------------------------------------------------------------------------

void HeatMapView::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    paint(painter);
}

QByteArray HeatMapView::picture(const QString &suffix) const
{
    return makePicture(size(), suffix, [this](QPaintDevice *device) {
        QPainter painter(device);
        painter.setFont(font());
        painter.fillRect(rect(), palette().color(QPalette::Base));
        paint(painter);
    });
}

void HeatMapView::paint(QPainter &painter) const
{
    const Theme theme = Theme::of(palette());
    if (m_image.isNull()) {
        painter.setPen(theme.muted);
        painter.drawText(rect(), int(Qt::AlignCenter | Qt::TextWordWrap), m_emptyText);
        return;
    }
    const QRect area = mapArea();
    // Browsers smooth what they enlarge.
    const bool vector = painter.paintEngine()->type() == QPaintEngine::SVG;
    painter.drawImage(area, vector ? m_image.scaled(area.size() * 2) : m_image);
    painter.setPen(theme.border);
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(area.adjusted(-1, -1, 0, 0));
    paintAxes(painter, area);
    paintScale(painter, area);
    paintMarked(painter);
    if (m_from && m_to) {
        painter.setBrush(Qt::NoBrush);
        painter.setPen(QPen(theme.text, 1.5, Qt::DashLine));
        painter.drawRect(cellsRect(*m_from, *m_to).adjusted(-1, -1, 0, 0));
    }
    if (hasFocus()) {
        painter.setPen(theme.a);
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(rect().adjusted(0, 0, -1, -1));
    }
}

void HeatMapView::paintAxes(QPainter &painter, const QRect &area) const
{
    const PlaneWindow &window = m_map->query.window;
    const int line = fontMetrics().height();
    painter.setPen(Theme::of(palette()).muted);
    painter.drawText(QRect(2, 0, width() - 4, line), Qt::AlignVCenter,
                     fontMetrics().elidedText(m_rowAxis, Qt::ElideMiddle, width() - 4));
    painter.drawText(QRect(area.left(), height() - line, area.width(), line), int(Qt::AlignCenter),
                     fontMetrics().elidedText(m_columnAxis, Qt::ElideMiddle, area.width()));
    const auto ends = [&](Index first, Index count) {
        return std::pair(QString::number(first), QString::number(first + count - 1));
    };
    const auto [top, bottom] = ends(window.row, window.rows);
    const QRect rows(0, area.top(), area.left() - 4, area.height());
    painter.drawText(rows, int(Qt::AlignRight | Qt::AlignTop), top);
    if (window.rows > 1)
        painter.drawText(rows, int(Qt::AlignRight | Qt::AlignBottom), bottom);
    const auto [left, right] = ends(window.column, window.columns);
    const QRect columns(area.left(), area.bottom() + 2, area.width(), line);
    painter.drawText(columns, int(Qt::AlignLeft | Qt::AlignTop), left);
    if (window.columns > 1)
        painter.drawText(columns, int(Qt::AlignRight | Qt::AlignTop), right);
}

void HeatMapView::paintScale(QPainter &painter, const QRect &area) const
{
    const Theme theme = Theme::of(palette());
    const ColourRange used = range();
    const QRect bar(area.right() + Gap, area.top(), ScaleWidth, area.height());
    QLinearGradient gradient(bar.bottomLeft(), bar.topLeft());
    addHeatColours(gradient, theme, m_map->query.quantity);
    painter.fillRect(bar, gradient);
    painter.setPen(theme.border);
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(bar.adjusted(0, 0, -1, -1));
    painter.setPen(theme.muted);
    const QRect labels(bar.right() + 4, bar.top(), width() - bar.right() - 4, bar.height());
    if (m_map->largest <= 0.0) {
        painter.drawText(labels, int(Qt::AlignLeft | Qt::AlignTop), tr("all 0"));
        return;
    }
    paintScaleName(painter, bar);
    painter.drawText(labels, int(Qt::AlignLeft | Qt::AlignTop),
                     magnitudeText(std::ldexp(1.0, used.highest + 1)));
    painter.drawText(labels, int(Qt::AlignLeft | Qt::AlignBottom),
                     magnitudeText(std::ldexp(1.0, used.lowest)));
}

/// Beside the middle of the bar, upright, where it leaves room for that.
void HeatMapView::paintScaleName(QPainter &painter, const QRect &bar) const
{
    const QString name = nameOf(m_map->query.quantity);
    const QFontMetrics metrics = fontMetrics();
    if (bar.height() < metrics.horizontalAdvance(name) + 4 * metrics.height())
        return;
    painter.save();
    painter.translate(bar.right() + 4 + metrics.ascent(), bar.center().y());
    painter.rotate(-90);
    painter.drawText(QPoint(-metrics.horizontalAdvance(name) / 2, 0), name);
    painter.restore();
}

/// A cross hair on the element that the table is on.
void HeatMapView::paintMarked(QPainter &painter) const
{
    if (!m_marked)
        return;
    const auto place = m_map->query.plane.placeOf(*m_marked);
    const PlaneWindow &window = m_map->query.window;
    if (!place || !window.contains(place->first, place->second))
        return;
    const QRect area = mapArea();
    const double y = area.top()
        + (double(place->first - window.row) + 0.5) / double(window.rows) * area.height();
    const double x = area.left()
        + (double(place->second - window.column) + 0.5) / double(window.columns) * area.width();
    painter.setPen(QPen(Theme::of(palette()).text, 1));
    painter.drawLine(QPointF(area.left(), y), QPointF(x - 6, y));
    painter.drawLine(QPointF(x + 6, y), QPointF(area.right(), y));
    painter.drawLine(QPointF(x, area.top()), QPointF(x, y - 6));
    painter.drawLine(QPointF(x, y + 6), QPointF(x, area.bottom()));
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(QRectF(x - 6, y - 6, 12, 12));
}

} // namespace forkpoint
