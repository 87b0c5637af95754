// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/metrics/printed_decimal.h"

#include <string>

namespace forkpoint {

/// Every digit of a whole number of at most 37 digits, which a float64 may not hold.
std::string wholeDigits(PrintedDecimal::Mantissa number);

} // namespace forkpoint
