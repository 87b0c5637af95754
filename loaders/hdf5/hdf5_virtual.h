// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/hdf5/hdf5_mapping.h"
#include "model/tensor_ref.h"

#include <optional>
#include <vector>

namespace forkpoint {

/// What an extent of a source becomes in a virtual dataset of that rank: the part of it that `pair` shows;
/// nothing where it shows none.
std::optional<Extent> placed(const Extent &extent, const BoxPair &pair);

/// Puts extents together that may lie at one place: the one that was added last is what libhdf5 shows.
class Mosaic
{
public:
    explicit Mosaic(const Shape &shape);

    /// In the order opposite to that of the sources: what is covered stays. Limit where too many pieces result.
    Status addBelow(const Extent &extent);
    /// Boxes that nothing covers.
    const std::vector<Box> &open() const { return m_open; }
    std::vector<Extent> take() { return std::move(m_extents); }

private:
    std::vector<Box> m_open;
    std::vector<Extent> m_extents;
};

} // namespace forkpoint
