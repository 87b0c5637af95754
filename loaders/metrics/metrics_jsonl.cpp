// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/metrics/metrics_jsonl.h"

#include "loaders/metrics/metrics_lines.h"
#include "loaders/metrics/metrics_step.h"

#include <nlohmann/json.hpp>

#include <optional>

namespace forkpoint {

namespace {

/// What the numbers of one line of JSON may take in memory with their names, which repeat the keys
/// of everything around them: a line of a thousand metrics takes 0.2 MB.
constexpr std::size_t LineNumbersBytes = 16u << 20;

/// Every digit of an integer is there; beyond 2^53 a float64 holds less of it.
DecimalText wholeNumber(const std::string &digits)
{
    return parseDecimal(digits).value_or(DecimalText());
}

/// Collects the numbers of one JSON text with their dotted names.
class NumberCollector final : public nlohmann::json_sax<nlohmann::json>
{
public:
    explicit NumberCollector(std::string_view root) : m_name(root) {}

    bool refuses() const { return !m_result.refused.empty(); }
    JsonNumbers take() { return std::move(m_result); }

    bool null() override { return begin() && leaveOut(UnreadJson::Null); }
    bool boolean(bool value) override { return begin() && add(wholeNumber(value ? "1" : "0"), {}); }
    bool number_integer(number_integer_t value) override
    {
        return begin() && add(wholeNumber(std::to_string(value)), std::int64_t(value));
    }
    bool number_unsigned(number_unsigned_t value) override
    {
        const bool fits = value <= std::uint64_t(INT64_MAX);
        if (!begin())
            return false;
        noteRank(std::to_string(value));
        return add(wholeNumber(std::to_string(value)),
                   fits ? std::optional(std::int64_t(value)) : std::nullopt);
    }
    bool number_float(number_float_t, const string_t &text) override
    {
        if (!begin())
            return false;
        noteRank(text);
        const auto number = parseDecimal(text);
        return number ? add(*number, wholeStep(text)) : leaveOut(UnreadJson::Number);
    }
    bool string(string_t &text) override
    {
        if (!begin())
            return false;
        if (nonFiniteByName(text))
            return add(*parseDecimal(text), {});
        noteRank(text);
        if (isOutermost() && RowLabel::isText(m_name, text))
            m_result.row.add(m_name, text);
        if (isDigestText(text))
            m_result.digests.emplace_back(m_name, text);
        return leaveOut(UnreadJson::Text);
    }
    bool binary(binary_t &) override { return false; }
    bool start_object(std::size_t) override { return open(false); }
    bool key(string_t &text) override
    {
        m_key = std::move(text);
        return true;
    }
    bool end_object() override { return close(); }
    bool start_array(std::size_t) override { return open(true); }
    bool end_array() override { return close(); }
    bool parse_error(std::size_t, const std::string &, const nlohmann::json::exception &) override
    {
        return false;
    }

private:
    struct Container
    {
        std::size_t name = 0; ///< length of its own
        std::size_t next = 0; ///< place in the list
        bool isList = false;
        bool folded = false; ///< is itself too far down a list
    };

    bool isOutermost() const { return m_open.size() == 1 && !m_open.back().isList; }

    /// Names the value that comes.
    bool begin()
    {
        if (m_open.empty())
            return true;
        Container &around = m_open.back();
        m_name.resize(around.name);
        if (m_open.size() > 1 || around.name > 0)
            m_name += '.';
        if (around.isList)
            m_name += std::to_string(around.next++);
        else
            m_name += m_key;
        m_folded = around.folded || (around.isList && around.next > limits::FoldedNumbers);
        if (m_name.size() > limits::PrintedText)
            m_result.refused = "names a metric of more than 4,096 characters";
        return m_result.refused.empty();
    }

    bool open(bool isList)
    {
        if (!begin())
            return false;
        if (m_open.empty())
            m_result.isObject = !isList;
        m_open.push_back({m_name.size(), 0, isList, m_folded});
        return m_open.size() <= limits::JsonDepth;
    }

    bool close()
    {
        m_open.pop_back();
        return true;
    }

    bool add(const DecimalText &number, std::optional<std::int64_t> integer)
    {
        if (m_folded)
            return leaveOut(UnreadJson::LongList);
        m_result.numbers.push_back({m_name, number, integer});
        return within(m_name.size() + sizeof(JsonNumber));
    }

