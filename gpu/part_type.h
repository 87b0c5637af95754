// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "gpu/kernels/element_type.h"
#include "model/dtype.h"

#include <optional>

namespace forkpoint {

/// What a part of an element of that type is to the kernels; nothing for types without a numeric
/// meaning.
std::optional<kernels::PartType> partType(const DType &dtype);

} // namespace forkpoint
