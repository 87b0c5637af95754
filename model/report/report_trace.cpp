// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/format.h"
#include "model/report/report_document.h"

#include <algorithm>

namespace forkpoint {

namespace {

// Of many steps those around the divergence tell, and the one whose tensors are shown; beyond them nearly all differs.
constexpr std::size_t MostLinks = 24;
constexpr std::int64_t StepsBefore = 1, StepsAfter = 1;
constexpr std::size_t MostRanks = 200;

ReportTone toneOf(LinkStatus status)
{
    switch (status) {
    case LinkStatus::Equal: return ReportTone::Equal;
    case LinkStatus::Different: return ReportTone::Different;
    case LinkStatus::NotRecorded:
    case LinkStatus::Undecided: break;
    }
    return ReportTone::Unknown;
}

bool isNear(const ChainLink &link, const RunComparison &comparison)
{
    if (comparison.chain.size() <= MostLinks)
        return true;
    const auto &divergence = comparison.firstDivergence;
    const auto centre =
        divergence && divergence->step ? divergence->step : comparison.chain.front().step;
    if (link.step && link.step == comparison.shownStep)
        return true;
    return link.step && centre && *link.step >= *centre - StepsBefore
        && *link.step <= *centre + StepsAfter;
}

ReportTable chainTable(const RunComparison &comparison)
{
    ReportTable table;
    table.columns = {{"step", true},     {"stage", false}, {"status", false},
                     {"compared", true}, {"differ", true}, {"evidence", false}};
    for (const ChainLink &link : comparison.chain) {
        if (!isNear(link, comparison))
            continue;
        table.rows.push_back(
            {plainCell(link.step ? std::to_string(*link.step) : ""), verbatim(link.stage),
             plainCell(wordsOf(toString(link.status)), toneOf(link.status)),
             numberCell(link.compared), numberCell(link.different),
             plainCell(link.compared > 0 ? std::string(toString(link.strength)) : "")});
    }
    table.total = table.rows.size();
    return table;
}

ReportTable rankTable(const std::vector<RankSummary> &ranks)
{
    ReportTable table;
    table.columns = {{"rank", false},  {"first record that differs", false},
                     {"step", true},   {"stage", false},
                     {"class", false}, {"why", false}};
    for (std::size_t i = 0; i < std::min(ranks.size(), MostRanks); ++i) {
        const RankSummary &rank = ranks[i];
        if (!rank.first) {
            const bool isSeen = rank.why.empty();
            table.rows.push_back({plainCell(rank.coordinate.toText()),
                                  isSeen ? plainCell("no difference seen", ReportTone::Plain)
                                         : plainCell("not compared", ReportTone::Unknown),
                                  plainCell(""), plainCell(""), plainCell(""), verbatim(rank.why)});
            continue;
        }
        table.rows.push_back({plainCell(rank.coordinate.toText()), verbatim(rank.first->name),
                              plainCell(rank.first->step ? std::to_string(*rank.first->step) : ""),
                              verbatim(rank.first->stage),
                              plainCell(rank.divergenceClass, ReportTone::Different),
                              verbatim(rank.why)});
    }
    table.total = table.rows.size();
    return table;
}

} // namespace

ReportSection chainSection(const RunComparison &comparison)
{
    ReportSection section{"chain", "The causal chain", {}};
    section.blocks.emplace_back(ReportText{
        "Stages of each step in the order in which they cause each other, over checkpoints and "
        "traces. A stage that was not recorded is a hole: nothing is known of it.",
        {}});
    ReportTable table = chainTable(comparison);
    if (table.rows.size() < comparison.chain.size()) {
        section.blocks.emplace_back(ReportText{
            grouped(table.rows.size()) + " of " + grouped(comparison.chain.size())
                + " links: those of the "
                + (comparison.firstDivergence ? "steps around the divergence" : "first steps")
                + " and of the step shown. The JSON report has all.",
            {}});
    }
    section.blocks.emplace_back(std::move(table));
    if (!comparison.ranks.empty()) {
        section.blocks.emplace_back(ReportText{
            "Every rank has an order of its own; the first record that differs on each:", {}});
        if (comparison.ranks.size() > MostRanks) {
            section.blocks.emplace_back(ReportText{"The first " + grouped(MostRanks) + " of "
                                                       + grouped(comparison.ranks.size())
                                                       + " ranks; the JSON report has all.",
                                                   {}});
        }
        section.blocks.emplace_back(rankTable(comparison.ranks));
    }
    if (comparison.nextCapture) {
        section.blocks.emplace_back(
            ReportText{"Record next: " + comparison.nextCapture->why + ".", {}});
        for (const auto &[tool, command] : comparison.nextCapture->commands) {
            section.blocks.emplace_back(ReportText{"With " + tool + ":", {}});
            section.blocks.emplace_back(ReportCommand{command});
        }
    }
    return section;
}

} // namespace forkpoint
