// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/pair_reading.h"

#include <optional>

namespace forkpoint {

/// Whether every element of `narrow` is the one of `wide` rounded to its type, as roundsTo() says;
/// where the types are the same, whether the bytes are. Both must have equally many elements of
/// whole bytes. Reads until the first that is not, a piece at a time; nothing where a side could
/// not be read.
std::optional<bool> isRoundedCopy(const SourcedTensor &wide, const SourcedTensor &narrow);

} // namespace forkpoint
