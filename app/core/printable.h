// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>

namespace forkpoint {

/// Text from a file, safe to show on a terminal: control characters, directional overrides and
/// bytes that are not UTF-8 become \xNN of their bytes; everything else stays as it is.
std::string printable(std::string_view text);

} // namespace forkpoint
