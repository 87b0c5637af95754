// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/option_hints.h"

#include "model/text/text.h"

#include <algorithm>

namespace forkpoint {

namespace {

/// A longer word is not compared: its cost grows with the square, and it resembles no option.
constexpr std::size_t LongestOption = 40;

/// How many characters must be put in, taken out or replaced to make one text of the other.
std::size_t editDistance(std::string_view a, std::string_view b)
{
    std::vector<std::size_t> row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j)
        row[j] = j;
    for (std::size_t i = 0; i < a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i + 1;
        for (std::size_t j = 0; j < b.size(); ++j) {
            const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
            diagonal = row[j + 1];
            row[j + 1] = std::min({replaced, diagonal + 1, row[j] + 1});
        }
    }
    return row.back();
}

std::vector<std::string> spelledNearly(const std::string &word,
                                       const std::vector<KnownOption> &known)
{
    std::vector<std::string> names;
    std::size_t least = std::max<std::size_t>(1, (word.size() - 2) / 3);
    for (const KnownOption &option : known) {
        const std::size_t distance = editDistance(word, option.name);
        if (distance > least)
            continue;
        if (distance < least)
            names.clear();
        least = distance;
        names.push_back(option.name);
    }
    return names;
}

std::vector<std::string> describedBy(const std::string &word, const std::vector<KnownOption> &known)
{
    constexpr std::size_t Telling = 4; // shorter words are part of many others
    std::vector<std::string> names;
    const std::string bare = word.substr(2);
    for (const KnownOption &option : known) {
        if (bare.size() >= Telling && lowered(option.description).find(bare) != std::string::npos)
            names.push_back(option.name);
    }
    return names;
}

std::string hintFor(std::string_view option, const std::vector<KnownOption> &known)
{
    const std::string word = lowered(option);
    if (word.size() > LongestOption)
        return {};
    std::vector<std::string> names = spelledNearly(word, known);
    if (names.empty())
        names = describedBy(word, known);
    return names.empty() ? std::string() : "; did you mean " + listed(names) + "?";
}

} // namespace

std::string unexpectedText(const std::vector<std::string> &words,
                           const std::vector<KnownOption> &known)
{
    for (const std::string &word : words) {
        if (!word.starts_with("--") || word.size() < 3)
            continue;
        const std::string option = word.substr(0, word.find('='));
        return "no option '" + option + "'" + hintFor(option, known);
    }
    return "not expected: " + listed(words);
}

} // namespace forkpoint
