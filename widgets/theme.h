// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/status_look.h"
#include "widgets/view_context.h"

#include <QColor>
#include <QFont>
#include <QPalette>

namespace forkpoint {

/// Colours of the data, from the Okabe-Ito palette, for the lightness of a palette. A sign always
/// stands beside a colour: see Look.
struct Theme
{
    bool dark = false;
    QColor a, b, difference, equal, unknown;
    QColor text, muted; ///< muted passes 4.5:1 on surface
    QColor outline;     ///< of a control: 3:1 on surface
    QColor border, surface, window, header, selection;

    static Theme of(const QPalette &palette);

    QColor color(ThemeColor color) const;
    template <class Status>
    QColor color(Status status) const
    {
        return color(look(status).color);
    }
    QColor color(Side side) const { return side == Side::A ? a : b; }
};

enum class ThemeChoice { System, Light, Dark };

/// Whole palettes for View > Theme; System keeps what the platform gives.
QPalette lightPalette();
QPalette darkPalette();

/// The roles that make a selection of `palette` quiet enough for coloured text to be read on it: a
/// desktop's own accent hides the colours of A, B and difference. Nothing else is set.
QPalette quietSelection(const QPalette &palette);

/// The fixed-pitch face of numbers, as large as `base`.
QFont monospaced(const QFont &base);
/// Height of a table row: 21 px at 9 pt and 96 dpi, growing with the font.
int rowHeight(const QFont &font);

} // namespace forkpoint
