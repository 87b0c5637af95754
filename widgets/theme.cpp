// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/theme.h"

#include <QFontDatabase>
#include <QFontMetrics>

#include <algorithm>

namespace forkpoint {

namespace {

QPalette paletteOf(const QColor &window, const QColor &base, const QColor &alternate,
                   const QColor &text, const QColor &muted, const QColor &button,
                   const QColor &highlight, const QColor &link)
{
    QPalette palette(button, window);
    palette.setColor(QPalette::Window, window);
    palette.setColor(QPalette::WindowText, text);
    palette.setColor(QPalette::Base, base);
    palette.setColor(QPalette::AlternateBase, alternate);
    palette.setColor(QPalette::Text, text);
    palette.setColor(QPalette::Button, button);
    palette.setColor(QPalette::ButtonText, text);
    palette.setColor(QPalette::ToolTipBase, base);
    palette.setColor(QPalette::ToolTipText, text);
    palette.setColor(QPalette::PlaceholderText, muted);
    palette.setColor(QPalette::Highlight, highlight);
    palette.setColor(QPalette::HighlightedText, text);
    palette.setColor(QPalette::Link, link);
    for (auto role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText})
        palette.setColor(QPalette::Disabled, role, muted);
    return palette;
}

} // namespace

Theme Theme::of(const QPalette &palette)
{
    Theme theme;
    theme.dark = palette.color(QPalette::Base).lightness() < 128;
    theme.text = palette.color(QPalette::Text);
    theme.surface = palette.color(QPalette::Base);
    theme.window = palette.color(QPalette::Window);
    theme.selection = palette.color(QPalette::Highlight);
    if (theme.dark) {
        theme.a = QColor(0x56, 0xb4, 0xe9);
        theme.b = QColor(0xe6, 0x9f, 0x00);
        theme.difference = QColor(0xff, 0x6f, 0xa3);
        theme.equal = QColor(0x8d, 0x95, 0xa0);
        theme.unknown = QColor(0xf0, 0xe4, 0x42);
        theme.muted = QColor(0x9d, 0xa5, 0xb1);
        theme.outline = QColor(0x7a, 0x84, 0x91);
        theme.border = QColor(0x3d, 0x44, 0x4d);
        theme.header = QColor(0x2d, 0x33, 0x3b);
    } else {
        theme.a = QColor(0x00, 0x72, 0xb2);
        theme.b = QColor(0xd5, 0x5e, 0x00);
        theme.difference = QColor(0xc2, 0x18, 0x5b);
        theme.equal = QColor(0x6b, 0x73, 0x80);
        theme.unknown = QColor(0x8a, 0x6d, 0x00);
        theme.muted = QColor(0x5f, 0x67, 0x75);
        theme.outline = QColor(0x86, 0x8e, 0x9a);
        theme.border = QColor(0xd0, 0xd5, 0xdd);
        theme.header = QColor(0xee, 0xf0, 0xf4);
    }
    return theme;
}

QColor Theme::color(ThemeColor color) const
{
    switch (color) {
    case ThemeColor::Text: return text;
    case ThemeColor::Muted: return muted;
    case ThemeColor::A: return a;
    case ThemeColor::B: return b;
    case ThemeColor::Difference: return difference;
    case ThemeColor::Equal: return equal;
    case ThemeColor::Unknown: break;
    }
    return unknown;
}

QPalette lightPalette()
{
    return paletteOf(QColor(0xf3, 0xf4, 0xf6), Qt::white, QColor(0xf8, 0xf9, 0xfb),
                     QColor(0x1f, 0x23, 0x29), QColor(0x5f, 0x67, 0x75), QColor(0xfb, 0xfb, 0xfc),
                     QColor(0xd6, 0xe6, 0xfa), QColor(0x00, 0x5a, 0x9c));
}

QPalette darkPalette()
{
    return paletteOf(QColor(0x1c, 0x20, 0x25), QColor(0x25, 0x2a, 0x30), QColor(0x29, 0x2e, 0x35),
                     QColor(0xe8, 0xeb, 0xef), QColor(0x9d, 0xa5, 0xb1), QColor(0x2b, 0x30, 0x37),
                     QColor(0x2c, 0x42, 0x66), QColor(0x7c, 0xc4, 0xf0));
}

QPalette quietSelection(const QPalette &palette)
{
    constexpr int AccentPercent = 22;
    const QColor base = palette.color(QPalette::Base), accent = palette.color(QPalette::Highlight);
    const auto mixed = [&](int ofBase, int ofAccent) {
        return (ofBase * (100 - AccentPercent) + ofAccent * AccentPercent) / 100;
    };
    QPalette quiet;
    quiet.setColor(QPalette::Highlight,
                   QColor(mixed(base.red(), accent.red()), mixed(base.green(), accent.green()),
                          mixed(base.blue(), accent.blue())));
    quiet.setColor(QPalette::HighlightedText, palette.color(QPalette::Text));
    return quiet;
}

QFont monospaced(const QFont &base)
{
    QFont font = QFontDatabase::systemFont(QFontDatabase::FixedFont);
    if (base.pointSizeF() > 0)
        font.setPointSizeF(base.pointSizeF());
    else
        font.setPixelSize(base.pixelSize());
    return font;
}

int rowHeight(const QFont &font)
{
    return std::max(QFontMetrics(font).height() + 6, 18);
}

} // namespace forkpoint
