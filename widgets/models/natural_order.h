// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string_view>

namespace forkpoint {

/// Compares names as people read them: runs of digits by their number, so that layers.2 comes
/// before layers.10. Everything else bytewise, no locale. Names that differ are never equal.
int naturalCompare(std::string_view a, std::string_view b);

} // namespace forkpoint
