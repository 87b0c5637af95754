// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

namespace forkpoint {

/// Where a number stands on a plot.
struct SvgAxis
{
    double first = 0, last = 1; ///< in data
    double begin = 0, end = 1;  ///< in pixels

    double at(double value) const
    {
        return last == first ? (begin + end) / 2
                             : begin + (value - first) / (last - first) * (end - begin);
    }
};

/// Whole numbers 1, 2 or 5 times a power of ten apart, at most `most` of them.
std::vector<double> wholeTicks(double first, double last, int most);

/// The same of any numbers; `first` < `last`, both and their distance finite.
std::vector<double> decimalTicks(double first, double last, int most);

} // namespace forkpoint
