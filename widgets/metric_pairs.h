// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/status_look.h"
#include "widgets/view_context.h"

namespace forkpoint {

/// A point as its file tells it: printed digits as they were printed, else as many digits as tell
/// every value of the type apart.
QString metricValueText(const MetricSeries &series, std::size_t point);

/// Where a series has a step; nothing of none.
std::optional<std::size_t> pointAt(const MetricSeries *series, std::int64_t step);

/// One metric of either side; a side that did not log it, or that a report does not keep, is null.
struct MetricPair
{
    std::string name;
    const MetricSeries *a = nullptr, *b = nullptr;
    const MetricComparison *compared = nullptr; ///< null unless both logged it

    Look look() const;
    QString precision() const;     ///< "every bit known", "A as printed, B every bit known"
    QString precisionCell() const; ///< the same in a word or two
};

/// The metrics of both sides by name, as they are shown: the one that parts first at the top, then
/// those that differ by step, then the others by name, those that decide nothing last.
class MetricPairs
{
public:
    MetricPairs() = default;
    explicit MetricPairs(const ViewContext &context);
    MetricPairs(const MetricPairs &) = delete;
    MetricPairs &operator=(const MetricPairs &) = delete;
    MetricPairs(MetricPairs &&) = default;
    MetricPairs &operator=(MetricPairs &&) = default;

    const std::vector<MetricPair> &pairs() const { return m_pairs; }

private:
    void sort();

    std::vector<MetricSeries> m_a, m_b; ///< of which the pairs point into
    std::shared_ptr<const RunComparison> m_comparison;
    std::vector<MetricPair> m_pairs;
};

} // namespace forkpoint
