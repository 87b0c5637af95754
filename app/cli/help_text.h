// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string_view>

namespace forkpoint {

/// What --help of a command says below its options: examples, and what is worth knowing. An empty
/// name is the program itself; a command without such a text has none.
std::string_view helpFooter(std::string_view command);

} // namespace forkpoint
