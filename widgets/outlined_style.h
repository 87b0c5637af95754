// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QProxyStyle>

namespace forkpoint {

/// Fusion with outlines that can be seen: its own are a darker shade of the window, which in a dark
/// palette is no outline at all. Check boxes, radio buttons and line edits get one that stands out
/// from the surface by at least 3:1, in the colour of side A where the keyboard is. Columns of tables
/// keep a gap, so that a number at the right of one does not meet a name at the left of the next.
class OutlinedStyle final : public QProxyStyle
{
    Q_OBJECT

public:
    OutlinedStyle();

    void drawPrimitive(PrimitiveElement element, const QStyleOption *option, QPainter *painter,
                       const QWidget *widget = nullptr) const override;
    void drawControl(ControlElement element, const QStyleOption *option, QPainter *painter,
                     const QWidget *widget = nullptr) const override;
    int pixelMetric(PixelMetric metric, const QStyleOption *option = nullptr,
                    const QWidget *widget = nullptr) const override;
};

} // namespace forkpoint
