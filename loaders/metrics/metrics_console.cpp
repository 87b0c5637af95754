// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/metrics/metrics_console.h"

#include "loaders/metrics/metrics_lines.h"

#include <algorithm>
#include <cmath>

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

/// Says which numbers lines without steps have: those with a loss count, others belong to the one
/// before. A resumed run begins with an epoch that says how many lines came before, as long as all
/// epochs lie on one grid.
class LineNumbering
{
public:
    void add(const ConsoleLine &line)
    {
        m_any = true;
        if (!isCounted(line))
            return;
        ++m_counted;
        const DecimalText *epoch = numberOf(line, "epoch");
        if (epoch && m_epochs.size() < MostEpochs)
            m_epochs.push_back(*epoch);
    }

    static bool isCounted(const ConsoleLine &line) { return numberOf(line, "loss") != nullptr; }
    bool any() const { return m_any; }
    /// Lines before the first; nothing where the epochs do not tell.
    std::optional<std::int64_t> before() const
    {
        return m_epochs.size() == m_counted && m_counted > 1 ? linesBefore(m_epochs) : std::nullopt;
    }

private:
    static std::optional<std::int64_t> linesBefore(const std::vector<DecimalText> &epochs)
    {
        const double first = epochs.front().value, last = epochs.back().value;
        const double width = (last - first) / double(epochs.size() - 1);
        if (!(width > 0))
            return std::nullopt;
        const double index = std::round(first / width);
        // The grid that fits best has the last epoch at index + n - 1 of equal widths.
        const double unit = last / (index + double(epochs.size()) - 1);
        for (std::size_t i = 0; i < epochs.size(); ++i) {
            const DecimalRange range = rangeOf(epochs[i].printed);
            const double expected = unit * (index + double(i));
            const double slack = unit * 0.02 + (range.high - range.low) * 0.5;
            if (expected < range.low - slack || expected > range.high + slack)
                return std::nullopt;
        }
        constexpr double Most = 1e15; // counted further, and no float64 would hold it
        return index >= 1 && index <= Most ? std::optional(std::int64_t(index) - 1) : std::nullopt;
    }

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

/// Second reading of a log whose lines have no steps: they are counted.
Status addUnnumbered(const ByteSource &source, const LineNumbering &numbering, MetricsTable &table,
                     const std::stop_token &stop)
{
    std::int64_t step = numbering.before().value_or(0);
    if (numbering.before())
        table.addNote("no-steps", {},
                      "prints no steps; its lines are counted, from " + std::to_string(step + 1)
                          + " by their epochs");
    else
        table.addGap(Severity::Warning, "no-steps", {},
                     "prints no steps, and its epochs do not tell them; its lines are counted "
                     "from 1, so that another log may not be aligned with it");
    LineReader lines(source, limits::MetricsLineBytes, stop);
    for (;;) {
        FP_TRY(const auto line, lines.next());
        if (!line)
            return {};
        const auto parsed = line->ended ? parseConsoleLine(line->text) : std::nullopt;
        if (!parsed || parsed->step)
            continue;
        step += LineNumbering::isCounted(*parsed) ? 1 : 0;
        if (!addAt(step, *parsed, table))
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
    return numbering.any() ? addUnnumbered(source, numbering, table, stop) : Status();
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
