// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/metrics/metrics_table.h"

#include "loaders/metrics/metrics_row.h"
#include "model/key_path.h"
#include "model/metrics/metric_kind.h"
#include "model/same_bits.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace forkpoint {

namespace {

/// Names of metrics in one file; real loggers write below a thousand.
constexpr std::size_t MaxMetrics = 10'000;

/// Decimals that are all binary fractions by chance: 5^-12 is one in 2 x 10^8.
constexpr int EnoughDecimals = 12;

/// Names of one kind of what is left out that are told apart.
constexpr std::size_t MostLeftOut = 1000;

/// Significant digits by which every float64 is told from all others.
constexpr int DigitsOfEveryFloat64 = 17;

/// Zeros at the end that no shortest text has ("1.000", "2.50E+00"): a format of fixed digits, which
/// rounds, printed it.
bool isPadded(const DecimalText &number)
{
    const PrintedDecimal &printed = number.printed;
    return printed.exponent < -1 && printed.mantissa % 10 == 0 && !printed.exact
        && number.significantDigits < DigitsOfEveryFloat64;
}

bool byStep(const MetricPoint &left, const MetricPoint &right)
{
    return left.step < right.step;
}

/// Of every point the place among those of its step that it follows at once, from 1; nothing where
/// that is so in one step at most.
std::vector<std::size_t> rowsWithin(const std::vector<MetricPoint> &points)
{
    std::vector<std::size_t> rows(points.size(), 1);
    std::set<std::int64_t> repeated;
    for (std::size_t i = 1; i < points.size(); ++i) {
        if (points[i].step != points[i - 1].step)
            continue;
        rows[i] = rows[i - 1] + 1;
        if (repeated.size() < 2)
            repeated.insert(points[i].step);
    }
    return repeated.size() < 2 ? std::vector<std::size_t>() : rows;
}

/// Steps without a number, each once.
template <class Blanks>
std::vector<std::int64_t> unanswered(const Blanks &blanks, const std::vector<MetricPoint> &points)
{
    std::set<std::int64_t> steps;
    for (const auto &blank : blanks) {
        const MetricPoint sought{blank.step, 0};
        if (!std::binary_search(points.begin(), points.end(), sought, byStep))
            steps.insert(blank.step);
    }
    return {steps.begin(), steps.end()};
}

std::vector<std::int64_t> windowsOf(const std::map<std::int64_t, std::int64_t> &byStep,
                                    const std::vector<MetricPoint> &points)
{
    std::vector<std::int64_t> windows;
    for (const MetricPoint &point : points) {
        const auto found = byStep.find(point.step);
        if (!byStep.empty())
            windows.push_back(found == byStep.end() ? 0 : found->second);
    }
    return windows;
}

} // namespace

MetricsTable::Column *MetricsTable::columnFor(std::string_view metric)
{
    auto found = m_columns.find(metric);
    const bool isNew = found == m_columns.end();
    if (m_count == m_maxPoints || (isNew && m_columns.size() == MaxMetrics)) {
        m_full = true;
        return nullptr;
    }
    if (isNew)
        found = m_columns.emplace(metric, Column()).first;
    return &found->second;
}

void MetricsTable::append(Column &column, std::int64_t step, double value,
                          const PrintedDecimal *printed)
{
    const PrintedDecimal noInterval{0, 0, false, true, false};
    if (printed)
        column.printed.resize(column.points.size(), noInterval);
    if (printed || !column.printed.empty())
        column.printed.push_back(printed ? *printed : noInterval);
    const std::size_t before = column.attempts.empty() ? 0 : column.attempts.back().restarts;
    if (before != m_restarts.size())
        column.attempts.push_back({column.points.size(), m_restarts.size()});
    column.constant =
        column.constant && (column.points.empty() || sameBits(column.points[0].value, value));
    column.points.push_back({step, value});
    if (!m_labels.empty())
        column.labels.push_back(m_label);
    ++m_count;
}

bool MetricsTable::add(std::string_view metric, std::int64_t step, double value)
{
    Column *column = columnFor(metric);
    if (!column)
        return false;
    column->integers = false;
    append(*column, step, value, nullptr);
    return true;
}

bool MetricsTable::addFloat32(std::string_view metric, std::int64_t step, float value)
{
    Column *column = columnFor(metric);
    if (!column)
        return false;
    column->float32 = true;
    column->integers = false;
    append(*column, step, double(value), nullptr);
    return true;
}

