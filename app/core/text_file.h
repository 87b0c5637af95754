// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/result.h"

#include <string>
#include <string_view>

namespace forkpoint {

/// Writes a whole file, or leaves what was there: the text goes to "PATH.part" first and takes the
/// name when every byte is written.
Status writeTextFile(const std::string &path, std::string_view text);

} // namespace forkpoint
