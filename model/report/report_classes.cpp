// SPDX-License-Identifier: GPL-3.0-or-later
// The section of a report that says of each class of state whether it is equal.
#include "model/compare/class_evidence.h"
#include "model/report/report_document.h"

#include <algorithm>

namespace forkpoint {

namespace {

std::string className(StateClass stateClass)
{
    return std::string(toString(stateClass)) + (isContext(stateClass) ? " (context)" : "");
}

Outcome outcomeOf(LinkStatus status)
{
    switch (status) {
    case LinkStatus::Equal: return Outcome::Identical;
    case LinkStatus::Different: return Outcome::Different;
    case LinkStatus::Undecided:
    case LinkStatus::NotRecorded: break;
    }
    return Outcome::Undecided;
}

ReportCell outcomeCell(Outcome outcome)
{
    return plainCell(std::string(toString(outcome)), toneOf(outcome));
}

std::vector<ReportCell> itemsRow(StateClass stateClass, const ClassSummary &summary)
{
    const StatusCounts &counts = summary.counts;
    return {plainCell(className(stateClass)), plainCell("tensors and values"),
            outcomeCell(summary.outcome),     numberCell(counts.identical),
            numberCell(counts.different),     numberCell(counts.onlyInA),
            numberCell(counts.onlyInB),       numberCell(counts.notCompared)};
}

std::vector<ReportCell> recordedRow(StateClass stateClass, const ChainLink &link)
{
    // What is not decided was compared, and is not proven equal.
    const bool isDecided = link.status != LinkStatus::Undecided;
    return {plainCell(className(stateClass)),
            plainCell("recorded values"),
            outcomeCell(outcomeOf(link.status)),
            isDecided ? numberCell(link.compared - std::min(link.compared, link.different))
                      : plainCell(""),
            numberCell(link.different),
            plainCell(""),
            plainCell(""),
            plainCell("")};
}

void addClass(ReportTable &table, StateClass stateClass, const std::vector<ClassLine> &lines,
              bool anyRecorded)
{
    const auto line = std::find_if(lines.begin(), lines.end(), [&](const ClassLine &each) {
        return each.stateClass == stateClass;
    });
    if (line == lines.end()) {
        if (isContext(stateClass) || stateClass == StateClass::Unknown)
            return;
        const char *text = anyRecorded ? "not recorded" : "not among what was compared";
        table.rows.push_back({plainCell(className(stateClass)), plainCell(""),
                              plainCell(text, ReportTone::Unknown), plainCell(""), plainCell(""),
                              plainCell(""), plainCell(""), plainCell("")});
        return;
    }
    if (line->isByItems) // what decides stands first
        table.rows.push_back(itemsRow(stateClass, *line->items));
    if (line->recorded)
        table.rows.push_back(recordedRow(stateClass, *line->recorded));
    if (line->items && !line->isByItems)
        table.rows.push_back(itemsRow(stateClass, *line->items));
}

/// A column that says the same in each row says nothing.
void dropCounted(ReportTable &table)
{
    table.columns.erase(table.columns.begin() + 1);
    for (auto &row : table.rows)
        row.erase(row.begin() + 1);
}

} // namespace

ReportSection classesSection(const RunComparison &comparison)
{
    ReportSection section{"classes", "State by class", {}};
    const std::vector<ClassLine> lines = classLines(comparison, comparison.shown);
    if (lines.empty()) {
        section.blocks.emplace_back(ReportText{
            "No state is among what was compared: nothing is known of weights, optimizer, "
            "scheduler, counters, generators and data.",
            ReportTone::Unknown});
        return section;
    }
    const bool anyRecorded = std::any_of(lines.begin(), lines.end(), [](const ClassLine &line) {
        return line.recorded.has_value();
    });
    std::string text = "State decides the outcome, context never does. ";
    if (comparison.shownStep && !comparison.steps.empty())
        text = "At step " + std::to_string(*comparison.shownStep) + ". " + text;
    text += anyRecorded
        ? "Recorded values are those of the causal chain in the step where the runs part (without "
          "such a step, in all): records of traces, logged numbers, items of checkpoints. Tensors "
          "and values are those of the step shown that were kept as a whole."
        : "Tensors and values are counted.";
    section.blocks.emplace_back(ReportText{std::move(text), {}});
    ReportTable table;
    table.columns = {{"class", false},    {"counted", false},    {"outcome", false},
                     {"equal", true},     {"differ", true},      {"only in A", true},
                     {"only in B", true}, {"not compared", true}};
    for (const StateClass stateClass : allStateClasses())
        addClass(table, stateClass, lines, anyRecorded);
    if (!anyRecorded)
        dropCounted(table);
    table.total = table.rows.size();
    section.blocks.emplace_back(std::move(table));
    return section;
}

} // namespace forkpoint
