// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/metrics/metrics_console.h"
#include "loaders/text/ascii.h"

#include <algorithm>
#include <charconv>

namespace forkpoint {

namespace {

/// Without the escape sequences that colour a terminal: ESC [ ... letter.
std::string withoutColours(std::string_view line)
{
    std::string plain;
    plain.reserve(line.size());
    for (std::size_t i = 0; i < line.size(); ++i) {
        if (line[i] != '\x1b') {
            plain += line[i];
            continue;
        }
        if (i + 1 < line.size() && line[i + 1] == '[') {
            for (i += 2; i < line.size() && (isDigit(line[i]) || line[i] == ';'); ++i) {}
        }
    }
    return plain;
}

/// The integer at the front of a text, which is moved behind it.
std::optional<std::int64_t> takeInteger(std::string_view &text)
{
    text = text.substr(std::min(text.find_first_not_of(' '), text.size()));
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end == text.data())
        return std::nullopt;
    text.remove_prefix(std::size_t(end - text.data()));
    return number;
}

/// Digits in groups of three, as Python's "{:,}" prints them, without their commas.
std::string withoutGroups(std::string_view text)
{
    std::string plain(text);
    plain.erase(std::remove(plain.begin(), plain.end(), ','), plain.end());
    return plain;
}

/// A number that was printed by a format of fixed digits ("{:.3f}", "{:.4g}"): that its text is a
/// binary fraction says nothing of the number.
std::optional<DecimalText> parseFormatted(std::string_view text)
{
    auto number = parseDecimal(text);
    if (number)
        number->dyadic = false;
    return number;
}

/// "key: value | key: value |", as Megatron-LM's training_log joins them.
void addFields(std::string_view fields, const std::string &prefix, ConsoleLine &into)
{
    while (!fields.empty()) {
        const std::size_t bar = std::min(fields.find('|'), fields.size());
        const std::string_view field = fields.substr(0, bar);
        fields.remove_prefix(std::min(bar + 1, fields.size()));
        const std::size_t colon = field.rfind(": ");
        if (colon == std::string_view::npos)
            continue;
        const auto number = parseFormatted(trimmed(field.substr(colon + 1)));
        const std::string_view name = trimmed(field.substr(0, colon));
        if (number && !name.empty())
            into.numbers.emplace_back(prefix + std::string(name), *number);
    }
}

/// "iteration        1/      12 | ...", or "validation loss at iteration 100 ... | ...".
std::optional<ConsoleLine> parseMegatron(std::string_view line)
{
    constexpr std::string_view Word = "iteration ";
    const std::size_t at = line.find(Word);
    const std::size_t bar = at == std::string_view::npos ? at : line.find('|', at);
    if (bar == std::string_view::npos)
        return std::nullopt;
    std::string_view rest = line.substr(at + Word.size(), bar - at - Word.size());
    ConsoleLine result;
    result.step = takeInteger(rest);
    std::string prefix;
    const std::string_view before = line.substr(0, at);
    if (before.ends_with("validation loss at "))
        prefix = "validation ";
    else if (before.ends_with("test loss at "))
        prefix = "test ";
    else if (!rest.starts_with('/'))
        return std::nullopt;
    if (!result.step)
        return std::nullopt;
    addFields(line.substr(bar + 1), prefix, result);
    return result;
}

/// "step:  1  loss:  5.03562  tps: 20,001": names end in a colon, the next word is the value.
std::optional<ConsoleLine> parseTitan(std::string_view line)
{
    constexpr std::string_view Word = "step:";
    const std::size_t at = line.find(Word);
    if (at == std::string_view::npos || (at > 0 && line[at - 1] != ' ')
        || line.find("loss:", at) == std::string_view::npos)
        return std::nullopt;
    std::string_view rest = line.substr(at + Word.size());
    ConsoleLine result;
    result.step = takeInteger(rest);
    if (!result.step || !rest.starts_with(' '))
        return std::nullopt;
    const bool validates = line.substr(0, at).ends_with("validate ");
    std::string name;
    while (!(rest = trimmed(rest)).empty()) {
        const std::string_view word = rest.substr(0, std::min(rest.find(' '), rest.size()));
        rest.remove_prefix(word.size());
        if (word.size() > 1 && word.ends_with(':')) {
            name = (validates ? "validate " : "") + std::string(word.substr(0, word.size() - 1));
            continue;
        }
        const bool percent = word.ends_with('%');
        const auto number =
            parseFormatted(withoutGroups(word.substr(0, word.size() - (percent ? 1 : 0))));
        if (number && !name.empty())
            result.numbers.emplace_back(name, *number);
        name.clear();
    }
    return result;
}

/// The text in Python's quotes at the front, which is moved behind it; no escapes, no other quotes.
std::optional<std::string_view> takeQuoted(std::string_view &text)
{
    if (!text.starts_with('\'') && !text.starts_with('"'))
        return std::nullopt;
    const std::size_t end = text.find(text.front(), 1);
    if (end == std::string_view::npos)
        return std::nullopt;
    const std::string_view inside = text.substr(1, end - 1);
    text.remove_prefix(end + 1);
    return inside;
}

/// "{'loss': 5.0356, 'epoch': '0.08'}".
std::optional<ConsoleLine> parsePythonDict(std::string_view line)
{
    const std::size_t begin = line.find("{'");
    const std::size_t end = line.rfind('}');
    if (begin == std::string_view::npos || end == std::string_view::npos || end < begin)
        return std::nullopt;
    std::string_view rest = line.substr(begin + 1, end - begin - 1);
    ConsoleLine result;
    bool isTrainers = false;
    while (!(rest = trimmed(rest)).empty()) {
        const auto key = takeQuoted(rest);
        if (!key || !rest.starts_with(':'))
            return std::nullopt;
        rest = trimmed(rest.substr(1));
        const auto quoted = takeQuoted(rest);
        const std::size_t comma = std::min(rest.find(','), rest.size());
        auto number =
            quoted ? parseFormatted(*quoted) : parseDecimal(trimmed(rest.substr(0, comma)));
        if (number && quoted) // "{:.4g}" prints 1234.4 as a whole number
            number->wholeNumber = false;
        rest.remove_prefix(std::min(comma + 1, rest.size()));
        isTrainers |= number && (key->ends_with("loss") || *key == "epoch");
        if (number)
            result.numbers.emplace_back(std::string(*key), *number);
    }
    return isTrainers ? std::optional(std::move(result)) : std::nullopt;
}

} // namespace

std::optional<ConsoleLine> parseConsoleLine(std::string_view line)
{
    const std::string plain = withoutColours(line);
    for (const auto parse : {parseMegatron, parseTitan, parsePythonDict}) {
        auto result = parse(plain);
        if (result && !result->numbers.empty())
            return result;
    }
    return std::nullopt;
}

} // namespace forkpoint
