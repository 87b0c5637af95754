// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/compare/fork_words.h"

#include "model/text/and_list.h"

#include <algorithm>

namespace forkpoint {

namespace {

/// "step 6 is", "steps 6, 9 and 12 are", "steps 6, 9, 12 and 40 more are".
std::string listed(const std::vector<Step> &steps)
{
    constexpr std::size_t Shown = 3;
    std::vector<std::string> words;
    for (std::size_t i = 0; i < std::min(steps.size(), Shown); ++i)
        words.push_back(std::to_string(steps[i]));
    if (steps.size() > Shown)
        words.push_back(std::to_string(steps.size() - Shown) + " more");
    return steps.size() == 1 ? "step " + andList(words) + " is"
                             : "steps " + andList(words) + " are";
}

} // namespace

std::string openBetween(const FirstDivergence &divergence, const std::vector<StepMark> &steps)
{
    if (!divergence.provenEqualStep || !divergence.step)
        return {};
    const auto open = std::find_if(steps.begin(), steps.end(), [&](const StepMark &mark) {
        return mark.status == StepStatus::Undecided && mark.step > *divergence.provenEqualStep
            && mark.step < *divergence.step;
    });
    return open == steps.end() ? std::string()
                               : " Step " + std::to_string(open->step)
            + " between them could not be compared whole: it may begin there.";
}

std::string metAgain(const FirstDivergence &divergence, const std::vector<Step> &equalAgain,
                     const std::set<Step> &unequal)
{
    std::string text = "Step " + std::to_string(*divergence.step) + " differs";
    if (!divergence.name.empty())
        text += " (first " + divergence.name + ")";
    text += ", and " + listed(equalAgain) + " equal again: this difference did not persist";
    const auto again = unequal.lower_bound(equalAgain.front());
    if (again != unequal.end())
        text += "; step " + std::to_string(*again) + " differs again";
    return text + ".";
}

} // namespace forkpoint
