// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/step_pyramid.h"

#include <algorithm>

namespace forkpoint {

namespace {

/// The most telling first.
constexpr StepStatus Telling[] = {StepStatus::Different, StepStatus::Undecided,
                                  StepStatus::OnlyInA,   StepStatus::OnlyInB,
                                  StepStatus::Pending,   StepStatus::Identical};

} // namespace

StepPyramid::StepPyramid(const std::vector<StepMark> &marks)
{
    if (marks.empty())
        return;
    std::vector<Bits> level;
    level.reserve(marks.size());
    for (const StepMark &mark : marks)
        level.push_back(bit(mark.status));
    m_levels.push_back(std::move(level));
    while (m_levels.back().size() > 1) {
        const std::vector<Bits> &below = m_levels.back();
        std::vector<Bits> above((below.size() + 1) / 2);
        for (std::size_t i = 0; i < below.size(); ++i)
            above[i / 2] |= below[i];
        m_levels.push_back(std::move(above));
    }
    m_all = m_levels.back().front();
}

StepStatus StepPyramid::worst(std::size_t first, std::size_t end) const
{
    Bits bits = 0;
    // Whole nodes only: the ends of the stretch are taken level by level.
    for (std::size_t level = 0; first < end; ++level) {
        if (first % 2 == 1)
            bits |= m_levels[level][first++];
        if (end % 2 == 1)
            bits |= m_levels[level][--end];
        first /= 2;
        end /= 2;
    }
    const auto found =
        std::find_if(std::begin(Telling), std::end(Telling),
                     [bits](StepStatus status) { return (bits & bit(status)) != 0; });
    return found == std::end(Telling) ? StepStatus::Pending : *found;
}

std::optional<std::size_t> StepPyramid::next(std::size_t from, StepStatus status) const
{
    const Bits wanted = bit(status);
    std::size_t level = 0, at = from;
    // Up while nothing is there, right at each level; then down to the first.
    while (level < m_levels.size() && at < m_levels[level].size()) {
        if (m_levels[level][at] & wanted) {
            while (level > 0) {
                --level;
                at *= 2;
                if (!(m_levels[level][at] & wanted))
                    ++at;
            }
            return at;
        }
        ++at;
        while (at % 2 == 0 && level + 1 < m_levels.size() && at < m_levels[level].size()) {
            at /= 2;
            ++level;
        }
    }
    return std::nullopt;
}

std::optional<std::size_t> StepPyramid::previous(std::size_t before, StepStatus status) const
{
    const Bits wanted = bit(status);
    std::size_t level = 0, end = std::min(before, size()); // entries [0, end) of the level are left
    while (end > 0) {
        std::size_t at = end - 1;
        if (m_levels[level][at] & wanted) {
            while (level > 0) {
                --level;
                at = std::min(2 * at + 1, m_levels[level].size() - 1);
                if (!(m_levels[level][at] & wanted))
                    --at;
            }
            return at;
        }
        --end;
        while (end > 0 && end % 2 == 0 && level + 1 < m_levels.size()) {
            end /= 2;
            ++level;
        }
    }
    return std::nullopt;
}

} // namespace forkpoint
