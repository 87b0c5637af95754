// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/h5worker/hdf5_links.h"

namespace forkpoint {

namespace {

/// Links of one group.
constexpr std::size_t Links = 4'000'000;

/// The names of a group come in their order; a listing that goes back walks in a circle.
herr_t collectLink(hid_t, const char *name, const H5L_info_t *info, void *data)
{
    auto &[links, end] = *static_cast<Hdf5Listing *>(data);
    if (!links.empty() && links.back().name >= name)
        end = Hdf5Listing::End::Unordered;
    else if (links.size() == Links)
        end = Hdf5Listing::End::Full;
    if (end != Hdf5Listing::End::Whole)
        return 1;
    const bool isHard = info->type == H5L_TYPE_HARD;
    links.push_back(
        {name, info->type, isHard ? info->u.address : HADDR_UNDEF, isHard ? 0 : info->u.val_size});
    return 0;
}

} // namespace

Hdf5Listing listLinks(hid_t group)
{
    Hdf5Listing listing;
    hsize_t position = 0;
    if (H5Literate(group, H5_INDEX_NAME, H5_ITER_INC, &position, collectLink, &listing) < 0)
        listing.end = Hdf5Listing::End::Failed;
    return listing;
}

} // namespace forkpoint
