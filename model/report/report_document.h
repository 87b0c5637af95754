// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compare/diff_stats.h"
#include "model/compare/run_comparison.h"
#include "model/metrics/metric_curve.h"
#include "model/report/report_json.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace forkpoint {

// The report for people, in the order in which it is read. It says the same as the JSON document and
// has no facts of its own; the writers of .html and .md format it and decide nothing.

/// Rows of one table. More are counted, and found in the CSV document.
constexpr std::size_t ReportRows = 1000;

/// What a place speaks of: shown by a sign and a colour, never by colour alone.
enum class ReportTone { Plain, Equal, Different, Unknown, OneSided };

std::string_view signOf(ReportTone tone); // "=", "≠", "?", "◐"; Plain has none

struct ReportCell
{
    std::string text;
    ReportTone tone = ReportTone::Plain;
    bool verbatim = false; ///< a name or a value of the files, a command: as it is, unlike prose
    std::optional<double> share; ///< from 0 to 1, for a bar
};

struct ReportColumn
{
    std::string title;
    bool number = false;
};

struct ReportTable
{
    std::vector<ReportColumn> columns;
    std::vector<std::vector<ReportCell>> rows;
    std::uint64_t total = 0; ///< more than `rows` has: they are the first ones
};

/// Names and what they stand for.
struct ReportFacts
{
    std::vector<std::pair<std::string, ReportCell>> facts;
};

struct ReportText
{
    std::string text;
    ReportTone tone = ReportTone::Plain;
};

/// A command for a shell.
struct ReportCommand
{
    std::string line;
};

struct StepsPlot
{
    std::vector<StepMark> marks;
    std::optional<Step> shown;
};

struct MetricPlot
{
    MetricComparison metric;
    MetricCurves curves = {}; ///< without a name: not kept

    bool hasDifference() const { return metric.firstProvenDifference.has_value(); }
};

struct TensorPlot
{
    std::string name, caption;
    DiffStats stats; ///< for its histograms
    bool ulp = false;
};

using ReportBlock = std::variant<ReportText, ReportFacts, ReportTable, ReportCommand, StepsPlot,
                                 MetricPlot, TensorPlot>;

struct ReportSection
{
    std::string id, title;
    std::vector<ReportBlock> blocks;
};

struct ReportDocument
{
    std::string title;
    ReportTone tone = ReportTone::Unknown; ///< of the verdict
    std::string outcome;                   ///< in words: "Different"
    std::string sentence;                  ///< of the verdict
    std::string divergence, suspect;       ///< where the runs part; how their recipes differ
    std::vector<ReportSection> sections;

    /// Some table has more rows than are here.
    bool isCut() const;
};

ReportDocument makeReport(const RunComparison &comparison, const ReportOptions &options);

/// One line that says what a plot shows, for those who do not see it.
std::string describe(const StepsPlot &plot);
std::string describe(const MetricPlot &plot);
std::string describe(const TensorPlot &plot);

// --- pieces of the report, one file each

ReportTone toneOf(ItemStatus status);
ReportTone toneOf(Outcome outcome);
ReportTone toneOf(StepStatus status);

/// A name or a value of the files. A value beyond `most` bytes is cut, and says so.
ReportCell verbatim(std::string_view text, std::size_t most = std::string_view::npos);
ReportCell plainCell(std::string text, ReportTone tone = {}); ///< our own words
ReportCell numberCell(std::uint64_t number);
/// A word of the JSON document as people read it: "not recorded", "only in A".
std::string wordsOf(std::string_view token);

/// "1 recipe difference: lr 0.1 -> 0.2." Empty where there is none.
std::string recipeDifference(const RunComparison &comparison);
/// The truth table: what is equal and what differs of each class of state.
ReportSection classesSection(const RunComparison &comparison);
/// A recipe that differs is the first suspect.
ReportSection recipeSection(const RunComparison &comparison);
ReportSection valuesSection(const RunComparison &comparison);
ReportSection resumeSection(const RunComparison &comparison);
ReportSection notComparedSection(const RunComparison &comparison);
ReportSection findingsSection(const RunComparison &comparison);
ReportSection reproduceSection(const RunComparison &comparison, const ReportOptions &options);
ReportSection readingSection(const RunComparison &comparison);
/// What differs, item by item, the largest difference first, with plots of the most telling.
ReportSection tensorsSection(const RunComparison &comparison);
/// The causal chain, each rank's first mismatch, what to record next.
ReportSection chainSection(const RunComparison &comparison);
ReportSection metricsSection(const RunComparison &comparison, const ReportEvidence *evidence);

} // namespace forkpoint
