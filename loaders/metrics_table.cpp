// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/metrics_table.h"

#include "model/key_path.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace forkpoint {

namespace {

/// Names of metrics in one file; real loggers write below a thousand.
constexpr std::size_t MaxMetrics = 10'000;

/// Decimals that are all binary fractions by chance: 5^-12 is one in 2 x 10^8.
constexpr int EnoughDecimals = 12;

bool sameBits(double a, double b)
{
    return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

bool byStep(const MetricPoint &left, const MetricPoint &right)
{
    return left.step < right.step;
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

void MetricsTable::append(Column &column, std::int64_t step, double value)
{
    column.constant =
        column.constant && (column.points.empty() || sameBits(column.points[0].value, value));
    column.points.push_back({step, value});
    ++m_count;
}

bool MetricsTable::add(std::string_view metric, std::int64_t step, double value)
{
    Column *column = columnFor(metric);
    if (column)
        append(*column, step, value);
    return column != nullptr;
}

bool MetricsTable::addFloat32(std::string_view metric, std::int64_t step, float value)
{
    Column *column = columnFor(metric);
    if (!column)
        return false;
    column->float32 = true;
    append(*column, step, double(value));
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
    column->full |= number.significantDigits >= PrintedDecimal::FullDigits && !number.wholeNumber;
    const bool whole = number.wholeNumber || number.printed.exact;
    column->whole &= whole;
    column->dyadic &= whole || number.dyadic;
    if (changed && column->dyadicDecimals < EnoughDecimals && number.printed.exponent < 0)
        column->dyadicDecimals -= number.printed.exponent;
    m_anyFull |= column->full;
    column->printed.push_back(number.printed);
    append(*column, step, number.value);
    return true;
}

void MetricsTable::dropFrom(Column &column, std::int64_t step)
{
    std::size_t kept = 0;
    for (std::size_t i = 0; i < column.points.size(); ++i) {
        const MetricPoint point = column.points[i];
        if (point.step >= step) {
            column.superseded.push_back(point);
            continue;
        }
        if (!column.printed.empty())
            column.printed[kept] = column.printed[i];
        column.points[kept++] = point;
    }
    m_superseded += column.points.size() - kept;
    column.points.resize(kept);
    if (!column.printed.empty())
        column.printed.resize(kept);
}

void MetricsTable::supersede(std::string_view metric, std::int64_t step)
{
    const auto found = m_columns.find(metric);
    if (found != m_columns.end())
        dropFrom(found->second, step);
}

void MetricsTable::supersedeAll(std::int64_t step)
{
    for (auto &[name, column] : m_columns)
        dropFrom(column, step);
}

std::optional<std::int64_t> MetricsTable::lastStep(std::string_view metric) const
{
    const auto found = m_columns.find(metric);
    if (found == m_columns.end() || found->second.points.empty())
        return std::nullopt;
    const auto &points = found->second.points;
    return std::max_element(points.begin(), points.end(), byStep)->step;
}

void MetricsTable::addBadLine(std::uint64_t line, std::string why)
{
    if (m_badLines++ > 0)
        return;
    m_firstBadLine = line;
    m_firstBadReason = std::move(why);
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

bool MetricsTable::bitsKnown(const Column &column) const
{
    const bool isBinary = column.dyadic && column.dyadicDecimals >= EnoughDecimals;
    return !column.text || column.full || column.whole || isBinary
        || (column.constant && m_anyFull);
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
            ++m_repeated;
            sorted.pop_back();
            printed.resize(std::min(printed.size(), sorted.size()));
        }
        sorted.push_back(points[i]);
        if (!column.printed.empty())
            printed.push_back(column.printed[i]);
    }
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

std::vector<MetricSeries> MetricsTable::takeSeries()
{
    std::vector<MetricSeries> result;
    for (auto &[name, column] : m_columns) {
        sortPoints(name, column);
        compareAttempts(name, column);
        if (column.points.empty())
            continue;
        const bool known = bitsKnown(column);
        result.push_back({escapeInvalidUtf8(name), m_file, known, std::move(column.points),
                          column.float32,
                          known ? std::vector<PrintedDecimal>() : std::move(column.printed)});
    }
    m_columns.clear();
    return result;
}

Diagnostics MetricsTable::takeDiagnostics()
{
    if (m_badLines > 0) {
        const std::string others = m_badLines == 1
            ? std::string()
            : ", and " + std::to_string(m_badLines - 1) + " more such lines";
        m_notes.push_back({Severity::Warning, "bad-line", m_file,
                           "line " + std::to_string(m_firstBadLine), m_firstBadReason + others});
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

} // namespace forkpoint
