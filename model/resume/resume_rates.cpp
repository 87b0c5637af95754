// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/resume/resume_rates.h"

#include "model/format.h"

#include <set>

namespace forkpoint {

namespace {

/// "optimizer_states.1.param_groups.0.lr" as rank "", owner "optimizer_states.1", group "0".
struct RateName
{
    std::string rank, owner, group;
};

RateName nameOf(std::string_view name, std::string_view before, std::string_view after)
{
    const std::string own = ResumeRules::builtin().withoutRanks(name);
    RateName parts;
    parts.rank = name.substr(0, name.size() - own.size());
    const auto at = own.rfind(before);
    const std::size_t owner = at == std::string::npos ? 0 : at;
    parts.owner = own.substr(0, owner);
    parts.group = own.substr(0, own.size() - std::min(after.size(), own.size()));
    parts.group.erase(0, parts.group.rfind('.') + 1);
    return parts;
}

RateName rateName(std::string_view name)
{
    return nameOf(name, "param_groups.", ".lr");
}

} // namespace

LastRates::LastRates(const std::vector<const ResumeItem *> &rates,
                     const std::vector<const ResumeItem *> &lasts, const ResumeSide &side)
    : m_side(side)
{
    for (const ResumeItem *last : lasts) {
        const RateName name = nameOf(last->name, "_last_lr.", "");
        // Schedules inside of one are asked by that one; what it gave counts.
        if (name.owner.find("._schedulers.") != std::string::npos)
            continue;
        if (const auto given = side.number(*last))
            m_ranks[name.rank].schedules[name.owner].emplace(name.group, *given);
    }
    if (m_ranks.empty())
        return;
    std::set<std::pair<std::string, std::string>> optimizers;
    for (const ResumeItem *rate : rates) {
        const RateName name = rateName(rate->name);
        if (side.number(*rate) && optimizers.emplace(name.rank, name.owner).second)
            ++m_ranks[name.rank].optimizers;
    }
}

SelfCheck LastRates::check(const ResumeItem &rate) const
{
    const auto number = m_side.number(rate);
    if (!number || m_ranks.empty())
        return {};
    const RateName name = rateName(rate.name);
    const auto rank = m_ranks.find(name.rank);
    if (rank == m_ranks.end())
        return {};
    const auto &schedules = rank->second.schedules;
    std::optional<double> other;
    for (const auto &[schedule, groups] : schedules) {
        const auto given = groups.find(name.group);
        if (given == groups.end())
            continue;
        if (given->second == *number)
            return {true, "is what the schedule gave last"};
        other = given->second;
    }
    if (!other)
        return {};
    if (schedules.size() == 1 && rank->second.optimizers == 1)
        return {false, shortest(*number) + " against the schedule's " + shortest(*other)};
    return {std::nullopt,
            "no schedule gave it last; which of "
                + counted(rank->second.optimizers, "optimizer", "optimizers")
                + " have one is not recorded"};
}

} // namespace forkpoint
