// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QColor>
#include <QPainter>
#include <QWidget>

#include "widgets/theme.h"

namespace forkpoint {

/// Paints the rounded surface that every view of the window lies on.
inline void paintCard(QWidget *widget, const QColor &stripe = {})
{
    constexpr qreal Radius = 4;
    QPainter painter(widget);
    painter.setRenderHint(QPainter::Antialiasing);
    const Theme theme = Theme::of(widget->palette());
    const QRectF area = QRectF(widget->rect()).adjusted(0.5, 0.5, -0.5, -0.5);
    painter.setPen(theme.border);
    painter.setBrush(theme.surface);
    painter.drawRoundedRect(area, Radius, Radius);
    if (stripe.isValid())
        painter.fillRect(QRectF(0, 1, 4, widget->height() - 2), stripe);
}

} // namespace forkpoint
