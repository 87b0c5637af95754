// SPDX-License-Identifier: GPL-3.0-or-later
// The sections of a report that speak of values: the recipe apart, because it is the first suspect.
#include "model/report/report_document.h"

#include "model/compare/lost_items.h"
#include "model/format.h"

#include <algorithm>

namespace forkpoint {

namespace {

/// Bytes of a value that a table shows; JSON has all of it.
constexpr std::size_t ValueBytes = 300;

ReportCell valueCell(const std::optional<Value> &value, const ValueRow &row)
{
    return value
        ? verbatim(value->toDisplay(), ValueBytes)
        : ReportCell{mayBeLost(row) ? "not found" : "absent", ReportTone::OneSided, false, {}};
}

template <class Keep>
ReportTable valuesTable(const std::vector<ValueRow> &values, bool withClass, Keep keep)
{
    ReportTable table;
    table.columns = {{"name", false}};
    if (withClass)
        table.columns.push_back({"class", false});
    table.columns.insert(table.columns.end(), {{"A", false}, {"B", false}, {"status", false}});
    for (const ValueRow &row : values) {
        if (!keep(row) || ++table.total > ReportRows)
            continue;
        table.rows.push_back({verbatim(row.name)});
        if (withClass)
            table.rows.back().push_back({std::string(toString(row.stateClass)), {}, false, {}});
        table.rows.back().push_back(valueCell(row.valueA, row));
        table.rows.back().push_back(valueCell(row.valueB, row));
        const bool within = row.withinTolerance;
        table.rows.back().push_back({within ? "within tolerance" : wordsOf(toString(row.status)),
                                     within ? ReportTone::Equal : toneOf(row.status),
                                     false,
                                     {}});
    }
    return table;
}

} // namespace

std::string recipeDifference(const RunComparison &comparison)
{
    const auto finding = std::find_if(comparison.findings.begin(), comparison.findings.end(),
                                      [](const Finding &f) { return f.id == "recipe-differs"; });
    return finding == comparison.findings.end() ? std::string() : finding->text + ".";
}

ReportSection recipeSection(const RunComparison &comparison)
{
    const auto &values = comparison.shown.values;
    ReportSection section{"recipe", "Recipe", {}};
    const auto isRecipe = [](const ValueRow &row) { return row.stateClass == StateClass::Recipe; };
    const std::uint64_t settings =
        std::uint64_t(std::count_if(values.begin(), values.end(), isRecipe));
    ReportTable table = valuesTable(values, false, [&](const ValueRow &row) {
        return isRecipe(row) && row.status != ItemStatus::Identical;
    });
    // Settings that the traces recorded of their processes are among no values.
    const std::string suspect = recipeDifference(comparison);
    if (!suspect.empty()) {
        section.blocks.emplace_back(ReportText{suspect, ReportTone::Different});
    } else if (settings == 0) {
        section.blocks.emplace_back(
            ReportText{"No setting of a recipe is among what was compared: whether both runs were "
                       "asked for the same is not known.",
                       ReportTone::Unknown});
        return section;
    } else if (table.total == 0) {
        section.blocks.emplace_back(ReportText{
            "All " + counted(settings, "recorded setting is", "recorded settings are") + " equal.",
            ReportTone::Equal});
        return section;
    }
    section.blocks.emplace_back(
        ReportText{"A recipe that differs is the first suspect: runs that were asked for unlike "
                   "things part without any fault of hardware or software.",
                   {}});
    if (table.total > 0)
        section.blocks.emplace_back(std::move(table));
    return section;
}

ReportSection valuesSection(const RunComparison &comparison)
{
    const auto &values = comparison.shown.values;
    ReportSection section{"values", "Other values that differ", {}};
    ReportTable table = valuesTable(values, true, [](const ValueRow &row) {
        return row.stateClass != StateClass::Recipe && row.status != ItemStatus::Identical;
    });
    if (table.total == 0)
        section.blocks.emplace_back(ReportText{"None.", {}});
    else
        section.blocks.emplace_back(std::move(table));
    return section;
}

} // namespace forkpoint
