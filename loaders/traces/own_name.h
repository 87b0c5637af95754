// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string_view>

namespace forkpoint {

constexpr std::string_view OwnUnfinished = ".tmp";

/// Whether a file is called as those of our own trace are: "steps_1-4.h5" or "end.h5", perhaps in
/// folders. Without a folder the end marker is taken too: the user opened the folder of one rank.
bool isOwnTraceName(std::string_view name);

} // namespace forkpoint
