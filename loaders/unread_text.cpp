// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/unread_text.h"

#include "loaders/file_source.h"
#include "loaders/line_reader.h"
#include "loaders/metrics_files.h"
#include "loaders/metrics_jsonl.h"
#include "loaders/metrics_step.h"
#include "model/utf8.h"

#include <algorithm>

namespace forkpoint {

namespace {

/// How much of a first line is looked at and, of a text, quoted.
constexpr std::size_t LookedBytes = 1u << 20;
constexpr std::size_t QuotedBytes = 40;

bool isText(std::string_view line)
{
    for (std::size_t i = 0; i < line.size();) {
        const std::size_t length = utf8Length(line.substr(i));
        const auto byte = static_cast<unsigned char>(line[i]);
        if (length == 0 || (byte < 0x20 && byte != '\t'))
            return false;
        i += length;
    }
    return !line.empty();
}

std::string whyNoMetrics(const JsonNumbers &line)
{
    const auto step =
        std::find_if(line.numbers.begin(), line.numbers.end(), [](const JsonNumber &number) {
            return stepPreference(number.name).has_value();
        });
    if (step == line.numbers.end())
        return "its first line is JSON without a whole number 'step', 'iteration' or the like, so "
               "it "
               "holds no metrics by step";
    return "'" + step->name
        + "' of its first line is no whole number, so it holds no metrics by step";
}

/// "rank_3", "rank3", "rank-3".
bool isRankFolder(const DirectoryEntry &entry)
{
    constexpr std::string_view Word = "rank";
    std::string_view rest = entry.name;
    if (entry.kind != EntryKind::Directory || !rest.starts_with(Word))
        return false;
    rest.remove_prefix(std::min(rest.find_first_of("0123456789"), rest.size()));
    return !rest.empty() && rest.find_first_not_of("0123456789") == std::string_view::npos;
}

bool isTextName(const DirectoryEntry &entry)
{
    const auto ends = [&](std::string_view ending) { return entry.name.ends_with(ending); };
    return entry.kind == EntryKind::File
        && (isMetricsName(entry.name) || ends(".log") || ends(".txt") || ends(".json"));
}

} // namespace

std::string whyUnreadText(const ByteSource &source)
{
    LineReader lines(source, LookedBytes, {}, LookedBytes);
    const auto first = lines.next();
    if (!first.ok() || !*first || !isText((*first)->text))
        return {};
    const std::string_view line = (*first)->text;
    const auto json = jsonNumbers(line);
    const std::string why = json && json->isObject
        ? whyNoMetrics(*json)
        : "it is a text that begins '" + std::string(line.substr(0, characterAt(line, QuotedBytes)))
            + "', of no form that is known";
    return "; " + why
        + "; its lines can be read as the records of a trace by a sheet of your own rules: "
          "--mapping SHEET";
}

std::string whyUnreadFiles(const std::filesystem::path &directory, const DirectoryListing &listing)
{
    std::string text;
    if (std::any_of(listing.entries.begin(), listing.entries.end(), isRankFolder))
        text += "; folders of ranks are a trace of tensors where they lie in the folder of a step "
                "(step_1/rank_0/loss.npy); name one of them to open it as a checkpoint";
    const auto file = std::find_if(listing.entries.begin(), listing.entries.end(), isTextName);
    if (file == listing.entries.end())
        return text;
    const auto source = FileSource::openBeneath(directory, file->name, file->name);
    const std::string why = source.ok() ? whyUnreadText(**source) : std::string();
    return why.empty() ? text : text + "; " + file->name + ": " + why.substr(2);
}

} // namespace forkpoint
