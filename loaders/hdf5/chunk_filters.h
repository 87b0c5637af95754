// SPDX-License-Identifier: GPL-3.0-or-later
// Filters of HDF5 chunks, undone. None trusts a length of the file: `cap` is what a step may
// decode to at most, and a chunk must decode to exactly its bytes.
#pragma once

#include "loaders/hdf5/hdf5_description.h"
#include "model/bytes.h"
#include "model/result.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace forkpoint {

using FilterParameters = std::span<const std::uint32_t>;
using FilterResult = Result<std::vector<std::byte>>;

/// One filter: how it is undone, or why this build cannot.
struct ChunkFilter
{
    std::uint32_t id = 0;
    std::string_view name;
    std::string_view whyNot; ///< "needs libX, ..."; empty where it can be undone
    FilterResult (*undo)(ByteView stored, FilterParameters parameters, std::size_t cap) = nullptr;
};

/// Every filter known by name, in the order of the table on the formats page.
std::span<const ChunkFilter> chunkFilters();

/// "needs filter 32026 (blosc2)"; empty where the filter can be undone.
std::string whyNoFilter(std::uint32_t id);

/// The `chunkBytes` bytes of a chunk of which `stored` is kept; bit i of `mask`: filter i was not
/// applied.
FilterResult undoFilters(std::span<const Hdf5Filter> filters, std::uint32_t mask,
                         std::vector<std::byte> stored, std::size_t chunkBytes);

} // namespace forkpoint
