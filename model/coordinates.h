// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/shape.h"

#include <vector>

namespace forkpoint {

/// The next row-major coordinates below `size`, the last one fastest; false, and all zero again,
/// after the last.
inline bool advance(std::vector<Index> &at, const std::vector<Index> &size)
{
    for (std::size_t i = at.size(); i-- > 0;) {
        if (++at[i] < size[i])
            return true;
        at[i] = 0;
    }
    return false;
}

} // namespace forkpoint
