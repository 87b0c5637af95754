// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/report/svg_axis.h"

#include <algorithm>
#include <cmath>

namespace forkpoint {

namespace {

std::vector<double> ticksOf(double first, double last, int most, double step)
{
    for (int i = 0; (last - first) / step > most; ++i)
        step *= i % 3 == 1 ? 2.5 : 2;
    std::vector<double> ticks;
    const double begin = std::ceil(first / step) * step;
    for (int i = 0; i <= most; ++i) {
        if (begin + i * step <= last)
            ticks.push_back(begin + i * step);
    }
    return ticks;
}

} // namespace

std::vector<double> wholeTicks(double first, double last, int most)
{
    return ticksOf(first, last, most, 1);
}

std::vector<double> decimalTicks(double first, double last, int most)
{
    const double least = std::max((last - first) / most, 1e-300);
    return ticksOf(first, last, most, std::pow(10.0, std::floor(std::log10(least))));
}

} // namespace forkpoint
