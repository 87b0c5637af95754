// SPDX-License-Identifier: GPL-3.0-or-later
// The section of a report that says what a resumed run needs.
#include "model/report/report_document.h"

#include <algorithm>

namespace forkpoint {

namespace {

ReportCell equalCell(const ResumeFact &fact)
{
    if (!fact.equal)
        return {fact.relation, {}, false, {}};
    const ReportTone tone = *fact.equal ? ReportTone::Equal : ReportTone::Different;
    return {fact.relation.empty() ? (*fact.equal ? "equal" : "differs") : fact.relation,
            tone,
            false,
            {}};
}

std::string checkText(const SelfCheck &check)
{
    if (!check.holds)
        return check.reason;
    return (*check.holds ? "yes: " : "no: ") + check.reason;
}

ReportCell checkCell(const ResumeFact &fact)
{
    const std::string a = checkText(fact.checkA), b = checkText(fact.checkB);
    std::string text = a;
    if (a != b)
        text = (a.empty() ? "" : "A: " + a) + (a.empty() || b.empty() ? "" : "; ")
            + (b.empty() ? "" : "B: " + b);
    const bool fails = fact.checkA.holds == false || fact.checkB.holds == false;
    const bool holds = fact.checkA.holds == true || fact.checkB.holds == true;
    return {text,
            fails       ? ReportTone::Different
                : holds ? ReportTone::Equal
                        : ReportTone::Plain,
            false,
            {}};
}

} // namespace

ReportSection resumeSection(const RunComparison &comparison)
{
    ReportSection section{"resume", "What a resume needs", {}};
    ReportTable table;
    table.columns = {{"state", false}, {"name", false},   {"A", false},
                     {"B", false},     {"equal?", false}, {"consistent?", false}};
    std::vector<const ResumeFact *> facts;
    for (const ResumeFact &fact : comparison.shown.resume)
        facts.push_back(&fact);
    table.total = facts.size();
    if (facts.size() > ReportRows)
        std::stable_partition(facts.begin(), facts.end(),
                              [](const ResumeFact *fact) { return fact->isTelling(); });
    facts.resize(std::min(facts.size(), ReportRows));
    for (const ResumeFact *fact : facts)
        table.rows.push_back({{fact->state, {}, false, {}},
                              verbatim(fact->name),
                              verbatim(fact->a),
                              verbatim(fact->b),
                              equalCell(*fact),
                              checkCell(*fact)});
    section.blocks.emplace_back(ReportText{
        "Consistent means that a checkpoint agrees with itself; A and B are looked at each alone.",
        {}});
    section.blocks.emplace_back(std::move(table));
    return section;
}

} // namespace forkpoint
