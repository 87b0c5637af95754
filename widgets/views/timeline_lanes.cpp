// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/timeline_lanes.h"

#include "widgets/display_text.h"
#include "widgets/status_look.h"
#include "widgets/theme.h"

#include <QCoreApplication>
#include <QPainter>

#include <algorithm>
#include <cmath>
#include <utility>

namespace forkpoint {

namespace {

constexpr int CellRoom = 16;    // pixels between steps below which cells become columns
constexpr int WidestCell = 110; // wider ones only spread the same text
constexpr int LabelLeft = 14, LabelGap = 10;
constexpr int MostLabel = 32; // characters

QString tr(const char *text)
{
    return QCoreApplication::translate("TimelineLanes", text);
}

/// Between no difference and all: never so pale that one of a million could be taken for none. What
/// has no outline in the full colour is seen by itself: 0.7 of it has a contrast of 3 to 1.
QColor shade(const QColor &surface, const QColor &full, double share, double least = 0.35)
{
    const double weight = least + (1 - least) * std::clamp(share, 0.0, 1.0);
    const auto mixed = [&](int from, int to) {
        return int(std::lround(from + (to - from) * weight));
    };
    return QColor(mixed(surface.red(), full.red()), mixed(surface.green(), full.green()),
                  mixed(surface.blue(), full.blue()));
}

/// Relative luminance (WCAG 2).
double luminance(const QColor &color)
{
    const auto linear = [](double value) {
        return value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
    };
    return 0.2126 * linear(color.redF()) + 0.7152 * linear(color.greenF())
        + 0.0722 * linear(color.blueF());
}

/// Whichever of the two has more contrast on a fill.
QColor readableOn(const QColor &fill, const QColor &one, const QColor &other)
{
    const auto contrast = [&](const QColor &text) {
        const auto [low, high] = std::minmax(luminance(text), luminance(fill));
        return (high + 0.05) / (low + 0.05);
    };
    return contrast(one) >= contrast(other) ? one : other;
}

QString cellText(const Timeline::Cell &cell)
{
    QString text = sign(*cell.status);
    if (cell.different > 0)
        text += QStringLiteral(" %1/%2").arg(cell.different).arg(cell.compared);
    return text;
}

QString countsText(const Timeline::Cell &cell)
{
    switch (*cell.status) {
    case LinkStatus::Different:
        return tr("%1 of %2 values differ")
            .arg(groupedText(cell.different), groupedText(cell.compared));
    case LinkStatus::Equal:
        return tr("%1 values compared, all equal").arg(groupedText(cell.compared));
    case LinkStatus::Undecided:
        return tr("%1 values compared, no difference seen; the evidence does not say equal")
            .arg(groupedText(cell.compared));
    case LinkStatus::NotRecorded: break;
    }
    return tr("never recorded on both sides");
}

} // namespace

void TimelineLanes::setTimeline(Timeline timeline, std::optional<Place> divergence,
                                std::vector<Alone> alone)
{
    m_timeline = std::move(timeline);
    m_divergence = std::move(divergence);
    m_alone = std::move(alone);
}

int TimelineLanes::rowHeight(const QFontMetrics &metrics)
{
    return metrics.height() + 3;
}

int TimelineLanes::height(const QFontMetrics &metrics) const
{
    return isEmpty() ? 0 : int(m_timeline.rows().size()) * rowHeight(metrics) + 4;
}

int TimelineLanes::labelWidth(const QFontMetrics &metrics) const
{
    int widest = 0;
    for (const std::string &row : m_timeline.rows())
        widest = std::max(widest, metrics.horizontalAdvance(displayText(row)));
    return std::min(widest, metrics.averageCharWidth() * MostLabel) + LabelLeft + LabelGap;
}

QRect TimelineLanes::rowOfDivergence(const QRect &area) const
{
    const auto &rows = m_timeline.rows();
    const auto row =
        m_divergence ? std::find(rows.begin(), rows.end(), m_divergence->row) : rows.end();
    return row == rows.end() ? QRect() : rowRect(std::size_t(row - rows.begin()), area);
}

QRect TimelineLanes::rowRect(std::size_t row, const QRect &area) const
{
    const int height = (area.height() - 4) / std::max(1, int(m_timeline.rows().size()));
    return {area.left(), area.top() + int(row) * height, area.width(), height};
}

std::vector<TimelineLanes::Stretch> TimelineLanes::stretches(const QRect &area,
                                                             const StepAxis &axis) const
{
    std::vector<Stretch> result;
    const auto &steps = m_timeline.steps();
    std::size_t first = m_timeline.columnFrom(axis.stepAt(area.left() - WidestCell / 2));
    while (first < steps.size()) {
        const int x = int(std::lround(axis.xOf(double(steps[first]))));
        if (x > area.right() + WidestCell / 2)
            break;
        const std::size_t end = std::max(m_timeline.columnFrom(axis.stepAt(x + 0.5)), first + 1);
        result.push_back({x, first, end});
        first = end;
    }
    return result;
}

void TimelineLanes::paintCell(QPainter &painter, const QRect &cell, const Timeline::Cell &content,
                              bool hasText, const QPalette &palette) const
{
    const Theme theme = Theme::of(palette);
    const bool differs = content.status == LinkStatus::Different;
    const QColor color = theme.color(*content.status);
    const double share =
        content.compared > 0 ? double(content.different) / double(content.compared) : 1;
    if (!hasText) {
        // Without room for a sign, height tells: differing columns are full, others low.
        const int height = differs ? cell.height() - 2 : std::max(2, cell.height() / 4);
        painter.fillRect(QRect(cell.left(), cell.bottom() - height, cell.width(), height),
                         differs ? shade(theme.surface, color, share, 0.7) : color);
        return;
    }
    painter.setPen(QPen(differs ? color : theme.border, 1));
    painter.setBrush(differs ? QBrush(shade(theme.surface, color, share)) : QBrush(theme.surface));
    painter.drawRoundedRect(QRectF(cell).adjusted(0.5, 1.5, -0.5, -1.5), 3, 3);
    if (content.status == LinkStatus::NotRecorded) {
        painter.setPen(Qt::NoPen);
        painter.setBrush(QBrush(theme.border, Qt::BDiagPattern));
        painter.drawRoundedRect(QRectF(cell).adjusted(1, 2, -1, -2), 3, 3);
    }
    const QColor fill = shade(theme.surface, color, share);
    painter.setPen(differs ? readableOn(fill, theme.surface, theme.text) : color);
    const QString whole = cellText(content);
    const bool fits = painter.fontMetrics().horizontalAdvance(whole) + 6 <= cell.width();
    painter.drawText(cell, Qt::AlignCenter, fits ? whole : sign(*content.status));
}

void TimelineLanes::paintOutlines(QPainter &painter, const QRect &area, const StepAxis &axis,
                                  int width, const QPalette &palette,
                                  std::optional<std::int64_t> selected) const
{
    const Theme theme = Theme::of(palette);
    painter.setBrush(Qt::NoBrush);
    const auto left = [&](std::int64_t step) {
        return int(std::lround(axis.xOf(double(step)))) - width / 2;
    };
    if (m_divergence) {
        const auto &rows = m_timeline.rows();
        const auto row = std::find(rows.begin(), rows.end(), m_divergence->row);
        if (row != rows.end()) {
            const QRect lane = rowRect(std::size_t(row - rows.begin()), area);
            painter.setPen(QPen(theme.text, 2));
            painter.drawRoundedRect(
                QRect(left(m_divergence->step) - 1, lane.top(), width + 2, lane.height()), 4, 4);
        }
    }
    if (selected) {
        painter.setPen(QPen(theme.a, 2));
        painter.drawRoundedRect(
            QRect(left(*selected) - 3, area.top() - 1, width + 6, area.height() - 1), 4, 4);
    }
}

std::vector<std::pair<int, StepStatus>> TimelineLanes::aloneIn(const QRect &area,
                                                               const StepAxis &axis) const
{
    std::vector<std::pair<int, StepStatus>> result;
    double from = axis.stepAt(area.left() - WidestCell / 2);
    for (auto alone = aloneFrom(from); alone != m_alone.end(); alone = aloneFrom(from)) {
        const int x = int(std::lround(axis.xOf(double(alone->step))));
        if (x > area.right() + WidestCell / 2)
            break;
        result.emplace_back(x, alone->status);
        from = std::max(axis.stepAt(x + 0.5), double(alone->step) + 0.5);
    }
    return result;
}

std::vector<TimelineLanes::Alone>::const_iterator TimelineLanes::aloneFrom(double step) const
{
    return std::lower_bound(
        m_alone.begin(), m_alone.end(), step,
        [](const Alone &one, double wanted) { return double(one.step) < wanted; });
}

double TimelineLanes::pitch(const std::vector<Stretch> &shown,
                            const std::vector<std::pair<int, StepStatus>> &alone,
                            const StepAxis &axis)
{
    std::vector<int> places;
    for (const Stretch &stretch : shown)
        places.push_back(stretch.x);
    for (const auto &[x, status] : alone)
        places.push_back(x);
    std::sort(places.begin(), places.end());
    places.erase(std::unique(places.begin(), places.end()), places.end());
    double nearest = axis.pixelsPerStep() * 1e9;
    for (std::size_t i = 1; i < places.size(); ++i)
        nearest = std::min(nearest, double(places[i] - places[i - 1]));
    return nearest;
}

/// Behind the cells, for what both sides logged of such a step has some.
void TimelineLanes::paintAlone(QPainter &painter, const QRect &column, StepStatus status,
                               bool hasText, const QPalette &palette)
{
    const Theme theme = Theme::of(palette);
    const QColor color = theme.color(status);
    if (!hasText) {
        painter.fillRect(column.adjusted(0, column.height() - 3, 0, 0), color);
        return;
    }
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(theme.border, 1, Qt::DashLine));
    painter.drawRoundedRect(QRectF(column).adjusted(0.5, 1.5, -0.5, -1.5), 3, 3);
    painter.setPen(color);
    const QString words = sign(status) + u' ' + describe(status);
    const bool fits = painter.fontMetrics().horizontalAdvance(words) + 6 <= column.width();
    // In the first row, which is in sight where the strip scrolls.
    const QRect first(column.left(), column.top(), column.width(),
                      rowHeight(painter.fontMetrics()));
    painter.drawText(first, Qt::AlignCenter, fits ? words : sign(status));
}

