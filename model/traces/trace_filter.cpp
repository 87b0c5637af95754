// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/traces/trace_filter.h"

#include "model/traces/trace_stage.h"

#include <algorithm>

namespace forkpoint {

bool TraceFilter::takesAll() const
{
    return !m_options.tensorsOnly && !m_options.scope && m_options.include.empty()
        && m_options.exclude.empty();
}

bool TraceFilter::takes(const TraceRecord &record) const
{
    const PairingOptions &asked = m_options;
    if (asked.tensorsOnly && record.inputs.empty() && record.outputs.empty())
        return false;
    if (asked.scope
        && std::find(asked.scope->begin(), asked.scope->end(), stateClassOfStage(record.stage))
            == asked.scope->end())
        return false;
    if (asked.include.empty() && asked.exclude.empty())
        return true;
    const std::string joined =
        record.scope.empty() ? record.name : record.scope + "." + record.name;
    const auto matches = [&](const std::string &glob) {
        return globMatches(glob, record.name) || globMatches(glob, joined)
            || (!record.scope.empty() && globMatches(glob, record.scope));
    };
    const auto matchesAny = [&](const std::vector<std::string> &globs) {
        return std::any_of(globs.begin(), globs.end(), matches);
    };
    return (asked.include.empty() || matchesAny(asked.include)) && !matchesAny(asked.exclude);
}

} // namespace forkpoint
