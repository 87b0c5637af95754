// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/shown_lists.h"

#include <set>
#include <string>
#include <tuple>
#include <utility>

namespace forkpoint {

std::vector<Finding> shownFindings(const ViewContext &context)
{
    std::vector<Finding> result;
    std::set<std::pair<std::string, std::string>> seen;
    const auto add = [&](const std::vector<Finding> &findings) {
        for (const Finding &finding : findings) {
            if (seen.emplace(finding.id, finding.text).second)
                result.push_back(finding);
        }
    };
    if (const auto comparison = context.comparison()) {
        add(comparison->findings);
        add(comparison->shown.findings);
    }
    if (const auto step = context.stepComparison())
        add(step->findings);
    return result;
}

Diagnostics shownProblems(const ViewContext &context)
{
    Diagnostics result;
    std::set<std::tuple<std::string, std::string, std::string>> seen;
    const auto add = [&](const Diagnostics &diagnostics) {
        for (const Diagnostic &diagnostic : diagnostics) {
            if (seen.emplace(diagnostic.file, diagnostic.place, diagnostic.text).second)
                result.push_back(diagnostic);
        }
    };
    for (Side side : {Side::A, Side::B})
        add(context.side(side).diagnostics);
    if (const auto comparison = context.comparison()) {
        add(comparison->diagnostics);
        add(comparison->shown.diagnostics);
    }
    if (const auto step = context.stepComparison())
        add(step->diagnostics);
    return result;
}

} // namespace forkpoint
