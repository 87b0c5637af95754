// SPDX-License-Identifier: GPL-3.0-or-later
// What a report says last: what was not compared, findings, and how to get all this again.
#include "model/report/report_document.h"

#include "model/format.h"

#include <algorithm>

namespace forkpoint {

namespace {

/// Names that a finding shows in a table.
constexpr std::size_t NamedPlaces = 8;

void addNotComparedRows(const CheckpointComparison &shown, ReportSection &section)
{
    ReportTable table;
    table.columns = {{"not compared", false}, {"class", false}, {"why", false}};
    const auto add = [&](const std::string &name, StateClass stateClass, std::string why) {
        if (++table.total > ReportRows)
            return;
        table.rows.push_back({verbatim(name),
                              {std::string(toString(stateClass)), {}, false, {}},
                              {std::move(why), ReportTone::Unknown, false, {}}});
    };
    for (const TensorRow &row : shown.tensors) {
        if (row.status == ItemStatus::NotCompared)
            add(row.name, row.stateClass, row.reason);
        else if (row.partlyRead)
            add(row.name, row.stateClass, "known to differ, the rest not read: " + row.reason);
        else if (row.stoppedEarly)
            add(row.name, row.stateClass, "known to differ, not read to its end");
        else if (row.ambiguous)
            add(row.name, row.stateClass, "the pairing is a guess: " + row.pairedReason);
    }
    for (const ValueRow &row : shown.values) {
        if (row.status == ItemStatus::NotCompared)
            add(row.name, row.stateClass,
                row.reason.empty() ? "could not be compared" : row.reason);
    }
    if (table.total > 0)
        section.blocks.emplace_back(std::move(table));
}

void addStepRows(const std::vector<StepMark> &steps, ReportSection &section)
{
    ReportTable table;
    table.columns = {{"step", true}, {"status", false}, {"why", false}};
    for (const StepMark &mark : steps) {
        if (mark.status == StepStatus::Identical || mark.status == StepStatus::Different)
            continue;
        if (++table.total > ReportRows)
            continue;
        const bool overlap = !mark.reason.empty();
        table.rows.push_back(
            {{std::to_string(mark.step), {}, false, {}},
             {wordsOf(toString(mark.status)), toneOf(mark.status), false, {}},
             {overlap ? mark.reason : "outside the overlap of the two series", {}, false, {}}});
    }
    if (table.total > 0)
        section.blocks.emplace_back(std::move(table));
}

void addDiagnostics(const Diagnostics &diagnostics, ReportSection &section)
{
    ReportTable table;
    table.columns = {{"severity", false}, {"where", false}, {"what the files say", false}};
    for (const Diagnostic &diagnostic : diagnostics) {
        if (++table.total > ReportRows)
            continue;
        std::string where = diagnostic.file;
        if (!diagnostic.place.empty())
            where += (where.empty() ? "" : ": ") + diagnostic.place;
        table.rows.push_back({{std::string(toString(diagnostic.severity)), {}, false, {}},
                              verbatim(where),
                              {diagnostic.text, {}, false, {}}});
    }
    if (table.total > 0)
        section.blocks.emplace_back(std::move(table));
}

std::string placesOf(const Finding &finding)
{
    std::string text;
    for (std::size_t i = 0; i < std::min(finding.where.size(), NamedPlaces); ++i)
        text += (i == 0 ? "" : ", ") + finding.where[i];
    if (finding.where.size() > NamedPlaces)
        text += " and " + grouped(finding.where.size() - NamedPlaces) + " more";
    return text;
}

} // namespace

ReportSection notComparedSection(const RunComparison &comparison)
{
    ReportSection section{"not-compared", "What was not compared, and why", {}};
    if (!comparison.verdict.reason.empty())
        section.blocks.emplace_back(ReportText{
            "Why there is no answer: " + comparison.verdict.reason + ".", ReportTone::Unknown});
    addNotComparedRows(comparison.shown, section);
    addStepRows(comparison.steps, section);
    addDiagnostics(comparison.diagnostics, section);
    if (section.blocks.empty())
        section.blocks.emplace_back(
            ReportText{"Everything in scope was read and compared.", ReportTone::Equal});
    return section;
}

ReportSection findingsSection(const RunComparison &comparison)
{
    ReportSection section{"findings", "Findings", {}};
    ReportTable table;
    table.columns = {{"certainty", false}, {"finding", false}, {"where", false}};
    for (const Finding &finding : comparison.findings) {
        if (++table.total > ReportRows)
            continue;
        table.rows.push_back(
            {{finding.certainty == Certainty::Is ? "is so" : "consistent with", {}, false, {}},
             {finding.text, {}, false, {}},
             verbatim(placesOf(finding))});
    }
    if (table.total == 0) {
        section.blocks.emplace_back(ReportText{"None.", {}});
        return section;
    }
    section.blocks.emplace_back(
        ReportText{"\"Is so\" was tested exactly on every element; \"consistent with\" is what the "
                   "figures suggest.",
                   {}});
    section.blocks.emplace_back(std::move(table));
    return section;
}

ReportSection reproduceSection(const RunComparison &comparison, const ReportOptions &options)
{
    ReportSection section{"reproduce", "How to reproduce", {}};
    const std::string status = std::to_string(exitStatus(comparison.verdict.outcome));
    if (options.request.command.empty())
        section.blocks.emplace_back(
            ReportText{"The command was not recorded.", ReportTone::Unknown});
    else {
        section.blocks.emplace_back(ReportText{"This command gives this result, with exit status "
                                                   + status + ", for any number of threads:",
                                               {}});
        section.blocks.emplace_back(ReportCommand{options.request.command});
    }
    if (!options.request.elements.empty()) {
        section.blocks.emplace_back(
            ReportText{"The elements of the first tensor that differs, the largest first:", {}});
        section.blocks.emplace_back(ReportCommand{options.request.elements});
    }
    return section;
}

ReportSection readingSection(const RunComparison &comparison)
{
    ReportSection section{"reading", "How to read this", {}};
    for (const char *line :
         {"= equal, \u2260 different, ? not known, \u25d0 on one side only. A is blue, B orange, a "
          "difference magenta.",
          "Differences are B\u2212A; |B\u2212A| is their size. An element differs if its stored "
          "bits "
          "do; ULP counts the representable numbers between two values.",
          "Identical: every byte in scope is equal. Different: bits, a shape or a type of some "
          "state "
          "differ. Undecided: no difference was seen, but something could not be compared. Not "
          "compared: nothing was, for the reason given."})
        section.blocks.emplace_back(ReportText{line, {}});
    if (!comparison.ranks.empty())
        section.blocks.emplace_back(ReportText{
            "Of the first record that differs on a rank, an origin had equal inputs and "
            "another output; a receiver had other inputs already, so that the cause lies "
            "before it or on another rank; unclassified says that its inputs were not "
            "recorded or not proven equal.",
            {}});
    return section;
}

} // namespace forkpoint
