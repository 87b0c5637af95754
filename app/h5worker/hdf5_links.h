// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <hdf5.h>

namespace forkpoint {

/// Groups inside groups that are entered.
constexpr std::size_t GroupDepth = 2000;

/// A link as its group lists it. A name with a slash, or ".", would be taken for a path: objects are
/// opened by their address, the text of other links is read by their place in the listing.
struct Hdf5Link
{
    std::string name;
    H5L_type_t type = H5L_TYPE_ERROR;
    haddr_t address = HADDR_UNDEF; ///< of a hard link
    std::size_t size = 0;          ///< of the text of another
};

/// What a group lists, in the order of the names; what was read before a fault remains.
struct Hdf5Listing
{
    enum class End { Whole, Failed, Unordered, Full };

    std::vector<Hdf5Link> links;
    End end = End::Whole;
};

/// Of Failed, hdf5Failure() says why.
Hdf5Listing listLinks(hid_t group);

} // namespace forkpoint
