// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/value.h"

#include <optional>
#include <string>
#include <string_view>

namespace forkpoint {

/// A value on a line of a text for people: whole up to 300 bytes, of a longer one its beginning and
/// how long it is. Not escaped.
std::string shownValue(const Value &value);

/// "0.1 → 0.2", "absent → 3", with `missing` for what a side lacks. Of long texts the part from shortly
/// before their first difference.
std::string shownChange(const std::optional<Value> &a, const std::optional<Value> &b,
                        std::string_view missing = "absent");

} // namespace forkpoint
