// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/metrics/printed_decimal.h"

#include <string>

namespace forkpoint {

/// A finite number as it was printed, every place of it: "5.0360", "3e12"; digits beyond those that
/// are kept are an ellipsis.
std::string printedText(const PrintedDecimal &printed);

} // namespace forkpoint
