// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/metrics/metric_comparison.h"

#include <cstdint>
#include <string>
#include <vector>

namespace forkpoint {

/// One side of a metric as a report keeps it: all its points, or where there are many some of them.
struct MetricCurve
{
    MetricSeries series;         ///< the points that are kept
    std::uint64_t logged = 0;    ///< points that there were
    std::uint64_t notFinite = 0; ///< of these: NaN and infinities
    /// Per point: the other side logged a step between it and the one before, this side did not.
    std::vector<bool> afterGap;
};

/// A metric of either side; of one that a side did not log nothing is kept there.
struct MetricCurves
{
    /// More steps than this are thinned: those around the first difference stay, of the others the
    /// lowest, the highest and one that is no number of each stretch. Both sides keep the same
    /// steps, so that a step is never shown as one side's because of thinning.
    static constexpr std::size_t MostSteps = 1024;
    /// Points of all metrics together.
    static constexpr std::size_t MostPoints = 65'536;

    std::string name;
    MetricCurve a, b;
};

/// The curves of all metrics, the most telling first, as far as MostPoints goes; `leftOut` counts
/// the metrics beyond.
std::vector<MetricCurves> curvesOf(const std::vector<MetricSeries> &a,
                                   const std::vector<MetricSeries> &b,
                                   const std::vector<MetricComparison> &compared,
                                   std::uint64_t &leftOut);

/// The first to part, then those that differ by step, then losses, then other links of the causal
/// chain, then the rest by name; what decides nothing comes last.
std::vector<const MetricComparison *>
mostTellingFirst(const std::vector<MetricComparison> &compared);

} // namespace forkpoint
