// SPDX-License-Identifier: GPL-3.0-or-later
// The sections of a report that speak of tensors.
#include "model/report/report_document.h"

#include "model/compare/divergence_row.h"
#include "model/compare/row_stats.h"
#include "model/compare/ulp_quantile.h"
#include "model/format.h"

#include <algorithm>
#include <tuple>

namespace forkpoint {

namespace {

constexpr std::size_t PlottedTensors = 4;

bool differs(const TensorRow &row)
{
    return row.status == ItemStatus::Different;
}

/// Shapes and types first, then what has no figures, then by size: the difference beside what
/// differs; names break ties.
bool moreTelling(const TensorRow *left, const TensorRow *right)
{
    const auto key = [](const TensorRow *row) {
        const auto relative = row->stats ? relativeDifference(*row->stats) : std::nullopt;
        const int rank = !row->stats ? 0 : !relative ? 1 : 2;
        return std::tuple(rank, relative ? -*relative : 0.0, std::string_view(row->name));
    };
    return key(left) < key(right);
}

std::string sizeText(const TensorRow &row)
{
    const DiffStats &stats = *row.stats;
    return measuredType(row).isFloating() ? significant(stats.maxAbs, 4)
                                          : grouped(stats.maxAbsInteger);
}

bool hasMaximum(const TensorRow &row)
{
    return row.stats && row.stats->maxAbsIndex != NoIndex
        && measuredType(row).kind != ElementKind::Opaque;
}

std::string eitherOrBoth(const std::string &a, const std::string &b)
{
    return a == b || b.empty() ? a : a.empty() ? b : a + " / " + b;
}

std::string shapeText(const TensorRow &row)
{
    return eitherOrBoth(row.a && row.layoutKnownA ? row.shapeA.toString() : std::string(),
                        row.b && row.layoutKnownB ? row.shapeB.toString() : std::string());
}

/// A structured type spells all its fields; like a name, it may break anywhere.
ReportCell typeCell(const TensorRow &row)
{
    constexpr std::size_t Short = 40;
    const std::string text =
        eitherOrBoth(row.a && row.layoutKnownA ? row.dtypeA.name : std::string(),
                     row.b && row.layoutKnownB ? row.dtypeB.name : std::string());
    return {text, {}, text.size() > Short, {}};
}

ReportCell shareCell(const TensorRow &row)
{
    if (!row.stats)
        return {row.stoppedEarly ? "not counted" : "", {}, false, {}};
    const Index different = row.stats->differentElements;
    ReportCell cell{
        grouped(different) + " (" + percentage(different, row.elements) + ")", {}, false, {}};
    if (row.elements > 0)
        cell.share = double(different) / double(row.elements);
    return cell;
}

/// What the other columns do not say of a row.
std::string noteOf(const TensorRow &row)
{
    std::string note;
    const auto add = [&](const std::string &text) {
        if (!text.empty())
            note += (note.empty() ? "" : "; ") + text;
    };
    add(row.withinTolerance ? "within tolerance" : "");
    add(row.parameter.empty() ? "" : "of " + row.parameter);
    add(row.reason);
    add(row.valueEqual && *row.valueEqual ? "equal as values" : "");
    add(row.pairedReason);
    if (row.firstPlaces && row.firstPlaces->owned())
        add("first in " + row.firstPlaces->toString());
    if (row.stats) {
        const DiffStats &stats = *row.stats;
        const std::pair<std::string_view, Index> counts[] = {{"NaN in A", stats.nanA},
                                                             {"NaN in B", stats.nanB},
                                                             {"infinite in A", stats.infA},
                                                             {"infinite in B", stats.infB}};
        for (const auto &[what, count] : counts)
            add(count > 0 ? grouped(count) + " " + std::string(what) : "");
    }
    return note;
}

/// The last column, where it says nothing.
void dropEmptyNotes(ReportTable &table)
{
    const bool noted = std::any_of(table.rows.begin(), table.rows.end(),
                                   [](const auto &cells) { return !cells.back().text.empty(); });
    if (noted)
        return;
    table.columns.pop_back();
    for (auto &cells : table.rows)
        cells.pop_back();
}

ReportTable differingTable(const std::vector<const TensorRow *> &rows)
{
    ReportTable table;
    table.total = rows.size();
    table.columns = {{"tensor", false},
                     {"class", false},
                     {"type", false},
                     {"shape", false},
                     {"elements that differ", true},
                     {"max |B\u2212A|", true},
                     {"max ULP", true},
                     {"rms(B\u2212A) / rms(A)", true},
                     {"note", false}};
    for (const TensorRow *row : rows) {
        if (table.rows.size() == ReportRows)
            break;
        const bool ulp =
            row->stats && measuredType(*row).isFloating() && row->stats->maxUlpIndex != NoIndex;
        const auto relative = row->stats ? relativeDifference(*row->stats) : std::nullopt;
        table.rows.push_back({verbatim(row->name),
                              {std::string(toString(row->stateClass)), {}, false, {}},
                              typeCell(*row),
                              {shapeText(*row), {}, false, {}},
                              shareCell(*row),
                              {hasMaximum(*row) ? sizeText(*row) : std::string(), {}, false, {}},
                              {ulp ? grouped(row->stats->maxUlp) : std::string(), {}, false, {}},
                              {relative ? significant(*relative, 3) : std::string(), {}, false, {}},
                              {noteOf(*row), {}, false, {}}});
    }
    dropEmptyNotes(table);
    return table;
}

bool hasHistogram(const TensorRow &row)
{
    return row.stats && row.stats->differentElements > 0 && row.stats->absDifference.total() > 0;
}

std::string rangeText(const UlpRange &range)
{
    return range.least == range.most
        ? grouped(range.least)
        : "between " + grouped(range.least) + " and " + grouped(range.most);
}

std::string captionOf(const TensorRow &row)
{
    std::string caption = grouped(row.stats->differentElements) + " of "
        + counted(row.elements, "element differs", "elements differ");
    if (row.stats->maxAbsIndex != NoIndex)
        caption += "; the largest |B\u2212A| is " + sizeText(row) + ", at index "
            + grouped(row.stats->maxAbsIndex);
    const auto median = ulpPercentile(*row.stats, 50), most = ulpPercentile(*row.stats, 99);
    if (measuredType(row).isFloating() && median && most)
        caption += "; ULP distance: median " + rangeText(*median) + ", 99th percentile "
            + rangeText(*most);
    return caption;
}

void addPlots(const RunComparison &comparison, const std::vector<const TensorRow *> &rows,
              ReportSection &section)
{
    // The first that differs leads, whatever its size; the largest follow.
    std::vector<const TensorRow *> plotted;
    const auto &divergence = comparison.firstDivergence;
    const TensorRow *first =
        divergence ? rowOfDivergence(comparison.shown.tensors, *divergence) : nullptr;
    if (first && hasHistogram(*first))
        plotted.push_back(first);
    for (const TensorRow *row : rows) {
        if (plotted.size() == PlottedTensors)
            break;
        if (hasHistogram(*row) && row != first)
            plotted.push_back(row);
    }
    const bool measured = std::any_of(rows.begin(), rows.end(), [](const TensorRow *row) {
        return row->stats && row->stats->differentElements > 0 && hasMaximum(*row);
    });
    if (plotted.empty() && measured)
        section.blocks.emplace_back(
            ReportText{"No histograms: this comparison was read back from a report made without "
                       "--full.",
                       ReportTone::Unknown});
    if (plotted.size() > 1) {
        const bool leads = plotted.front() == first
            && (!divergence->step || divergence->step == comparison.shownStep);
        section.blocks.emplace_back(
            ReportText{leads ? "Plotted: where the runs part, then the largest differences."
                             : "Plotted: the largest differences.",
                       {}});
    }
    for (const TensorRow *row : plotted)
        section.blocks.emplace_back(
            TensorPlot{row->name, captionOf(*row), *row->stats, measuredType(*row).isFloating()});
}

void addOneSided(const std::vector<TensorRow> &tensors, ReportSection &section)
{
    ReportTable table;
    table.columns = {{"on one side only", false},
                     {"side", false},
                     {"class", false},
                     {"type", false},
                     {"shape", false},
                     {"note", false}};
    for (const TensorRow &row : tensors) {
        const bool onA = row.status == ItemStatus::OnlyInA;
        if ((!onA && row.status != ItemStatus::OnlyInB) || ++table.total > ReportRows)
            continue;
        table.rows.push_back({verbatim(row.name),
                              {onA ? "only in A" : "only in B", ReportTone::OneSided, false, {}},
                              {std::string(toString(row.stateClass)), {}, false, {}},
                              typeCell(row),
                              {shapeText(row), {}, false, {}},
                              {row.reason, {}, false, {}}});
    }
    dropEmptyNotes(table);
    if (table.total > 0)
        section.blocks.emplace_back(std::move(table));
}

/// What was not compared is no pair that is equal, so it is counted apart.
std::string countsText(const RunComparison &comparison)
{
    const CheckpointComparison &shown = comparison.shown;
    const StatusCounts &counts = shown.counts;
    if (shown.tensors.empty())
        return "No tensor is among what was compared.";
    const std::uint64_t compared = counts.identical + counts.different;
    std::string text = "No pair of tensors was compared";
    if (compared > 0)
        text = grouped(counts.different) + " of "
            + counted(compared, "pair of tensors that was compared differs",
                      "pairs of tensors that were compared differ");
    if (comparison.shownStep && !comparison.steps.empty())
        text += " at step " + std::to_string(*comparison.shownStep);
    if (counts.notCompared > 0)
        text += "; " + grouped(counts.notCompared) + " not compared";
    if (counts.onlyInA + counts.onlyInB > 0)
        text += "; " + grouped(counts.onlyInA) + " only in A, " + grouped(counts.onlyInB)
            + " only in B";
    return text + ".";
}

} // namespace

ReportSection tensorsSection(const RunComparison &comparison)
{
    const CheckpointComparison &shown = comparison.shown;
    ReportSection section{"tensors", "Tensors that differ", {}};
    std::vector<const TensorRow *> rows;
    for (const TensorRow &row : shown.tensors) {
        if (differs(row))
            rows.push_back(&row);
    }
    std::sort(rows.begin(), rows.end(), moreTelling);
    section.blocks.emplace_back(ReportText{
        countsText(comparison), rows.empty() ? ReportTone::Plain : ReportTone::Different});
    addPlots(comparison, rows, section);
    if (!rows.empty()) {
        section.blocks.emplace_back(
            ReportText{"The largest difference beside what differs comes first.", {}});
        section.blocks.emplace_back(differingTable(rows));
    }
    addOneSided(shown.tensors, section);
    return section;
}

std::string describe(const StepsPlot &plot)
{
    std::string text;
    constexpr std::size_t Listed = 40;
    for (std::size_t i = 0; i < std::min(plot.marks.size(), Listed); ++i) {
        const StepMark &mark = plot.marks[i];
        text += (i == 0 ? "Steps: " : ", ") + std::to_string(mark.step) + " "
            + std::string(signOf(toneOf(mark.status)));
    }
    if (plot.marks.size() > Listed)
        text += " and " + grouped(plot.marks.size() - Listed) + " more";
    return text + ".";
}

std::string describe(const TensorPlot &plot)
{
    return plot.name + ": " + plot.caption + ".";
}

} // namespace forkpoint
