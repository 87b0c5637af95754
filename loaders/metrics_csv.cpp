// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/metrics_csv.h"

#include "loaders/ascii.h"
#include "loaders/line_reader.h"
#include "loaders/metrics_step.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

namespace forkpoint {

namespace {

/// The field that begins at `at`, which moves behind its comma; a quote that never closes takes
/// the rest of the line.
std::string takeField(std::string_view line, std::size_t &at)
{
    if (at >= line.size() || line[at] != '"') {
        const std::size_t end = std::min(line.find(',', at), line.size());
        std::string field(trimmed(line.substr(at, end - at), " \t"));
        at = end + 1;
        return field;
    }
    std::string field;
    for (++at; at < line.size(); ++at) {
        const bool quote = line[at] == '"';
        const bool doubled = quote && at + 1 < line.size() && line[at + 1] == '"';
        if (quote && !doubled)
            break;
        at += doubled ? 1 : 0;
        field += line[at];
    }
    at = std::min(line.find(',', std::min(at, line.size())), line.size()) + 1;
    return field;
}

std::vector<std::string> fieldsOf(std::string_view line)
{
    std::vector<std::string> fields;
    for (std::size_t at = 0; at <= line.size();)
        fields.push_back(takeField(line, at));
    return fields;
}

/// pandas writes an integer column with gaps as floats: "4.0" is a step.
std::optional<std::int64_t> stepIn(std::string_view text)
{
    constexpr double Exact = 9007199254740992.0; // 2^53
    std::int64_t step = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), step);
    if (error == std::errc() && end == text.data() + text.size())
        return step;
    const auto number = parseDecimal(text);
    if (!number || !(std::fabs(number->value) <= Exact)
        || number->value != std::trunc(number->value))
        return std::nullopt;
    return std::int64_t(number->value);
}

std::optional<std::size_t> findStep(const std::vector<std::string> &header)
{
    for (const std::string_view name : StepColumns) {
        const auto found = std::find(header.begin(), header.end(), name);
        if (found != header.end())
            return std::size_t(found - header.begin());
    }
    return std::nullopt;
}

std::string_view withoutByteOrderMark(std::string_view line)
{
    return line.starts_with("\xef\xbb\xbf") ? line.substr(3) : line;
}

class RowReader
{
public:
    RowReader(std::vector<std::string> header, std::size_t step, MetricsTable &table)
        : m_header(std::move(header)),
          m_step(step),
          m_table(table)
    {
    }

    /// False once the table is full.
    bool add(const LineReader::Line &line)
    {
        const auto fields = fieldsOf(line.text);
        const auto step = m_step < fields.size() ? stepIn(fields[m_step]) : std::nullopt;
        // A file cut inside its last number reads as another, shorter number: leave that row out.
        if (!line.ended && fields.size() != m_header.size()) {
            m_table.addGap(Severity::Note, "torn-line", place(line),
                           "the last line is torn and was left out");
            return true;
        }
        if (line.tooLong || fields.size() > m_header.size() || !step) {
            m_table.addBadLine(line.number,
                               line.tooLong ? "is longer than a line may be"
                                            : "does not fit the header row");
            return true;
        }
        return addFields(fields, *step, line);
    }

private:
    static std::string place(const LineReader::Line &line)
    {
        return "line " + std::to_string(line.number);
    }

    bool addFields(const std::vector<std::string> &fields, std::int64_t step,
                   const LineReader::Line &line)
    {
        for (std::size_t i = 0; i < fields.size(); ++i) {
            const bool last = !line.ended && i + 1 == fields.size();
            if (i == m_step || fields[i].empty())
                continue;
            const auto number = parseDecimal(fields[i]);
            if (number && last) {
                m_table.addGap(Severity::Note, "torn-line", place(line),
                               "the file ends without a line break; the last number may be cut");
            }
            if (number && !m_table.addText(m_header[i], step, *number))
                return false;
        }
        return true;
    }

    std::vector<std::string> m_header;
    std::size_t m_step;
    MetricsTable &m_table;
};

} // namespace

Status readCsvMetrics(const ByteSource &source, MetricsTable &table, std::stop_token stop)
{
    LineReader lines(source);
    FP_TRY(const auto first, lines.next());
    const auto header = fieldsOf(first ? withoutByteOrderMark(first->text) : std::string_view());
    const auto step = findStep(header);
    if (!step)
        return Error{ErrorCode::Malformed, source.name(), "line 1", "must name a step column"};
    RowReader rows(header, *step, table);
    for (;;) {
        if (stop.stop_requested())
            return Error{ErrorCode::Cancelled, source.name(), {}, "cancelled"};
        FP_TRY(const auto line, lines.next());
        if (!line)
            return {};
        if (!line->tooLong && trimmed(line->text, " \t").empty())
            continue;
        if (!rows.add(*line))
            return {};
    }
}

bool isCsvMetricsHeader(std::string_view line)
{
    const auto header = fieldsOf(withoutByteOrderMark(line));
    return header.size() >= 2 && findStep(header).has_value();
}

} // namespace forkpoint
