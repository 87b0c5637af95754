// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>

namespace forkpoint {

/// Text from a file, safe to show: control characters, directional overrides, characters that
/// cannot be seen and bytes that are not UTF-8 become \xNN of their bytes; everything else stays.
std::string printable(std::string_view text);

} // namespace forkpoint
