// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/step_bisection.h"

#include <algorithm>

namespace forkpoint {

namespace {

using Answer = StepBisection::Answer;

std::optional<std::size_t> lowestDifferent(const std::vector<Answer> &answers)
{
    const auto found = std::find(answers.begin(), answers.end(), Answer::Different);
    if (found == answers.end())
        return std::nullopt;
    return std::size_t(found - answers.begin());
}

/// The last step before `end` that is equal; nothing if none is.
std::optional<std::size_t> lastEqual(const std::vector<Answer> &answers, std::size_t end)
{
    for (std::size_t i = end; i-- > 0;) {
        if (answers[i] == Answer::Equal)
            return i;
    }
    return std::nullopt;
}

} // namespace

std::optional<std::size_t> StepBisection::next() const
{
    const auto unasked = [&](std::size_t i) { return m_answers[i] == Answer::Unasked; };
    const std::size_t count = m_answers.size();
    const auto high = lowestDifferent(m_answers);
    const std::size_t end = high.value_or(count);
    const auto low = lastEqual(m_answers, end);
    // The ends first: the last one that can be read, then the first.
    if (!high) {
        for (std::size_t i = count; i-- > 0;) {
            if (m_answers[i] == Answer::Equal)
                break;
            if (unasked(i))
                return i;
        }
    }
    for (std::size_t i = 0; i < end && (!low || !high); ++i) {
        if (m_answers[i] == Answer::Equal)
            break;
        if (unasked(i))
            return i;
    }
    if (!high)
        return std::nullopt;
    // Then the middle of what is left, or its nearest neighbour.
    const std::size_t begin = low ? *low + 1 : 0;
    if (begin >= end)
        return std::nullopt;
    const std::size_t middle = begin + (end - begin) / 2;
    for (std::size_t distance = 0; distance < end - begin; ++distance) {
        if (middle + distance < end && unasked(middle + distance))
            return middle + distance;
        if (middle >= begin + distance && unasked(middle - distance))
            return middle - distance;
    }
    return std::nullopt;
}

Answer StepBisection::inferred(std::size_t step) const
{
    const auto high = lowestDifferent(m_answers);
    if (high && step > *high) {
        const auto equal = lastEqual(m_answers, m_answers.size());
        return equal && *equal > *high ? Answer::Unknown : Answer::Different; // they met again
    }
    if (!high) {
        const auto low = lastEqual(m_answers, m_answers.size());
        const bool between = lastEqual(m_answers, step) && low && step < *low;
        return between ? Answer::Equal : Answer::Unknown;
    }
    const auto low = lastEqual(m_answers, *high);
    return low && step < *low ? Answer::Equal : Answer::Unknown;
}

} // namespace forkpoint
