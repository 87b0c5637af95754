// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/result.h"
#include "model/tensor_ref.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace forkpoint {

/// What a name stands for in a resumed run.
enum class ResumeRole {
    None,
    Iteration,
    OptimizerStep,
    SchedulerStep,    ///< equals the iteration
    SchedulerBefore,  ///< is one less
    SchedulerSamples, ///< is iteration x global batch
    Epoch,
    Samples,
    GlobalBatch,
    BatchFactor,
    Rate,
    LastRate,
    Seed,
    Moment,
    Master,
    Ranks,
    AlikeOverTp,
    UnlikeOverTp,
};

/// What the {x}, {tp}, ... of a pattern stood for.
using NameParts = std::vector<std::pair<std::string, std::string>>;

/// Matches all of `name`: * is any text, {x} any text that is kept, any other {axis} digits.
std::optional<NameParts> matchParts(std::string_view pattern, std::string_view name);

/// `pattern` with its {x} replaced.
std::string fillParts(std::string_view pattern, const NameParts &parts);

struct ResumeRule
{
    ResumeRole role = ResumeRole::None;
    std::string pattern;
    std::string rest; ///< the reason; of a master, the name of its weight
    std::string glob; ///< the pattern with a star for each part: quick to refuse a name

    std::optional<NameParts> match(std::string_view name) const;
};

/// The table resources/rules/resume_roles.txt: "role  pattern  reason", '#' begins a comment.
class ResumeRules
{
public:
    static const ResumeRules &builtin();
    static Result<ResumeRules> parse(std::string_view text);

    /// The rules of one role that match, in the table's order.
    std::vector<const ResumeRule *> matches(ResumeRole role, std::string_view name) const;
    /// Role of a name among those that are looked for, first in the table; None without a match.
    ResumeRole roleOf(std::string_view name, std::initializer_list<ResumeRole> wanted) const;
    /// Rank coordinates that a name carries, such as {"tp", 1}; empty where it carries none.
    OwnerCoordinate ranksOf(std::string_view name) const;
    /// The name without those: equal for the same thing of other ranks.
    std::string withoutRanks(std::string_view name) const;

private:
    std::vector<ResumeRule> m_rules;
};

} // namespace forkpoint
