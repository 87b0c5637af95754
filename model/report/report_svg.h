// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/report/report_document.h"

#include <string>

namespace forkpoint {

// Plots as inline SVG. Colours are classes, which the style sheet of the page defines for light, dark
// and paper; every mark has a sign, a shape or a label beside its colour.

std::string svgOf(const StepsPlot &plot);
std::string svgOf(const MetricPlot &plot);
/// The two series themselves, over one axis of steps. Empty where they are not kept.
std::string svgOfCurves(const MetricPlot &plot);
/// |A|, |B| and |B-A| of one tensor by power of two.
std::string svgOfMagnitudes(const TensorPlot &plot);
/// Its ULP distances by power of two.
std::string svgOfUlp(const TensorPlot &plot);

/// Text for an element or a quoted attribute: what steers a page, a reader's eye or cannot be seen
/// is written as text.
std::string markupText(std::string_view text);

} // namespace forkpoint
