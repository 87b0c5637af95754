// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/metrics_jsonl.h"

#include "loaders/ascii.h"
#include "loaders/line_reader.h"
#include "loaders/metrics_step.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <optional>

namespace forkpoint {

namespace {

using Member = JsonNumber;

/// Every digit of an integer is there; beyond 2^53 a float64 holds less of it.
DecimalText wholeNumber(const std::string &digits)
{
    return parseDecimal(digits).value_or(DecimalText());
}

/// Collects the numbers of one object with their dotted names. Numbers inside lists are no metrics.
class NumberCollector final : public nlohmann::json_sax<nlohmann::json>
{
public:
    std::vector<Member> members;
    bool isObject = false;

    bool null() override { return true; }
    bool boolean(bool) override { return true; }
    bool number_integer(number_integer_t value) override
    {
        return add(wholeNumber(std::to_string(value)), std::int64_t(value));
    }
    bool number_unsigned(number_unsigned_t value) override
    {
        const bool fits = value <= std::uint64_t(INT64_MAX);
        return add(wholeNumber(std::to_string(value)),
                   fits ? std::optional(std::int64_t(value)) : std::nullopt);
    }
    bool number_float(number_float_t, const string_t &text) override
    {
        const auto number = parseDecimal(text);
        return !number || add(*number, {});
    }
    bool string(string_t &text) override
    {
        return !nonFiniteByName(text) || add(*parseDecimal(text), {});
    }
    bool binary(binary_t &) override { return false; }
    bool start_object(std::size_t) override
    {
        isObject = isObject || m_prefixes.empty();
        const std::string outer = m_prefixes.empty() ? "" : m_prefixes.back();
        m_prefixes.push_back(m_prefixes.empty() ? "" : outer + m_key + ".");
        return m_prefixes.size() <= limits::JsonDepth;
    }
    bool key(string_t &text) override
    {
        m_key = std::move(text);
        return true;
    }
    bool end_object() override
    {
        m_prefixes.pop_back();
        return true;
    }
    bool start_array(std::size_t) override
    {
        ++m_lists;
        return m_lists <= limits::JsonDepth && isObject;
    }
    bool end_array() override
    {
        --m_lists;
        return true;
    }
    bool parse_error(std::size_t, const std::string &, const nlohmann::json::exception &) override
    {
        return false;
    }

private:
    bool add(const DecimalText &number, std::optional<std::int64_t> integer)
    {
        if (m_lists == 0 && isObject)
            members.push_back({m_prefixes.back() + m_key, number, integer});
        return isObject;
    }

    std::vector<std::string> m_prefixes; ///< one for each open object
    std::string m_key;
    std::size_t m_lists = 0;
};

bool collect(std::string_view line, NumberCollector &collector)
{
    return nlohmann::json::sax_parse(line.begin(), line.end(), &collector) && collector.isObject;
}

/// The place of the step among the members, by the order of preference of the names.
std::optional<std::size_t> findStep(const std::vector<Member> &members)
{
    for (const std::string_view name : StepColumns) {
        for (std::size_t i = 0; i < members.size(); ++i) {
            if (members[i].integer && members[i].name == name)
                return i;
        }
    }
    return std::nullopt;
}

/// False once the table is full.
bool addLine(const LineReader::Line &line, MetricsTable &table)
{
    if (line.tooLong) {
        table.addBadLine(line.number, "is longer than a line may be");
        return true;
    }
    const auto members = jsonNumbers(line.text);
    if (!members && !line.ended) {
        table.addGap(Severity::Note, "torn-line", "line " + std::to_string(line.number),
                     "the last line is torn and was left out");
        return true;
    }
    if (!members) {
        table.addBadLine(line.number, "is not a JSON object");
        return true;
    }
    const auto step = findStep(*members);
    if (!step) {
        table.addBadLine(line.number, "has no integer member 'step', 'iteration' or the like");
        return true;
    }
    for (std::size_t i = 0; i < members->size(); ++i) {
        const Member &member = (*members)[i];
        if (i != *step && !table.addText(member.name, *(*members)[*step].integer, member.number))
            return false;
    }
    return true;
}

} // namespace

/// The line with Python's bare NaN and infinities quoted, which strict JSON has no word for.
std::string quoteNonFinite(std::string_view line)
{
    std::string result;
    bool inString = false;
    for (std::size_t i = 0; i < line.size(); ++i) {
        if (line[i] == '"')
            inString = !inString;
        if (inString && line[i] == '\\' && i + 1 < line.size())
            result += line[i++];
        std::string_view word;
        for (const std::string_view candidate : {"NaN", "-Infinity", "Infinity"}) {
            if (!inString && word.empty() && line.substr(i).starts_with(candidate))
                word = candidate;
        }
        if (word.empty()) {
            result += line[i];
            continue;
        }
        result += '"' + std::string(word) + '"';
        i += word.size() - 1;
    }
    return result;
}

std::optional<std::vector<JsonNumber>> jsonNumbers(std::string_view object)
{
    NumberCollector strict;
    if (collect(object, strict))
        return std::move(strict.members);
    NumberCollector lenient;
    if (collect(quoteNonFinite(object), lenient))
        return std::move(lenient.members);
    return std::nullopt;
}

Status readJsonlMetrics(const ByteSource &source, MetricsTable &table, std::stop_token stop)
{
    LineReader lines(source);
    for (;;) {
        if (stop.stop_requested())
            return Error{ErrorCode::Cancelled, source.name(), {}, "cancelled"};
        FP_TRY(const auto line, lines.next());
        if (!line)
            return {};
        if (!line->tooLong && isBlank(line->text))
            continue;
        if (!addLine(*line, table))
            return {};
    }
}

bool isJsonlMetricsLine(std::string_view line)
{
    const auto members = jsonNumbers(line);
    return members && findStep(*members).has_value();
}

} // namespace forkpoint
