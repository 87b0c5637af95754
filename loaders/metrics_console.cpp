// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/metrics_console.h"

#include "loaders/line_reader.h"

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

/// Gives lines without steps their numbers: the lines with a loss count, others belong to the one
/// before. A resumed run begins with an epoch that says how many lines came before, as long as all
/// epochs lie on one grid.
class LineNumbering
{
public:
    explicit LineNumbering(const std::vector<ConsoleLine> &lines)
    {
        std::vector<DecimalText> epochs;
        for (const ConsoleLine &line : lines) {
            const DecimalText *epoch = numberOf(line, "epoch");
            if (!isCounted(line))
                continue;
            ++m_counted;
            if (epoch)
                epochs.push_back(*epoch);
        }
        if (epochs.size() == m_counted && m_counted > 1)
            m_before = linesBefore(epochs);
    }

    static bool isCounted(const ConsoleLine &line) { return numberOf(line, "loss") != nullptr; }
    /// Lines before the first; nothing where the epochs do not tell.
    std::optional<std::int64_t> before() const { return m_before; }

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
        return index >= 1 ? std::optional(std::int64_t(index) - 1) : std::nullopt;
    }

    std::size_t m_counted = 0;
    std::optional<std::int64_t> m_before;
};

/// False once the table is full.
bool addAt(std::int64_t step, const ConsoleLine &line, MetricsTable &table)
{
    return std::all_of(line.numbers.begin(), line.numbers.end(), [&](const auto &number) {
        return table.addText(number.first, step, number.second);
    });
}

void addUnnumbered(const std::vector<ConsoleLine> &lines, MetricsTable &table)
{
    if (lines.empty())
        return;
    const LineNumbering numbering(lines);
    std::int64_t step = numbering.before().value_or(0);
    if (numbering.before())
        table.addNote("no-steps", {},
                      "prints no steps; its lines are counted, from " + std::to_string(step + 1)
                          + " by their epochs");
    else
        table.addGap(Severity::Warning, "no-steps", {},
                     "prints no steps, and its epochs do not tell them; its lines are counted "
                     "from 1, so that another log may not be aligned with it");
    for (const ConsoleLine &line : lines) {
        step += LineNumbering::isCounted(line) ? 1 : 0;
        if (!addAt(step, line, table))
            return;
    }
}

} // namespace

Status readConsoleMetrics(const ByteSource &source, MetricsTable &table, std::stop_token stop)
{
    constexpr std::size_t MostUnnumbered = 1'000'000;
    std::vector<ConsoleLine> unnumbered;
    LineReader lines(source);
    for (;;) {
        if (stop.stop_requested())
            return Error{ErrorCode::Cancelled, source.name(), {}, "cancelled"};
        FP_TRY(const auto line, lines.next());
        if (!line)
            break;
        if (line->tooLong) {
            table.addBadLine(line->number, "is longer than a line may be");
            continue;
        }
        auto parsed = parseConsoleLine(line->text);
        if (!parsed)
            continue;
        if (!line->ended) {
            table.addGap(Severity::Note, "torn-line", "line " + std::to_string(line->number),
                         "the file ends without a line break; its last line was left out");
            break;
        }
        if (parsed->step && !addAt(*parsed->step, *parsed, table))
            break;
        if (!parsed->step && unnumbered.size() < MostUnnumbered)
            unnumbered.push_back(std::move(*parsed));
    }
    addUnnumbered(unnumbered, table);
    return {};
}

bool isConsoleMetrics(const ByteSource &source, std::uint64_t bytes)
{
    LineReader lines(source);
    std::uint64_t looked = 0;
    while (looked < bytes) {
        const auto line = lines.next();
        if (!line.ok() || !*line)
            return false;
        looked += (*line)->text.size() + 1 + ((*line)->tooLong ? limits::MetricsLineBytes : 0);
        if ((*line)->text.find('\0') != std::string_view::npos)
            return false;
        if (parseConsoleLine((*line)->text))
            return true;
    }
    return false;
}

} // namespace forkpoint
