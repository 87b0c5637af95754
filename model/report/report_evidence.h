// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/metrics/metric_curve.h"

#include <cstdint>
#include <vector>

namespace forkpoint {

/// What a report shows of the two runs beside their comparison, so that it can be read where they
/// are not. It is bounded, and says where it is cut.
struct ReportEvidence
{
    std::vector<MetricCurves> curves; ///< the most telling first
    std::uint64_t curvesLeftOut = 0;  ///< metrics whose curves are not among them

    bool isEmpty() const { return curves.empty(); }
    /// Null where there is none of that metric.
    const MetricCurves *curvesNamed(const std::string &name) const
    {
        for (const MetricCurves &each : curves)
            if (each.name == name)
                return &each;
        return nullptr;
    }
};

} // namespace forkpoint
