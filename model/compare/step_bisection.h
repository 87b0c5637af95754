// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace forkpoint {

/// Finds the first differing one of `count` steps in few looks, from both ends, taking it that what
/// has parted stays apart; if it does not, all are looked at. Steps that could not be decided are passed over.
class StepBisection
{
public:
    enum class Answer { Unasked, Equal, Different, Unknown };

    explicit StepBisection(std::size_t count) : m_answers(count, Answer::Unasked) {}

    /// The step to look at; nothing when the first difference is found, or there is none.
    std::optional<std::size_t> next() const;
    void tell(std::size_t step, Answer answer) { m_answers[step] = answer; }

    /// Of each step, as if it had not been looked at: what its neighbours on both sides say, or
    /// Unknown.
    std::vector<Answer> inferred() const;

private:
    std::vector<Answer> m_answers;
};

} // namespace forkpoint
