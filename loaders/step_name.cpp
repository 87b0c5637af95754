// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/step_name.h"

#include "loaders/text/ascii.h"
#include "model/text/text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <vector>

namespace forkpoint {

namespace {

// Locale-free: names are bytes, and only ASCII letters and digits mean anything here.
bool isLetter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool isSeparator(char c)
{
    return c == '_' || c == '-' || c == '=' || c == '.' || c == ' ';
}

struct Word
{
    std::string_view text;
    StepWord word;
};
constexpr std::array<Word, 14> StepWords = {{
    {"step", StepWord::Iteration},
    {"steps", StepWord::Iteration},
    {"globalstep", StepWord::Iteration},
    {"iter", StepWord::Iteration},
    {"iters", StepWord::Iteration},
    {"iteration", StepWord::Iteration},
    {"update", StepWord::Iteration},
    {"updates", StepWord::Iteration},
    {"checkpoint", StepWord::Checkpoint},
    {"ckpt", StepWord::Checkpoint},
    {"chkpt", StepWord::Checkpoint},
    {"epoch", StepWord::Epoch},
    {"epochs", StepWord::Epoch},
    {"ep", StepWord::Epoch},
}};

// Before a bare number these words say that it counts ranks or parts of one checkpoint.
constexpr std::array<std::string_view, 20> PartWords = {
    "rank",   "ranks",     "rng",    "random",  "state", "states",    "optimizer",
    "optim",  "scheduler", "fsdp",   "sampler", "shard", "part",      "layer",
    "layers", "stage",     "worker", "scaler",  "host",  "dataloader"};

/// One run of digits and the word right before it, a separator between them allowed.
struct Number
{
    std::size_t begin = 0, end = 0;
    std::string word; ///< lower case
    bool afterEquals = false;
    bool clean = false; ///< not glued to a letter behind
};

Number describe(std::string_view name, std::size_t begin, std::size_t end)
{
    Number number{begin, end, {}, false, end == name.size() || !isLetter(name[end])};
    std::size_t wordEnd = begin;
    if (wordEnd > 0 && isSeparator(name[wordEnd - 1])) {
        number.afterEquals = name[wordEnd - 1] == '=';
        --wordEnd;
    }
    std::size_t wordBegin = wordEnd;
    while (wordBegin > 0 && isLetter(name[wordBegin - 1]))
        --wordBegin;
    number.word = lowered(name.substr(wordBegin, wordEnd - wordBegin));
    return number;
}

std::vector<Number> numbersOf(std::string_view name)
{
    std::vector<Number> numbers;
    for (std::size_t i = 0; i < name.size();) {
        if (!isDigit(name[i])) {
            ++i;
            continue;
        }
        std::size_t end = i;
        while (end < name.size() && isDigit(name[end]))
            ++end;
        numbers.push_back(describe(name, i, end));
        i = end;
    }
    return numbers;
}

std::optional<StepWord> stepWord(const Number &number)
{
    for (const Word &word : StepWords) {
        if (number.clean && number.word == word.text)
            return word.word;
    }
    return std::nullopt;
}

/// "00001-of-00002" anywhere in the name.
bool namesShard(std::string_view name, const std::vector<Number> &numbers)
{
    for (std::size_t i = 0; i + 1 < numbers.size(); ++i) {
        const std::string between =
            lowered(name.substr(numbers[i].end, numbers[i + 1].begin - numbers[i].end));
        if (between == "-of-" || between == "_of_" || between == "of")
            return true;
    }
    return false;
}

/// Where the last extension begins; the size where there is none. ".5" is not an extension.
std::size_t stemEnd(std::string_view name)
{
    const std::size_t dot = name.rfind('.');
    if (dot == std::string_view::npos || dot == 0 || dot + 1 == name.size())
        return name.size();
    const bool hasLetter = std::any_of(name.begin() + std::ptrdiff_t(dot), name.end(), isLetter);
    return hasLetter ? dot : name.size();
}

/// The number in question as its place in `numbers`, and what makes it a step.
struct Choice
{
    std::size_t number;
    StepWord word;
};

/// fairseq writes checkpoint_EPOCH_UPDATES.pt: of numbers in a row the last is the step.
std::size_t lastOfChain(std::string_view name, const std::vector<Number> &numbers, std::size_t i)
{
    while (i + 1 < numbers.size() && numbers[i + 1].begin == numbers[i].end + 1
           && (name[numbers[i].end] == '_' || name[numbers[i].end] == '-') && numbers[i + 1].clean)
        ++i;
    return i;
}

std::optional<Choice> chooseByWord(std::string_view name, const std::vector<Number> &numbers)
{
    std::optional<Choice> best;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        const auto word = stepWord(numbers[i]);
        if (!word || (best && best->word >= *word))
            continue;
        best = Choice{*word == StepWord::Checkpoint ? lastOfChain(name, numbers, i) : i, *word};
    }
    return best;
}

std::optional<Choice> chooseBare(std::string_view name, const std::vector<Number> &numbers)
{
    const std::size_t end = stemEnd(name);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        const Number &number = numbers[i];
        const bool separated = number.begin == 0 || !isLetter(name[number.begin - 1]);
        if (number.end != end || !separated)
            continue;
        if (std::find(PartWords.begin(), PartWords.end(), number.word) != PartWords.end())
            return std::nullopt;
        return Choice{i, StepWord::Bare};
    }
    return std::nullopt;
}

