// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/metrics/metrics_csv.h"

#include "loaders/metrics/metrics_lines.h"
#include "loaders/metrics/metrics_row.h"
#include "loaders/metrics/metrics_step.h"
#include "loaders/text/ascii.h"

#include <algorithm>
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

/// "True" as Python writes it and "true" as others do, as a digit.
std::optional<std::string> truthIn(std::string_view text)
{
    if (text == "True" || text == "true" || text == "TRUE")
        return "1";
    if (text == "False" || text == "false" || text == "FALSE")
        return "0";
    return std::nullopt;
}

std::optional<std::size_t> findStep(const std::vector<std::string> &header)
{
    std::optional<std::size_t> best, found;
    for (std::size_t i = 0; i < header.size(); ++i) {
        const auto preference = stepPreference(header[i]);
        if (preference && (!best || *preference < *best)) {
            best = preference;
            found = i;
        }
    }
    return found;
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

    LineUse add(const LineReader::Line &line)
    {
        auto fields = fieldsOf(line.text);
        if (!line.ended && fields.size() != m_header.size())
            return {LineUse::Kind::Torn};
        // A cell that was cut reads as another, shorter number; a closing quote says it was not.
        const bool cut = !line.ended && !line.text.ends_with('"');
        if (cut && m_step + 1 == m_header.size())
            return {LineUse::Kind::Torn};
        const auto step = m_step < fields.size() ? wholeStep(fields[m_step]) : std::nullopt;
        if (fields.size() > m_header.size() || !step)
            return {LineUse::Kind::Bad, "does not fit the header row"};
        if (cut) {
            fields.pop_back();
            m_table.addGap(Severity::Note, "torn-line", placeOfLine(line.number),
                           "the file ends without a line break; its last cell may be cut and was "
                           "left out");
        }
        return {addFields(fields, *step) ? LineUse::Kind::Taken : LineUse::Kind::Full};
    }

private:
    /// False once the table is full.
    bool addFields(const std::vector<std::string> &fields, std::int64_t step)
    {
        m_table.beginRow(step, labelOf(fields));
        for (std::size_t i = 0; i < fields.size(); ++i) {
            if (i != m_step && !addField(m_header[i], fields[i], step))
                return false;
        }
        return true;
    }

    std::string labelOf(const std::vector<std::string> &fields) const
    {
        RowLabel label;
        for (std::size_t i = 0; i < fields.size(); ++i) {
            if (const auto number = wholeStep(fields[i]); number && RowLabel::isNumber(m_header[i]))
                label.add(m_header[i], std::to_string(*number));
            else if (!number && RowLabel::isText(m_header[i], fields[i]))
                label.add(m_header[i], fields[i]);
        }
        return label.text();
    }

    /// False once the table is full.
    bool addField(const std::string &name, const std::string &field, std::int64_t step)
    {
        if (field.empty())
            return m_table.addBlank(name, step);
        if (const auto number = parseDecimal(truthIn(field).value_or(field)))
            return m_table.addText(name, step, *number);
        if (isDecimalBeyondFloat64(field))
            m_table.leaveOut("numbers beyond float64", name);
        else
            m_table.leaveOut("texts", name, MetricsTable::LeftOut::Mention);
        if (isDigestText(field))
            m_table.leaveOutDigest(name, field);
        return true;
    }

    std::vector<std::string> m_header;
    std::size_t m_step;
    MetricsTable &m_table;
};

} // namespace

Status readCsvMetrics(const ByteSource &source, MetricsTable &table, std::stop_token stop)
{
    std::optional<RowReader> rows;
    const auto take = [&](const LineReader::Line &line) -> LineUse {
        if (rows)
            return rows->add(line);
        auto header = fieldsOf(withoutByteOrderMark(line.text));
        const auto step = findStep(header);
        if (!step)
            return {LineUse::Kind::Full};
        rows.emplace(std::move(header), *step, table);
        return {};
    };
    FP_CHECK(forEachLine(source, table, stop, take));
    if (!rows)
        return Error{ErrorCode::Malformed, source.name(), "line 1", "must name a step column"};
    return {};
}

bool isCsvMetricsHeader(std::string_view line)
{
    const auto header = fieldsOf(withoutByteOrderMark(line));
    return header.size() >= 2 && findStep(header).has_value();
}

} // namespace forkpoint