bool MetricsTable::addText(std::string_view metric, std::int64_t step, const DecimalText &number)
{
    Column *column = columnFor(metric);
    if (!column)
        return false;
    const bool changed =
        column->points.empty() || !sameBits(column->points.back().value, number.value);
    column->text = true;
    column->full |= number.significantDigits >= PrintedDecimal::FullDigits && !number.wholeNumber
        && !number.lossy;
    column->wide |= number.wholeNumber && number.significantDigits > PrintedDecimal::FullDigits;
    column->lossy |= number.lossy;
    column->integers &= (number.wholeNumber || number.lossy) && !number.printed.cut;
    const bool whole = number.wholeNumber || number.printed.exact;
    column->whole &= whole;
    column->dyadic &= whole || number.dyadic;
    column->padded |= isPadded(number);
    if (changed && column->dyadicDecimals < EnoughDecimals && number.printed.exponent < 0)
        column->dyadicDecimals -= number.printed.exponent;
    m_anyFull |= column->full && !column->padded;
    append(*column, step, number.value, &number.printed);
    return true;
}

bool MetricsTable::addMean(std::string_view metric, std::int64_t step, const DecimalText &number,
                           std::int64_t window)
{
    if (!addText(metric, step, number))
        return false;
    m_columns.find(metric)->second.windows[step] = window;
    return true;
}

void MetricsTable::forgetWindow(std::string_view metric, std::int64_t step)
{
    const auto found = m_columns.find(metric);
    if (found != m_columns.end())
        found->second.windows[step] = 0;
}

bool MetricsTable::addOfStep(std::string_view metric, std::int64_t step, const DecimalText &number)
{
    const auto found = m_columns.find(metric);
    const bool isKnown = found != m_columns.end() && !found->second.points.empty()
        && found->second.points.back().step == step
        && sameBits(found->second.points.back().value, number.value);
    return isKnown || addText(metric, step, number);
}

bool MetricsTable::addBlank(std::string_view metric, std::int64_t step)
{
    Column *column = columnFor(metric);
    if (!column)
        return false;
    column->blanks.push_back({step, m_label});
    ++m_count;
    return true;
}

void MetricsTable::beginRow(std::int64_t step, std::string_view label)
{
    auto found = m_labels.find(label);
    if (found == m_labels.end() && m_labels.size() < MaxMetrics)
        found = m_labels.emplace(label, std::uint32_t(m_labels.size())).first;
    m_full |= found == m_labels.end();
    const std::uint32_t before =
        std::exchange(m_label, found == m_labels.end() ? 0 : found->second);
    m_severalLabels |= std::exchange(m_stepOfRow, step) == step && before != m_label;
    if (label.empty() || m_labelOfStep.size() >= m_maxPoints)
        return;
    const auto known = m_labelOfStep.emplace(step, m_label).first;
    m_severalLabels |= known->second != m_label;
}

void MetricsTable::leaveOutDigest(std::string_view name, std::string_view digest)
{
    const auto found = m_digests.find(name);
    if (found != m_digests.end() && found->second != digest)
        leaveOut("digests, as a trace does (a mapping sheet can read it as one)", name);
    else if (found == m_digests.end() && m_digests.size() < MostLeftOut)
        m_digests.emplace(name, digest);
}

void MetricsTable::supersede(std::string_view metric, std::int64_t step)
{
    const auto found = m_columns.find(metric);
    if (found != m_columns.end())
        found->second.restarts.push_back({found->second.points.size(), step});
}

void MetricsTable::supersedeAll(std::int64_t step)
{
    m_restarts.push_back(step);
}

/// Of the restarts from the n-th on the one that went back furthest; of none nothing.
std::vector<MetricsTable::LowestStep> MetricsTable::lowestRestarts() const
{
    std::vector<LowestStep> lowest(m_restarts.size() + 1);
    for (std::size_t i = m_restarts.size(); i-- > 0;)
        lowest[i] = std::min(m_restarts[i], lowest[i + 1].value_or(m_restarts[i]));
    return lowest;
}

/// From the last point to the first, so that a file of many restarts takes time in line with its size.
void MetricsTable::dropSuperseded(Column &column, const std::vector<LowestStep> &lowest)
{
    if (column.restarts.empty() && m_restarts.empty())
        return;
    std::vector<bool> superseded(column.points.size());
    auto restart = column.restarts.rbegin();
    auto attempt = column.attempts.rbegin();
    LowestStep own;
    for (std::size_t i = column.points.size(); i-- > 0;) {
        for (; restart != column.restarts.rend() && restart->index > i; ++restart)
            own = std::min(restart->step, own.value_or(restart->step));
        while (attempt != column.attempts.rend() && attempt->index > i)
            ++attempt;
        const auto &all = lowest[attempt == column.attempts.rend() ? 0 : attempt->restarts];
        const std::int64_t step = column.points[i].step;
        superseded[i] = (own && step >= *own) || (all && step >= *all);
    }
    std::size_t kept = 0;
    for (std::size_t i = 0; i < column.points.size(); ++i) {
        if (superseded[i]) {
            column.superseded.push_back(column.points[i]);
            continue;
        }
        if (!column.printed.empty())
            column.printed[kept] = column.printed[i];
        column.points[kept++] = column.points[i];
    }
    m_superseded += column.superseded.size();
    column.points.resize(kept);
    column.printed.resize(std::min(kept, column.printed.size()));
}

