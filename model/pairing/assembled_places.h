// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/pairing/assembled_source.h"

namespace forkpoint {

/// Says where the bytes of an assembled tensor are: the files and extents of its parts, each in its
/// place of the whole, and those of further copies as replicas. Extents are left out where boxes
/// cannot tell it: parts without extents, flat ranges that are cut within a row, too many.
/// `whole` has its type and shape; the plan's pieces lie in the tensors of `below`.
void addPlaces(TensorRef &whole, const AssemblyPlan &plan, const Catalog &below);

} // namespace forkpoint
