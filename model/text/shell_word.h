// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>

namespace forkpoint {

/// One word for a POSIX shell: quoted where it needs it, $'...' where something cannot be seen.
std::string shellWord(std::string_view text);

} // namespace forkpoint
