// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/value.h"

#include <cstdint>
#include <vector>

namespace forkpoint {

/// The members of a long list of integers, which is one value; empty for any other value, and where
/// they are not kept (see Value::data).
std::vector<std::int64_t> foldedIntegers(const Value &value);

} // namespace forkpoint
