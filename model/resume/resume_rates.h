// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/resume/resume_fact.h"
#include "model/resume/resume_items.h"

#include <map>
#include <string>
#include <vector>

namespace forkpoint {

/// The rates that the schedules of one side gave last, for the rates of its optimizers to be held
/// against.
class LastRates
{
public:
    /// Items of the roles Rate and LastRate.
    LastRates(const std::vector<const ResumeItem *> &rates,
              const std::vector<const ResumeItem *> &lasts, const ResumeSide &side);

    /// Where there are several schedules or optimizers, which belongs to which is not recorded: a
    /// rate is then one that some schedule gave, or it is not known.
    SelfCheck check(const ResumeItem &rate) const;

private:
    using Groups = std::map<std::string, double, std::less<>>; ///< rate by parameter group
    struct OfRank
    {
        std::map<std::string, Groups, std::less<>> schedules;
        std::size_t optimizers = 0;
    };

    const ResumeSide &m_side;
    std::map<std::string, OfRank, std::less<>> m_ranks; ///< by what a name says of its rank
};

} // namespace forkpoint
