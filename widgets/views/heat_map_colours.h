// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compare/element_map.h"
#include "widgets/theme.h"

class QLinearGradient;

namespace forkpoint {

/// The colour of a magnitude at `place` of the range, 0 the weakest and 1 the strongest. All of them
/// stand out from what is zero by a contrast of 3 to 1 at least (WCAG 2, graphical objects).
QColor heatColour(const Theme &theme, MapQuantity quantity, double place);
/// The same, from 0 to 1.
void addHeatColours(QLinearGradient &gradient, const Theme &theme, MapQuantity quantity);

} // namespace forkpoint
