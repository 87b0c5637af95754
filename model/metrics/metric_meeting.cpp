// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/metrics/metric_meeting.h"

#include "model/metrics/metric_relation.h"
#include "model/same_bits.h"

#include <algorithm>
#include <optional>
#include <string_view>

namespace forkpoint {

namespace {

const MetricSeries *named(const std::vector<MetricSeries> &all, std::string_view name)
{
    const auto found = std::find_if(
        all.begin(), all.end(), [&](const MetricSeries &series) { return series.name == name; });
    return found == all.end() ? nullptr : &*found;
}

const MetricSeries *epochsOf(const std::vector<MetricSeries> &all)
{
    return named(all, "epoch");
}

std::optional<std::size_t> pointAt(const MetricSeries *series, std::int64_t step)
{
    if (!series)
        return std::nullopt;
    const auto found = std::lower_bound(
        series->points.begin(), series->points.end(), step,
        [](const MetricPoint &point, std::int64_t wanted) { return point.step < wanted; });
    if (found == series->points.end() || found->step != step)
        return std::nullopt;
    return std::size_t(found - series->points.begin());
}

bool surelyDiffer(const MetricSeries &a, std::size_t inA, const MetricSeries &b, std::size_t inB)
{
    return relationOf(sampleAt(a, inA), sampleAt(b, inB), false) == MetricRelation::Different;
}

bool isEqual(const MetricSeries &a, std::size_t inA, const MetricSeries &b, std::size_t inB)
{
    return sameBits(a.points[inA].value, b.points[inB].value);
}

/// Whether some rows of one number have epochs that surely differ.
bool partSomewhere(const MetricSeries &a, const MetricSeries &b)
{
    for (std::size_t i = 0; i < a.points.size(); ++i) {
        const auto other = pointAt(&b, a.points[i].step);
        if (other && surelyDiffer(a, i, b, *other))
            return true;
    }
    return false;
}

/// Whether no neighbour has that epoch too: one format printed all of them.
bool isAlone(const MetricSeries &epochs, std::size_t point)
{
    return (point == 0 || !isEqual(epochs, point, epochs, point - 1))
        && (point + 1 == epochs.points.size() || !isEqual(epochs, point, epochs, point + 1));
}

} // namespace

MetricMeetings::MetricMeetings(const std::vector<MetricSeries> &a,
                               const std::vector<MetricSeries> &b)
    : m_a(a),
      m_b(b),
      m_epochsOfA(epochsOf(a)),
      m_epochsOfB(epochsOf(b)),
      m_areGridsUnlike(m_epochsOfA && m_epochsOfB && partSomewhere(*m_epochsOfA, *m_epochsOfB))
{
}

const MetricSeries &MetricMeetings::wholeOfA(const MetricSeries &part) const
{
    const MetricSeries *whole = named(m_a, part.name);
    return whole ? *whole : part;
}

const MetricSeries &MetricMeetings::wholeOfB(const MetricSeries &part) const
{
    const MetricSeries *whole = named(m_b, part.name);
    return whole ? *whole : part;
}

MetricMeeting MetricMeetings::of(const MetricSeries &a, std::size_t inA, const MetricSeries &b,
                                 std::size_t inB) const
{
    using enum MetricSeries::Steps;
    const std::int64_t windowA = windowAt(a, inA), windowB = windowAt(b, inB);
    if (windowA > 0 && windowB > 0 && windowA != windowB)
        return MetricMeeting::UnlikeWindows;
    if (a.steps == Stated && b.steps == Stated)
        return MetricMeeting::Same;
    const auto epochA = pointAt(m_epochsOfA, a.points[inA].step);
    const auto epochB = pointAt(m_epochsOfB, b.points[inB].step);
    const bool areOnGrids = a.steps == ByEpoch && b.steps == ByEpoch;
    if (!epochA || !epochB)
        return areOnGrids ? MetricMeeting::Same : MetricMeeting::UnknownRows;
    if (surelyDiffer(*m_epochsOfA, *epochA, *m_epochsOfB, *epochB))
        return MetricMeeting::OtherRows;
    // Printed epochs of two spacings look alike here and there.
    if (areOnGrids && m_areGridsUnlike)
        return MetricMeeting::UnknownRows;
    if (a.steps != Counted && b.steps != Counted)
        return MetricMeeting::Same;
    const bool isTold = isEqual(*m_epochsOfA, *epochA, *m_epochsOfB, *epochB)
        && isAlone(*m_epochsOfA, *epochA) && isAlone(*m_epochsOfB, *epochB);
    return isTold ? MetricMeeting::Same : MetricMeeting::UnknownRows;
}

std::int64_t windowAt(const MetricSeries &series, std::size_t point)
{
    return series.windows.empty() ? 0 : series.windows[point];
}

} // namespace forkpoint