void MetricsTable::addBadLine(std::uint64_t line, std::string_view why, std::string_view part)
{
    if (m_badLines++ > 0)
        return;
    m_firstBadPlace = placeOfLine(line, part);
    m_firstBadReason = why;
}

void MetricsTable::leaveOut(std::string_view kind, std::string_view name, LeftOut how)
{
    constexpr std::size_t MostKinds = 16, MostNameBytes = 256;
    m_complete = m_complete && how != LeftOut::Gap;
    auto found = m_leftOut.find(kind);
    if (found == m_leftOut.end())
        found =
            m_leftOut.emplace(m_leftOut.size() < MostKinds ? kind : "data of other kinds", Names())
                .first;
    Names &names = found->second;
    names.how = std::min(names.how, how);
    if (names.names.size() < MostLeftOut)
        names.names.insert(escapeInvalidUtf8(name.substr(0, MostNameBytes)));
}

void MetricsTable::describeLeftOut()
{
    for (const auto &[kind, names] : m_leftOut) {
        const std::size_t count = names.names.size();
        const std::string text = "holds " + kind + ", not compared, under "
            + (count == MostLeftOut ? "at least " : "") + std::to_string(count)
            + (count == 1 ? " name: " : " names: ") + *names.names.begin()
            + (count > 1 ? " and others" : "");
        addNote("not-read", {}, text);
    }
}

void MetricsTable::addNote(std::string code, std::string place, std::string text)
{
    m_notes.push_back({Severity::Note, std::move(code), m_file, std::move(place), std::move(text)});
}

void MetricsTable::addGap(Severity severity, std::string code, std::string place, std::string text)
{
    m_complete = false;
    m_notes.push_back({severity, std::move(code), m_file, std::move(place), std::move(text)});
}

bool MetricsTable::bitsKnown(std::string_view name, const Column &column) const
{
    // A rate is a constant of the settings; a loss that does not change was logged once, or rounded.
    const bool isSetting = column.constant && stageOfMetric(name) != "loss";
    const bool isBinary = column.dyadic && column.dyadicDecimals >= EnoughDecimals;
    const bool unrounded = column.full || column.whole || isBinary || (isSetting && m_anyFull);
    return !column.text || column.integers || (unrounded && !column.lossy && !column.padded);
}

void MetricsTable::repeats(const std::string &name, const MetricPoint &old, const MetricPoint &kept)
{
    const std::pair found{old.step, name};
    if (!sameBits(old.value, kept.value) && (!m_attemptsDiffer || found < *m_attemptsDiffer))
        m_attemptsDiffer = found;
}

void MetricsTable::sortPoints(const std::string &name, Column &column)
{
    auto &points = column.points;
    const bool rising = std::adjacent_find(points.begin(), points.end(),
                                           [](const MetricPoint &left, const MetricPoint &right) {
                                               return left.step >= right.step;
                                           })
        == points.end();
    if (rising)
        return;
    std::vector<std::size_t> order(points.size());
    std::iota(order.begin(), order.end(), std::size_t(0));
    std::stable_sort(order.begin(), order.end(), [&](std::size_t left, std::size_t right) {
        return points[left].step < points[right].step;
    });
    std::vector<MetricPoint> sorted;
    std::vector<PrintedDecimal> printed;
    for (const std::size_t i : order) {
        if (!sorted.empty() && sorted.back().step == points[i].step) {
            repeats(name, sorted.back(), points[i]);
            ++column.repeated;
            sorted.pop_back();
            printed.resize(std::min(printed.size(), sorted.size()));
        }
        sorted.push_back(points[i]);
        if (!column.printed.empty())
            printed.push_back(column.printed[i]);
    }
    m_repeated += column.repeated;
    points = std::move(sorted);
    column.printed = std::move(printed);
}

void MetricsTable::compareAttempts(const std::string &name, const Column &column)
{
    for (const MetricPoint &old : column.superseded) {
        const auto kept = std::lower_bound(column.points.begin(), column.points.end(), old, byStep);
        if (kept != column.points.end() && kept->step == old.step)
            repeats(name, old, *kept);
    }
}

