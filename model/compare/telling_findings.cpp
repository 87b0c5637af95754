// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/compare/telling_findings.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace forkpoint {

namespace {

/// Most telling first. What a verdict or its banner says anyway, as a differing recipe, is not among them.
constexpr std::array<std::string_view, 14> Telling{
    "not-finite",
    "ranks-unlike",
    "replicas-differ",
    "one-rank-differs",
    "one-bit",
    "all-zero",
    "rounded-in-place",
    "rounded-to-narrower",
    "negated",
    "times-power-of-two",
    "same-values-transposed",
    "same-rows-permuted",
    "same-columns-permuted",
    "tied-tensors-differ",
};

std::size_t placeOf(const Finding &finding)
{
    return std::size_t(std::find(Telling.begin(), Telling.end(), finding.id) - Telling.begin());
}

} // namespace

std::vector<const Finding *> tellingFindings(const std::vector<Finding> &findings, std::size_t most)
{
    std::vector<const Finding *> telling;
    for (const Finding &finding : findings) {
        if (finding.certainty == Certainty::Is && placeOf(finding) < Telling.size())
            telling.push_back(&finding);
    }
    std::stable_sort(telling.begin(), telling.end(), [](const Finding *left, const Finding *right) {
        return placeOf(*left) < placeOf(*right);
    });
    telling.resize(std::min(most, telling.size()));
    return telling;
}

} // namespace forkpoint