    /// "0", 0 and 0.0 are one rank.
    void noteRank(std::string_view text)
    {
        if (!isOutermost() || !RowLabel::isNumber(m_name))
            return;
        if (const auto number = wholeStep(text))
            m_result.row.add(m_name, std::to_string(*number));
    }

    bool leaveOut(UnreadJson kind)
    {
        auto &unread = m_result.unread;
        const bool inList = !m_open.empty() && m_open.back().isList;
        const std::size_t length = inList ? m_open.back().name : m_name.size();
        const std::string_view name = std::string_view(m_name).substr(0, length);
        if (!unread.empty() && unread.back().first == kind && unread.back().second == name)
            return true;
        unread.emplace_back(kind, name);
        return within(name.size() + sizeof unread.back());
    }

    bool within(std::size_t bytes)
    {
        m_bytes += bytes;
        if (m_bytes > LineNumbersBytes)
            m_result.refused = "holds more numbers than a line may";
        return m_result.refused.empty();
    }

    JsonNumbers m_result;
    std::string m_name; ///< of the value at hand
    std::vector<Container> m_open;
    std::string m_key;
    bool m_folded = false; ///< the value at hand is too far down a list
    std::size_t m_bytes = 0;
};

bool collect(std::string_view text, NumberCollector &collector)
{
    return nlohmann::json::sax_parse(text.begin(), text.end(), &collector);
}

/// The place of the step among the members: the likeliest name of those with a whole number.
std::optional<std::size_t> findStep(const std::vector<JsonNumber> &members)
{
    std::optional<std::size_t> best, found;
    for (std::size_t i = 0; i < members.size(); ++i) {
        const auto preference = members[i].integer ? stepPreference(members[i].name) : std::nullopt;
        if (preference && (!best || *preference < *best)) {
            best = preference;
            found = i;
        }
    }
    return found;
}

LineUse addLine(const LineReader::Line &line, MetricsTable &table)
{
    const auto read = jsonNumbers(line.text);
    if (!read || !read->isObject)
        return {LineUse::Kind::Bad, "is not a JSON object"};
    if (!read->refused.empty())
        return {LineUse::Kind::Bad, read->refused};
    const auto step = findStep(read->numbers);
    if (!step)
        return {LineUse::Kind::Bad, "has no whole number 'step', 'iteration' or the like"};
    leaveOutUnread(*read, table);
    const std::int64_t at = *read->numbers[*step].integer;
    table.beginRow(at, read->row.text());
    for (const auto &[name, digest] : read->digests)
        table.leaveOutDigest(name, digest);
    bool hasRoom = true;
    for (std::size_t i = 0; hasRoom && i < read->numbers.size(); ++i)
        hasRoom = i == *step || table.addText(read->numbers[i].name, at, read->numbers[i].number);
    for (std::size_t i = 0; hasRoom && i < read->unread.size(); ++i)
        hasRoom =
            read->unread[i].first != UnreadJson::Null || table.addBlank(read->unread[i].second, at);
    return {hasRoom ? LineUse::Kind::Taken : LineUse::Kind::Full};
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

std::optional<JsonNumbers> jsonNumbers(std::string_view text, std::string_view root)
{
    NumberCollector strict(root);
    if (collect(text, strict) || strict.refuses())
        return strict.take();
    NumberCollector lenient(root);
    if (collect(quoteNonFinite(text), lenient) || lenient.refuses())
        return lenient.take();
    return std::nullopt;
}

void leaveOutUnread(const JsonNumbers &read, MetricsTable &table)
{
    using enum MetricsTable::LeftOut;
    for (const auto &[kind, name] : read.unread) {
        switch (kind) {
        case UnreadJson::Text: table.leaveOut("texts", name, Mention); break;
        case UnreadJson::Null: table.leaveOut("nulls", name, Mention); break;
        case UnreadJson::LongList: table.leaveOut("long lists", name); break;
        case UnreadJson::Number: table.leaveOut("numbers beyond float64", name); break;
        }
    }
}

Status readJsonlMetrics(const ByteSource &source, MetricsTable &table, std::stop_token stop)
{
    return forEachLine(source, table, stop,
                       [&](const LineReader::Line &line) { return addLine(line, table); });
}

bool isJsonlMetricsLine(std::string_view line)
{
    const auto read = jsonNumbers(line);
    return read && read->isObject && findStep(read->numbers).has_value();
}

} // namespace forkpoint