/// Every point of a column into the column of a name: nameOf(its place), and blanks by their label.
template <class NameOf>
void MetricsTable::distribute(Column column, Columns &into, NameOf nameOf)
{
    const auto points = std::exchange(column.points, {});
    const auto printed = std::exchange(column.printed, {});
    const auto labels = std::exchange(column.labels, {});
    const auto blanks = std::exchange(column.blanks, {});
    for (std::size_t i = 0; i < points.size(); ++i) {
        Column &to = into.try_emplace(nameOf(i, labels[i]), column).first->second;
        to.points.push_back(points[i]);
        to.labels.push_back(labels[i]);
        if (!printed.empty())
            to.printed.push_back(printed[i]);
    }
    for (const Blank &blank : blanks)
        into.try_emplace(nameOf(points.size(), blank.label), column)
            .first->second.blanks.push_back(blank);
}

/// Numbers that are in the names of the others then go.
void MetricsTable::separateLabels()
{
    if (!m_severalLabels)
        return;
    std::vector<std::string_view> texts(m_labels.size());
    for (const auto &[text, label] : m_labels)
        texts[label] = text;
    Columns separated;
    for (auto &entry : m_columns) {
        const std::string &name = entry.first;
        if (RowLabel::isNumber(name))
            continue;
        distribute(std::move(entry.second), separated, [&](std::size_t, std::uint32_t label) {
            return name + std::string(texts[label]);
        });
    }
    m_columns = std::move(separated);
}

void MetricsTable::separateRows()
{
    Columns separated;
    std::string first;
    for (auto &entry : m_columns) {
        const std::string &name = entry.first;
        Column &column = entry.second;
        const std::vector<std::size_t> rows = rowsWithin(column.points);
        if (column.labels.empty() || rows.empty()) {
            separated.emplace(name, std::move(column));
            continue;
        }
        if (first.empty())
            first = name;
        distribute(std::move(column), separated, [&](std::size_t i, std::uint32_t) {
            const std::size_t row = i < rows.size() ? rows[i] : 1;
            return row == 1 ? name : name + " [row " + std::to_string(row) + ']';
        });
    }
    m_columns = std::move(separated);
    if (!first.empty())
        addNote(
            "several-rows", {},
            "has several rows of one step, and nothing that tells them apart (first of "
                + escapeInvalidUtf8(first)
                + "); they are compared one by one in the order of the file, as NAME, NAME [row "
                  "2] and so on");
}

std::vector<MetricSeries> MetricsTable::takeSeries()
{
    separateLabels();
    separateRows();
    std::vector<MetricSeries> result;
    const std::vector<LowestStep> lowest = lowestRestarts();
    for (auto &[name, column] : m_columns) {
        dropSuperseded(column, lowest);
        sortPoints(name, column);
        compareAttempts(name, column);
        if (column.points.empty())
            continue;
        const bool known = bitsKnown(name, column);
        std::vector<std::int64_t> blanks = unanswered(column.blanks, column.points);
        std::vector<std::int64_t> windows = windowsOf(column.windows, column.points);
        const bool textsTellMore = !known || column.wide || column.lossy;
        result.push_back({escapeInvalidUtf8(name), m_file, known, std::move(column.points),
                          column.float32, column.integers, column.integers && column.lossy,
                          textsTellMore ? std::move(column.printed) : std::vector<PrintedDecimal>(),
                          column.superseded.size() + column.repeated, std::move(blanks), m_steps,
                          std::move(windows)});
    }
    m_columns.clear();
    return result;
}

Diagnostics MetricsTable::takeDiagnostics()
{
    describeLeftOut();
    if (m_badLines > 0) {
        const std::string others = m_badLines == 1
            ? std::string()
            : ", and " + std::to_string(m_badLines - 1) + " more such lines";
        m_notes.push_back(
            {Severity::Warning, "bad-line", m_file, m_firstBadPlace, m_firstBadReason + others});
    }
    const std::string attempts = m_attemptsDiffer
        ? "; the attempts first differ at step " + std::to_string(m_attemptsDiffer->first) + " ("
            + escapeInvalidUtf8(m_attemptsDiffer->second) + ")"
        : "; where both attempts have a number, it is the same";
    if (m_repeated > 0) {
        addNote("repeated-step", {},
                "repeats steps; the later line counts, " + std::to_string(m_repeated)
                    + " earlier points do not" + attempts);
    }
    if (m_superseded > 0) {
        addNote("restarted", {},
                "went on from an earlier step after a restart; " + std::to_string(m_superseded)
                    + " points of the attempt before do not count" + attempts);
    }
    if (m_full) {
        m_notes.push_back({Severity::Warning,
                           std::string(toString(ErrorCode::Limit)),
                           m_file,
                           {},
                           "may hold at most " + std::to_string(m_maxPoints) + " points of "
                               + std::to_string(MaxMetrics) + " metrics, the rest was not read"});
    }
    return std::move(m_notes);
}

std::string placeOfLine(std::uint64_t line, std::string_view part)
{
    return (part.empty() ? std::string() : std::string(part) + " ") + "line "
        + std::to_string(line);
}

} // namespace forkpoint