void TimelineLanes::paint(QPainter &painter, const QRect &area, const StepAxis &axis,
                          const QPalette &palette, std::optional<std::int64_t> selected) const
{
    const Theme theme = Theme::of(palette);
    painter.setPen(theme.muted);
    for (std::size_t row = 0; row < m_timeline.rows().size(); ++row) {
        const QRect lane = rowRect(row, area);
        const int room = area.left() - LabelLeft - LabelGap;
        painter.drawText(QRect(LabelLeft, lane.top(), room, lane.height()), Qt::AlignVCenter,
                         painter.fontMetrics().elidedText(displayText(m_timeline.rows()[row]),
                                                          Qt::ElideMiddle, room));
    }
    const std::vector<Stretch> shown = stretches(area, axis);
    const auto alone = aloneIn(area, axis);
    const double nearest = pitch(shown, alone, axis);
    const bool cells = nearest >= CellRoom;
    const int width =
        cells ? std::min(int(std::min(nearest, 1e6)) - 4, WidestCell) : std::max(1, int(nearest));
    painter.save();
    painter.setClipRect(area.adjusted(-WidestCell / 2, -3, WidestCell / 2, 3));
    painter.setRenderHint(QPainter::Antialiasing, cells);
    for (const auto &[x, status] : alone)
        paintAlone(painter, QRect(x - width / 2, area.top(), width, area.height() - 4), status,
                   cells, palette);
    for (std::size_t row = 0; row < m_timeline.rows().size(); ++row) {
        const QRect lane = rowRect(row, area);
        for (const Stretch &stretch : shown) {
            const Timeline::Cell content = m_timeline.over(row, stretch.first, stretch.end);
            if (content.status)
                paintCell(painter, QRect(stretch.x - width / 2, lane.top(), width, lane.height()),
                          content, cells, palette);
        }
    }
    paintOutlines(painter, area, axis, width, palette, selected);
    painter.restore();
}

