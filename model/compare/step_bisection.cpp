// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/compare/step_bisection.h"

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
    // What had parted met again: nothing can be told from other steps.
    if (lastEqual(m_answers, count) != low) {
        const auto left = std::find(m_answers.begin(), m_answers.end(), Answer::Unasked);
        return left == m_answers.end() ? std::nullopt
                                       : std::optional(std::size_t(left - m_answers.begin()));
    }
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

std::vector<Answer> StepBisection::inferred() const
{
    const std::size_t count = m_answers.size();
    std::vector<Answer> result(count, Answer::Unknown);
    const auto fill = [&](std::size_t begin, std::size_t end, Answer answer) {
        for (std::size_t i = begin; i < end; ++i)
            result[i] = answer;
    };
    const auto high = lowestDifferent(m_answers);
    const auto low = lastEqual(m_answers, high.value_or(count));
    if (!high) {
        const auto first = std::find(m_answers.begin(), m_answers.end(), Answer::Equal);
        if (low)
            fill(std::size_t(first - m_answers.begin()) + 1, *low, Answer::Equal);
        return result;
    }
    if (low)
        fill(0, *low, Answer::Equal);
    if (lastEqual(m_answers, count) == low) // else they met again
        fill(*high + 1, count, Answer::Different);
    return result;
}

} // namespace forkpoint
