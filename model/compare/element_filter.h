// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compare/element_plane.h"
#include "model/element.h"

#include <cstdint>
#include <optional>

namespace forkpoint {

/// What a histogram counts, and a range of it filters by.
enum class MagnitudeKind { AbsA, AbsB, AbsDifference, Ulp };

/// Bins of a histogram: powers of two, and those of zero and of what is not a number.
struct MagnitudeRange
{
    MagnitudeKind kind = MagnitudeKind::AbsDifference;
    bool zero = false;
    std::optional<std::pair<int, int>> powers; ///< both included: 2^first <= x < 2^(second + 1)
    bool infinite = false, nan = false;        ///< of A or B alone

    bool accepts(const ElementRow &row) const;
    bool operator==(const MagnitudeRange &) const = default;
};

/// A part of a plane, as drawn in a map.
struct PlanePart
{
    ElementPlane plane;
    PlaneWindow window;

    bool accepts(Index index) const;
    bool operator==(const PlanePart &) const = default;
};

/// Which elements a table shows, beyond its order.
struct ElementFilter
{
    std::optional<MagnitudeRange> range;
    std::optional<PlanePart> part;

    bool isEmpty() const { return !range && !part; }
    bool accepts(const ElementRow &row) const
    {
        return (!part || part->accepts(row.index)) && (!range || range->accepts(row));
    }
    bool operator==(const ElementFilter &) const = default;
};

} // namespace forkpoint
