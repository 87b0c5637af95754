// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compare/row_stats.h"

namespace forkpoint {

/// Whether one side alone has the tensor, or is open: its elements are there, and nothing to set
/// them against.
inline bool isOneSided(const TensorRow &row)
{
    return row.a.has_value() != row.b.has_value();
}

/// The type of a row's elements; of B where A lacks the tensor.
inline const DType &shownType(const TensorRow &row)
{
    return isOneSided(row) && row.b ? row.dtypeB : measuredType(row);
}

/// As shownType().
inline const Shape &shownShape(const TensorRow &row)
{
    return isOneSided(row) && row.b ? row.shapeB : row.shapeA;
}

} // namespace forkpoint
