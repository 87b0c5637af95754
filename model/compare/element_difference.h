// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/element.h"

#include <optional>
#include <string>

namespace forkpoint {

/// Decimal digits of b - a of integers where 64 bits do not hold it (below -2^63), so that
/// ElementRow::difference is rounded. Nothing elsewhere.
std::optional<std::string> wideDifference(const ElementRow &row);

} // namespace forkpoint
