// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/compare_text.h"

#include "app/core/resume_text.h"
#include "model/compare/element_plane.h"
#include "model/compare/lost_items.h"
#include "model/format.h"
#include "model/text/printable.h"
#include "model/text/value_text.h"

#include <algorithm>

namespace forkpoint {

namespace {

constexpr std::size_t ShownRows = 20;

std::string padded(std::string text, std::size_t width)
{
    if (text.size() < width)
        text.append(width - text.size(), ' ');
    return text;
}

std::string classTable(const CheckpointComparison &comparison)
{
    if (comparison.byClass.empty())
        return {};
    std::string text = padded("class", 13) + padded("outcome", 22) + padded("identical", 11)
        + padded("different", 11) + padded("only A", 8) + padded("only B", 8) + "not compared\n";
    for (const auto &[stateClass, summary] : comparison.byClass) {
        const StatusCounts &counts = summary.counts;
        std::string outcome(toString(summary.outcome));
        if (isContext(stateClass))
            outcome += " (context)";
        text += padded(std::string(toString(stateClass)), 13) + padded(outcome, 22)
            + padded(grouped(counts.identical), 11) + padded(grouped(counts.different), 11)
            + padded(grouped(counts.onlyInA), 8) + padded(grouped(counts.onlyInB), 8)
            + grouped(counts.notCompared) + "\n";
    }
    return text;
}

/// What the table of classes and the lists below it count: beside traces no records.
std::string shownTitle(const RunComparison &comparison)
{
    const bool besideTraces =
        comparison.verdict.coverage.recordsTotal > 0 && !comparison.shown.byClass.empty();
    std::string text = comparison.shownStep ? "step " + std::to_string(*comparison.shownStep) : "";
    if (besideTraces)
        text +=
            std::string(text.empty() ? "" : ", ") + "tensors and values that were kept as a whole";
    return text.empty() ? text : text + ":\n";
}

std::string chainLine(const ChainLink &link)
{
    std::string text =
        "  " + padded(link.stage, 14) + padded(std::string(toString(link.status)), 14);
    if (link.compared > 0)
        text += grouped(link.different) + " of " + grouped(link.compared) + " differ ("
            + std::string(toString(link.strength)) + ")";
    return text + "\n";
}

/// The chain of the step where the runs part; without one, of the first step.
std::string chainTable(const RunComparison &comparison)
{
    if (comparison.chain.empty() || (!comparison.trace && !comparison.firstDivergence))
        return {};
    const auto step = comparison.firstDivergence && comparison.firstDivergence->step
        ? comparison.firstDivergence->step
        : comparison.chain.front().step;
    std::string text = "causal chain" + (step ? " of step " + std::to_string(*step) : "") + ":\n";
    for (const ChainLink &link : comparison.chain) {
        if (link.step == step)
            text += chainLine(link);
    }
    return text;
}

std::string rankLine(const RankSummary &rank)
{
    std::string text = "  " + rank.coordinate.toText() + ": ";
    if (!rank.first && !rank.why.empty())
        return text + rank.why + "\n";
    if (!rank.first)
        return text + "no difference in " + counted(rank.records, "record", "records") + "\n";
    if (rank.first->step)
        text += "step " + std::to_string(*rank.first->step) + ", ";
    text += printable(rank.first->name);
    if (!rank.first->stage.empty())
        text += " (" + printable(rank.first->stage) + ")";
    return text + ", " + rank.divergenceClass + ": " + printable(rank.why) + "\n";
}

std::string rankTable(const std::vector<RankSummary> &ranks)
{
    if (ranks.empty())
        return {};
    std::string text = "ranks (" + grouped(ranks.size()) + "):\n";
    for (std::size_t i = 0; i < std::min(ranks.size(), ShownRows); ++i)
        text += rankLine(ranks[i]);
    if (ranks.size() > ShownRows)
        text += "  ... and " + grouped(ranks.size() - ShownRows) + " more; --json lists them\n";
    return text;
}

std::string captureLines(const std::optional<NextCapture> &capture)
{
    if (!capture)
        return {};
    std::string text = "record next: " + printable(capture->why) + "\n";
    for (const auto &[tool, command] : capture->commands)
        text += "  " + tool + ": " + command + "\n";
    return text;
}

/// A step whose bits differ within what was asked for carries that as its reason.
bool isWithinTolerance(const StepMark &mark)
{
    return mark.status == StepStatus::Identical && !mark.inferred && !mark.reason.empty();
}

std::string_view stepSign(const StepMark &mark)
{
    switch (mark.status) {
    case StepStatus::Identical: return isWithinTolerance(mark) ? "~" : "=";
    case StepStatus::Different: return "!=";
    case StepStatus::OnlyInA: return " only in A";
    case StepStatus::OnlyInB: return " only in B";
    case StepStatus::Undecided:
    case StepStatus::Pending: break;
    }
    return "?";
}

std::string stepsLine(const std::vector<StepMark> &steps)
{
    if (steps.empty())
        return {};
    std::string text = "steps:";
    std::size_t shown = 0;
    for (const StepMark &mark : steps) {
        if (++shown > 4 * ShownRows)
            return text + " ... (" + grouped(steps.size()) + " in all)\n";
        text += shown > 1 ? ", " : " ";
        text += std::to_string(mark.step);
        const std::string sign(stepSign(mark));
        text += mark.inferred ? "(" + sign + ")" : sign;
    }
    const bool inferred =
        std::any_of(steps.begin(), steps.end(), [](const StepMark &mark) { return mark.inferred; });
    const bool within = std::any_of(steps.begin(), steps.end(), isWithinTolerance);
    return text + (within ? "; ~: within the tolerance" : "")
        + (inferred ? "; in brackets: inferred, not read\n" : "\n");
}

/// What no maximum shows: pairs that are not both finite, and those of equal value.
std::string outsideArithmetic(const DiffStats &stats)
{
    std::string text;
    const auto sides = [&](std::string_view name, Index a, Index b) {
        if (a > 0 || b > 0)
            text += ", " + std::string(name) + " " + grouped(a) + " in A, " + grouped(b) + " in B";
    };
    const auto add = [&](Index count, std::string_view what) {
        if (count > 0)
            text += ", " + grouped(count) + " " + std::string(what);
    };
    sides("NaN", stats.nanA, stats.nanB);
    sides("Inf", stats.infA, stats.infB);
    add(stats.nanPayloadOnly, "by NaN payload alone");
    add(stats.signedZeroOnly, "by the sign of zero alone");
    return text;
}

std::string coordinatesText(const TensorRow &row)
{
    const Shape shape = elementShape(row.shapeA, row.elements);
    return Shape{coordinatesOf(row.stats->firstIndex, shape)}.toString();
}

template <class Row>
std::string withinText(const Row &row)
{
    return row.withinTolerance ? "; within the tolerance" : "";
}

std::string tensorLine(const TensorRow &row)
{
    std::string text = "  " + printable(row.name) + "  ";
    if (!row.parameter.empty() && row.name.find(row.parameter) == std::string::npos)
        text += "(of " + printable(row.parameter) + ")  ";
    if (!row.stats)
        return text
            + (row.reason.empty() ? std::string(toString(row.status)) : printable(row.reason))
            + "\n";
    const DiffStats &stats = *row.stats;
    text += grouped(stats.differentElements) + " of " + grouped(row.elements) + " differ ("
        + percentage(stats.differentElements, row.elements) + ")";
    // Where NaN and infinities alone differ the largest distance is of elements that are equal.
    const std::string outside = outsideArithmetic(stats);
    const bool isOutside = !outside.empty() && stats.maxAbs == 0 && stats.maxUlp == 0;
    if (isOutside)
        text += ", 0 apart where both are finite";
    else if (stats.maxAbsIndex != NoIndex && stats.differentElements > 0)
        text += ", max |B-A| "
            + (row.dtypeA.isInteger() ? grouped(stats.maxAbsInteger)
                                      : significant(stats.maxAbs, 4));
    if (row.dtypeA.isFloating() && stats.maxUlpIndex != NoIndex && !isOutside)
        text += ", max ULP " + grouped(stats.maxUlp);
    text += outside;
    if (row.firstPlaces && row.firstPlaces->owned())
        text +=
            "; first at " + coordinatesText(row) + " in " + printable(row.firstPlaces->toString());
    if (!row.reason.empty())
        text += "; " + printable(row.reason);
    return text + withinText(row) + "\n";
}

template <class Row, class Describe>
std::string section(const std::string &title, const std::vector<const Row *> &rows,
                    Describe describe)
{
    if (rows.empty())
        return {};
    std::string text = title + " (" + grouped(rows.size()) + "):\n";
    for (std::size_t i = 0; i < std::min(rows.size(), ShownRows); ++i)
        text += describe(*rows[i]);
    if (rows.size() > ShownRows)
        text += "  ... and " + grouped(rows.size() - ShownRows) + " more; --json lists them\n";
    return text;
}

template <class Row>
std::vector<const Row *> rowsWith(const std::vector<Row> &rows, ItemStatus status)
{
    std::vector<const Row *> result;
    for (const Row &row : rows) {
        if (row.status == status)
            result.push_back(&row);
    }
    return result;
}

std::string valueLine(const ValueRow &row)
{
    return "  " + printable(row.name) + "  "
        + printable(shownChange(row.valueA, row.valueB, mayBeLost(row) ? "not found" : "absent"))
        + withinText(row) + (isContext(row.stateClass) ? "  (context)" : "")
        + (mayBeLost(row) ? "  " + row.reason : "") + "\n";
}

std::string nameLine(const TensorRow &row)
{
    return "  " + printable(row.name) + (row.reason.empty() ? "" : "  " + printable(row.reason))
        + "\n";
}

} // namespace

std::string compareText(const RunComparison &comparison)
{
    const CheckpointComparison &shown = comparison.shown;
    std::string text = "A: " + printable(comparison.pathA) + "  " + comparison.formatA
        + "\nB: " + printable(comparison.pathB) + "  " + comparison.formatB + "\n"
        + printable(comparison.verdict.sentence) + "\n";
    if (comparison.firstDivergence)
        text += printable(comparison.firstDivergence->sentence) + "\n";
    for (const Finding &finding : comparison.findings)
        text += "finding: " + printable(finding.text) + "\n";
    text += stepsLine(comparison.steps);
    text += chainTable(comparison);
    text += rankTable(comparison.ranks);
    text += captureLines(comparison.nextCapture);
    text += shownTitle(comparison);
    text += classTable(shown);
    using enum ItemStatus;
    text += section("different tensors", rowsWith(shown.tensors, Different), tensorLine);
    text += section("different values", rowsWith(shown.values, Different), valueLine);
    text += section("tensors only in A", rowsWith(shown.tensors, OnlyInA), nameLine);
    text += section("tensors only in B", rowsWith(shown.tensors, OnlyInB), nameLine);
    text += section("values only in A", rowsWith(shown.values, OnlyInA), valueLine);
    text += section("values only in B", rowsWith(shown.values, OnlyInB), valueLine);
    text += section("not compared", rowsWith(shown.tensors, NotCompared), tensorLine);
    text += resumeText(shown.resume, true, ShownRows);
    return text;
}

} // namespace forkpoint
