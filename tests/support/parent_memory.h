// SPDX-License-Identifier: GPL-3.0-or-later
// The file of app/h5worker/parent_file.h for tests of what is read there: in memory, one at a time.
#pragma once

#include "model/bytes.h"

#include <cstddef>
#include <vector>

namespace forkpoint::test {

/// Puts a file there. `isSigned`: whatever is read ends in the right checksum, so that damage is met behind it.
void openParentMemory(std::vector<std::byte> bytes, bool isSigned = false);
/// The bytes as they are after patches.
const std::vector<std::byte> &parentMemory();

} // namespace forkpoint::test
