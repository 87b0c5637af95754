// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/trace_filter.h"

#include <algorithm>
#include <array>
#include <utility>

namespace forkpoint {

StateClass stateClassOf(const TraceRecord &record)
{
    static constexpr std::array<std::pair<std::string_view, StateClass>, 7> Classes = {
        {{"batch", StateClass::Data},
         {"rng", StateClass::Rng},
         {"optimizer", StateClass::Optimizer},
         {"scheduler", StateClass::Scheduler},
         {"counter", StateClass::Counter},
         {"scaler", StateClass::Scaler},
         {"weight", StateClass::Weights}}};
    const auto found = std::find_if(Classes.begin(), Classes.end(),
                                    [&](const auto &each) { return each.first == record.stage; });
    return found == Classes.end() ? StateClass::Unknown : found->second;
}

bool TraceFilter::takes(const TraceRecord &record) const
{
    const PairingOptions &asked = m_options;
    if (asked.tensorsOnly && record.inputs.empty() && record.outputs.empty())
        return false;
    if (asked.scope
        && std::find(asked.scope->begin(), asked.scope->end(), stateClassOf(record))
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
