// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/heat_map_colours.h"

#include <QLinearGradient>

#include <algorithm>
#include <cmath>

namespace forkpoint {

namespace {

/// Up to here a colour gets fuller, from here on it goes towards that of texts.
constexpr double Knee = 0.4;
constexpr double TowardsText = 0.65;

/// The colour of a quantity, and the least share of it that is seen on what is zero.
struct Hue
{
    QColor full;
    double least;
};

Hue hueOf(const Theme &theme, MapQuantity quantity)
{
    switch (quantity) {
    case MapQuantity::A: return {theme.a, 0.78};
    case MapQuantity::B: return {theme.b, 0.92};
    case MapQuantity::Difference:
    case MapQuantity::Ulp: break;
    }
    return {theme.difference, 0.70};
}

QColor mixed(const QColor &from, const QColor &to, double share)
{
    const auto mix = [share](int a, int b) { return int(std::lround(a + (b - a) * share)); };
    return QColor(mix(from.red(), to.red()), mix(from.green(), to.green()),
                  mix(from.blue(), to.blue()));
}

} // namespace

QColor heatColour(const Theme &theme, MapQuantity quantity, double place)
{
    const Hue hue = hueOf(theme, quantity);
    const double at = std::clamp(place, 0.0, 1.0);
    if (at <= Knee)
        return mixed(theme.header, hue.full, hue.least + (1 - hue.least) * at / Knee);
    return mixed(hue.full, theme.text, TowardsText * (at - Knee) / (1 - Knee));
}

void addHeatColours(QLinearGradient &gradient, const Theme &theme, MapQuantity quantity)
{
    for (const double place : {0.0, Knee, 1.0})
        gradient.setColorAt(place, heatColour(theme, quantity, place));
}

} // namespace forkpoint
