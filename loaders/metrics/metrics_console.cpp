// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/metrics/metrics_console.h"

#include "loaders/metrics/epoch_grid.h"
#include "loaders/metrics/metrics_lines.h"
#include "model/format.h"

#include <algorithm>

namespace forkpoint {

namespace {

const DecimalText *numberOf(const ConsoleLine &line, std::string_view name)
{
    for (const auto &[key, number] : line.numbers) {
        if (key == name)
            return &number;
    }
    return nullptr;
}

constexpr std::string_view Epoch = "epoch";

/// Says which numbers lines without steps have: those with a loss count, others belong to the one
/// before, or stand where their epoch does.
class LineNumbering
{
public:
    void add(const ConsoleLine &line)
    {
        m_any = true;
        if (!isCounted(line))
            return;
        ++m_counted;
        const DecimalText *epoch = numberOf(line, Epoch);
        if (epoch && m_epochs.size() < MostEpochs)
            m_epochs.push_back(*epoch);
    }

    static bool isCounted(const ConsoleLine &line) { return numberOf(line, "loss") != nullptr; }
    bool any() const { return m_any; }
    /// Nothing where the epochs do not tell.
    std::optional<EpochGrid> grid() const
    {
        return m_epochs.size() == m_counted ? EpochGrid::fit(m_epochs) : std::nullopt;
    }

private:
    /// A longer log is counted from 1, which is told.
    static constexpr std::size_t MostEpochs = 1'000'000;

    bool m_any = false;
    std::size_t m_counted = 0;
    std::vector<DecimalText> m_epochs;
};

/// False once the table is full.
bool addAt(std::int64_t step, const ConsoleLine &line, MetricsTable &table)
{
    return std::all_of(line.numbers.begin(), line.numbers.end(), [&](const auto &number) {
        return table.addText(number.first, step, number.second);
    });
}

void tellNumbering(const std::optional<EpochGrid> &grid, MetricsTable &table)
{
    if (!grid) {
        table.addGap(Severity::Warning, "no-steps", {},
                     "prints no steps, and its epochs do not tell them; its lines are counted "
                     "from 1, so that another log may not be aligned with it");
        return;
    }
    std::string text = "prints no steps; its lines are counted, from "
        + std::to_string(grid->rowOf(0)) + " by their epochs";
    if (grid->missing() > 0)
        text += ", which show " + counted(std::uint64_t(grid->missing()), "row", "rows")
            + " missing, first row " + std::to_string(grid->firstMissing());
    table.addNote("no-steps", {}, text);
}

/// The lines of a log without steps, one after the other, with the rows that they are.
class UnnumberedLines
{
public:
    UnnumberedLines(std::optional<EpochGrid> grid, MetricsTable &table)
        : m_grid(std::move(grid)),
          m_table(table)
    {
        using enum MetricSeries::Steps;
        m_table.setSteps(m_grid ? ByEpoch : Counted);
        tellNumbering(m_grid, m_table);
    }

    /// False once the table is full.
    bool add(ConsoleLine line)
    {
        if (LineNumbering::isCounted(line)) {
            m_row = m_grid ? m_grid->rowOf(m_counted) : m_row + 1;
            ++m_counted;
            return addAt(m_row, line, m_table);
        }
        const DecimalText *epoch = numberOf(line, Epoch);
        const std::int64_t row = m_grid && epoch ? m_grid->rowAt(epoch->value) : m_row;
        // A row's epoch is its own: an evaluation may come later.
        if (m_counted > 0)
            std::erase_if(line.numbers, [](const auto &number) { return number.first == Epoch; });
        return addAt(row, line, m_table);
    }

private:
    std::optional<EpochGrid> m_grid;
    MetricsTable &m_table;
    std::int64_t m_row = 0;
    std::size_t m_counted = 0;
};

/// Second reading of a log whose lines have no steps.
Status addUnnumbered(const ByteSource &source, UnnumberedLines numbered,
                     const std::stop_token &stop)
{
    LineReader lines(source, limits::MetricsLineBytes, stop);
    for (;;) {
        FP_TRY(const auto line, lines.next());
        if (!line)
            return {};
        auto parsed = line->ended ? parseConsoleLine(line->text) : std::nullopt;
        if (parsed && !parsed->step && !numbered.add(*std::move(parsed)))
            return {};
    }
}

} // namespace

Status readConsoleMetrics(const ByteSource &source, MetricsTable &table, std::stop_token stop)
{
    LineNumbering numbering;
    const auto take = [&](const LineReader::Line &line) -> LineUse {
        const auto parsed = parseConsoleLine(line.text);
        if (!parsed)
            return {};
        if (!line.ended)
            return {LineUse::Kind::Torn};
        if (!parsed->step)
            numbering.add(*parsed);
        else if (!addAt(*parsed->step, *parsed, table))
            return {LineUse::Kind::Full};
        return {};
    };
    FP_CHECK(forEachLine(source, table, stop, take));
    if (!numbering.any())
        return {};
    return addUnnumbered(source, UnnumberedLines(numbering.grid(), table), stop);
}

bool isConsoleMetrics(const ByteSource &source, std::uint64_t bytes)
{
    // A line that begins before `bytes` is read to its end.
    LineReader lines(source, limits::MetricsLineBytes, {}, bytes + limits::MetricsLineBytes);
    for (;;) {
        const auto line = lines.next();
        if (!line.ok() || !*line || (*line)->byte >= bytes
            || (*line)->text.find('\0') != std::string_view::npos)
            return false;
        if (parseConsoleLine((*line)->text))
            return true;
    }
}

} // namespace forkpoint
