// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/h5worker/metadata_block.h"
#include "loaders/hdf5/hdf5_selection.h"
#include "model/result.h"

#include <cstdint>
#include <string>

namespace forkpoint {

/// At most: dimensions, and numbers of one list of points or blocks.
inline constexpr std::uint64_t MostSelectionRank = 32, MostSelectionNumbers = 1'000'000;

/// The selection that stands next: HDF5 file format, "Dataspace Selection", of every version that there is for
/// each kind. Malformed, Limit, or Unsupported of a version that is not known.
Result<Hdf5Selection> decodeSelection(MetadataNumbers &numbers);

/// "[1:3, 2:4]", with a third number where elements are left out and a fourth where more than one follow
/// each other then ("0:9:3:2"); "(0, 2) (1, 5)" of points; "[...]" of all, "[]" of nothing. Other
/// selections have other texts. Equal ones have equal texts whatever the version, except where the same
/// elements are listed in blocks that are cut otherwise and are no grid.
std::string toText(const Hdf5Selection &selection);

} // namespace forkpoint
