// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/metrics/epoch_grid.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace forkpoint {

namespace {

using Rows = std::vector<std::int64_t>;

constexpr double MostRows = 1e15; ///< counted further, and no float64 would hold it

/// What the numbers may have been. Writers leave out zeros at the end: "2" among "1.833" is 2.000, and
/// "0.5" among "0.58" is 0.50. The longest texts tell, of decimals and of digits the looser.
std::vector<DecimalRange> rangesOf(const std::vector<DecimalText> &epochs)
{
    int digits = 1, lastPlace = 0;
    for (const DecimalText &epoch : epochs) {
        digits = std::max(digits, epoch.significantDigits);
        lastPlace = std::min(lastPlace, int(epoch.printed.exponent));
    }
    std::vector<DecimalRange> ranges;
    for (const DecimalText &epoch : epochs) {
        const DecimalRange text = rangeOf(epoch.printed);
        const double magnitude = epoch.value > 0 ? std::floor(std::log10(epoch.value)) : 0;
        const double half = std::pow(10, std::max(double(lastPlace), magnitude + 1 - digits)) / 2;
        ranges.push_back(
            {std::max(text.low, epoch.value - half), std::min(text.high, epoch.value + half)});
    }
    return ranges;
}

/// The epochs of one row that all of them allow, of rows `shift` later; nothing where there are none.
std::optional<double> unitOf(const std::vector<DecimalRange> &epochs, const Rows &rows,
                             std::int64_t shift)
{
    if (rows.front() + shift < 1)
        return std::nullopt;
    double low = 0, high = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < epochs.size(); ++i) {
        low = std::max(low, epochs[i].low / double(rows[i] + shift));
        high = std::min(high, epochs[i].high / double(rows[i] + shift));
    }
    constexpr double Rounding = 1e-12; // of the divisions here, and of the epochs when computed
    return low <= high * (1 + Rounding) ? std::optional((low + high) / 2) : std::nullopt;
}

/// Rows from 0 on, as far apart as the epochs by the most common spacing; empty where they are not.
Rows spacedRows(const std::vector<DecimalText> &epochs)
{
    std::vector<double> spacings;
    for (std::size_t i = 1; i < epochs.size(); ++i)
        spacings.push_back(epochs[i].value - epochs[i - 1].value);
    const auto middle = spacings.begin() + std::ptrdiff_t(spacings.size() / 2);
    std::nth_element(spacings.begin(), middle, spacings.end());
    const double unit = *middle;
    Rows rows = {0};
    for (std::size_t i = 1; i < epochs.size() && unit > 0; ++i) {
        constexpr double Quarter = 0.25; // what rounding may take from a spacing
        const double spacing = (epochs[i].value - epochs[i - 1].value) / unit;
        const double whole = std::round(spacing);
        if (!(whole >= 1 && whole <= MostRows && std::fabs(spacing - whole) <= Quarter)
            || double(rows.back()) + whole > MostRows)
            return {};
        rows.push_back(rows.back() + std::int64_t(whole));
    }
    return unit > 0 ? rows : Rows();
}

Rows neighbours(std::size_t count)
{
    Rows rows(count);
    for (std::size_t i = 0; i < count; ++i)
        rows[i] = std::int64_t(i);
    return rows;
}

} // namespace

std::optional<EpochGrid> EpochGrid::fit(const std::vector<DecimalText> &epochs)
{
    if (epochs.size() < 2)
        return std::nullopt;
    const double first = epochs.front().value, last = epochs.back().value;
    const std::vector<DecimalRange> ranges = rangesOf(epochs);
    for (Rows rows : {neighbours(epochs.size()), spacedRows(epochs)}) {
        const double before =
            rows.empty() ? 0 : std::round(first / ((last - first) / double(rows.back())));
        if (!(before >= 1 && before + double(rows.back()) <= MostRows))
            continue;
        for (std::int64_t &row : rows)
            row += std::int64_t(before);
        const auto unit = unitOf(ranges, rows, 0);
        // Late rows of a long run are told from their neighbours by many digits alone.
        if (!unit || unitOf(ranges, rows, -1) || unitOf(ranges, rows, 1))
            continue;
        EpochGrid grid;
        grid.m_unit = *unit;
        grid.m_rows = std::move(rows);
        return grid;
    }
    return std::nullopt;
}

std::int64_t EpochGrid::rowAt(double epoch) const
{
    constexpr double Rounding = 0.25; // of the text, in rows
    const double row = std::floor(epoch / m_unit + Rounding);
    return row >= 0 && row <= MostRows ? std::int64_t(row) : 0;
}

std::int64_t EpochGrid::missing() const
{
    return m_rows.back() - m_rows.front() + 1 - std::int64_t(m_rows.size());
}

std::int64_t EpochGrid::firstMissing() const
{
    const auto gap =
        std::adjacent_find(m_rows.begin(), m_rows.end(),
                           [](std::int64_t left, std::int64_t right) { return right != left + 1; });
    return gap == m_rows.end() ? 0 : *gap + 1;
}

} // namespace forkpoint
