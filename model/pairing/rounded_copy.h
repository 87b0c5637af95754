// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compare/pair_reading.h"

#include <optional>
#include <stop_token>

namespace forkpoint {

struct ElementRange
{
    Index first = 0, count = 0;
};

/// Whether those elements of `narrow` are the ones of `wide` rounded to its type, as roundsTo()
/// says; where the types are the same, whether the bytes are. Both must have elements of whole
/// bytes. Reads until the first that is not, a piece at a time; nothing where a side could not be
/// read, or a stop was asked for.
std::optional<bool> isRoundedCopy(const SourcedTensor &wide, const SourcedTensor &narrow,
                                  ElementRange range, const std::stop_token &stop);

} // namespace forkpoint