std::optional<TimelineLanes::Place> TimelineLanes::placeAt(const QPoint &point, const QRect &area,
                                                           const StepAxis &axis) const
{
    const auto &rows = m_timeline.rows();
    for (std::size_t row = 0; row < rows.size(); ++row) {
        const QRect lane = rowRect(row, area);
        if (point.y() < lane.top() || point.y() > lane.bottom())
            continue;
        const Stretch *best = nullptr;
        const std::vector<Stretch> shown = stretches(area, axis);
        for (const Stretch &stretch : shown) {
            if (!best || std::abs(stretch.x - point.x()) < std::abs(best->x - point.x()))
                best = &stretch;
        }
        if (!best)
            return std::nullopt;
        const auto wanted = m_timeline.over(row, best->first, best->end).status;
        for (std::size_t column = best->first; column < best->end; ++column) {
            const ChainLink *link = m_timeline.link(row, column);
            if ((link ? std::optional(link->status) : std::nullopt) == wanted)
                return Place{m_timeline.steps()[column], rows[row]};
        }
    }
    return std::nullopt;
}

QString TimelineLanes::toolTipAt(const QPoint &point, const QRect &area, const StepAxis &axis) const
{
    const std::optional<Place> place = placeAt(point, area, axis);
    const double under = axis.stepAt(point.x());
    const auto alone = aloneFrom(under - 0.5);
    if (alone != m_alone.end() && double(alone->step) <= under + 0.5
        && (!place || place->step != alone->step))
        return tr("step %1: %2").arg(alone->step).arg(describe(alone->status));
    if (!place)
        return {};
    const auto &rows = m_timeline.rows();
    const auto row = std::size_t(std::find(rows.begin(), rows.end(), place->row) - rows.begin());
    const std::size_t column = m_timeline.columnFrom(double(place->step));
    const Timeline::Cell cell = m_timeline.over(row, column, column + 1);
    QString text = tr("step %1, %2: ").arg(place->step).arg(displayText(place->row));
    if (!cell.status)
        return text + tr("nothing is recorded");
    text += countsText(cell);
    const ChainLink *link = m_timeline.link(row, column);
    if (link && cell.compared > 0)
        text += tr(", by %1").arg(qs(toString(link->strength)));
    return text;
}

} // namespace forkpoint
