// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/checkpoint.h"
#include "loaders/loader.h"

#include <string>

namespace forkpoint {

/// How loaders say, in a note or a diagnostic, that a tensor is read as the user asked:
/// "void16 is read as bfloat16, " and this.
std::string askedForText(const DTypeOverride &rule);

/// Says of each rule that it changed nothing, or which of the tensors it names have a type of their
/// own: a rule is for elements whose file leaves it open, and of as many bits.
void reportIdleOverrides(const std::vector<DTypeOverride> &rules, CheckpointBuilder &builder);

} // namespace forkpoint