/// Lightning writes metrics into names ("val_loss=0.32"): the digits after the point go along.
std::size_t endOfValue(std::string_view name, const std::vector<Number> &numbers, std::size_t i)
{
    const std::size_t end = numbers[i].end;
    const bool fraction = numbers[i].afterEquals && i + 1 < numbers.size() && end < name.size()
        && name[end] == '.' && numbers[i + 1].begin == end + 1;
    return fraction ? numbers[i + 1].end : end;
}

std::string patternOf(std::string_view name, const std::vector<Number> &numbers, Choice choice)
{
    std::string pattern;
    std::size_t at = 0;
    bool chained = false;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        const Number &number = numbers[i];
        if (number.begin < at)
            continue;
        const bool byWord = stepWord(number).has_value();
        chained = byWord || (chained && i <= choice.number);
        if (i != choice.number && !number.afterEquals && !byWord && !chained)
            continue;
        pattern += name.substr(at, number.begin - at);
        pattern += '#';
        at = i == choice.number ? number.end : endOfValue(name, numbers, i);
    }
    return pattern += name.substr(at);
}

std::string withoutNumber(std::string_view name, const Number &number)
{
    std::size_t begin = number.begin;
    if (begin > 0 && isSeparator(name[begin - 1]))
        --begin;
    return std::string(name.substr(0, begin)) + std::string(name.substr(number.end));
}

} // namespace

std::optional<StepName> parseStepName(std::string_view name)
{
    const std::vector<Number> numbers = numbersOf(name);
    if (numbers.empty() || namesShard(name, numbers))
        return std::nullopt;
    auto choice = chooseByWord(name, numbers);
    if (!choice)
        choice = chooseBare(name, numbers);
    if (!choice)
        return std::nullopt;
    const Number &number = numbers[choice->number];
    StepName result;
    const char *const end = name.data() + number.end;
    if (std::from_chars(name.data() + number.begin, end, result.step).ec != std::errc())
        return std::nullopt; // beyond 63 bits
    result.word = choice->word;
    result.pattern = patternOf(name, numbers, *choice);
    if (choice->word == StepWord::Bare)
        result.withoutNumber = withoutNumber(name, number);
    return result;
}

std::optional<std::string> finishedName(std::string_view name)
{
    constexpr std::array<std::string_view, 11> Endings = {
        ".tmp",        "-tmp",        "_tmp",      ".part",       ".partial", ".incomplete",
        "-incomplete", "_incomplete", ".download", ".crdownload", ".writing"};
    const std::string low = lowered(name);
    for (const std::string_view ending : Endings) {
        if (low.size() > ending.size() && low.ends_with(ending))
            return std::string(name.substr(0, name.size() - ending.size()));
    }
    for (const std::string_view beginning : {"tmp-", "tmp_", "incomplete-", "incomplete_"}) {
        if (low.size() > beginning.size() && low.starts_with(beginning))
            return std::string(name.substr(beginning.size()));
    }
    for (const std::string_view middle : {".orbax-checkpoint-tmp-", ".tmp.", ".tmp-"}) {
        const std::size_t at = low.rfind(middle);
        if (at != std::string::npos && at > 0)
            return std::string(name.substr(0, at));
    }
    return std::nullopt;
}

} // namespace forkpoint
