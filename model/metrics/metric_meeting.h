// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/metrics/metric_series.h"

#include <cstddef>
#include <vector>

namespace forkpoint {

/// Whether two numbers of one step, or of one row where a log prints no steps, are of the same thing.
enum class MetricMeeting {
    Same,
    UnlikeWindows, ///< means over other numbers of steps
    OtherRows,     ///< the epochs of the two rows surely differ
    UnknownRows    ///< no epochs tell that rows which are only counted are the same
};

/// Tells how the points of two runs meet, by all that they logged: of those that are compared some may be cut off.
class MetricMeetings
{
public:
    /// The metrics of both runs, which outlive it: rows meet by their "epoch".
    MetricMeetings(const std::vector<MetricSeries> &a, const std::vector<MetricSeries> &b);

    /// All rows of the metric that `part` is a part of, or `part`.
    const MetricSeries &wholeOfA(const MetricSeries &part) const;
    const MetricSeries &wholeOfB(const MetricSeries &part) const;

    /// Of points of one step.
    MetricMeeting of(const MetricSeries &a, std::size_t inA, const MetricSeries &b,
                     std::size_t inB) const;

private:
    const std::vector<MetricSeries> &m_a, &m_b;
    const MetricSeries *m_epochsOfA, *m_epochsOfB; ///< null: prints none
    bool m_areGridsUnlike = false; ///< rows of one number have other epochs somewhere
};

/// The window of a point, 0 where it is not known or no mean.
std::int64_t windowAt(const MetricSeries &series, std::size_t point);

} // namespace forkpoint
