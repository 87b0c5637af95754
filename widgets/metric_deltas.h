// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compare/run_comparison.h"
#include "model/metrics/metric_series.h"

#include <QString>

#include <optional>
#include <vector>

namespace forkpoint {

/// B-A of one metric at one step.
struct MetricDelta
{
    Step step = 0;
    double delta = 0.0;
    bool bitsDiffer = false;
};

/// B-A of a metric that both runs logged, at the steps they share, and its extremes over any stretch
/// of steps: what a column of pixels has to show.
class MetricDeltas
{
public:
    MetricDeltas() = default;
    MetricDeltas(const MetricSeries &a, const MetricSeries &b);
    /// What a comparison keeps of it: neighbours that share an entry stand at its ends.
    explicit MetricDeltas(const MetricComparison &metric);

    bool isEmpty() const { return m_points.empty(); }
    const std::vector<MetricDelta> &points() const { return m_points; }
    double largest() const { return m_largest; } ///< |B-A| of the finite ones

    struct Extremes
    {
        double least = 0.0, most = 0.0;
        bool anyFinite = false, bitsDiffer = false, notFinite = false;

        void add(const Extremes &other);
    };
    Extremes over(std::size_t first, std::size_t end) const;
    /// Position of the first point at or after a step.
    std::size_t positionOf(double step) const;
    const MetricDelta &nearest(double step) const; ///< not of an empty one

    /// "first differs at step 3, largest |B−A| 0.5 (every bit known)"
    QString summary(bool bitsKnown) const;

private:
    static constexpr std::size_t Factor = 16; ///< points, or nodes, that one node above sums up

    void sumUp();

    std::vector<MetricDelta> m_points;
    std::vector<std::vector<Extremes>> m_levels;
    std::optional<Step> m_firstDifference;
    double m_largest = 0.0;
};

} // namespace forkpoint
