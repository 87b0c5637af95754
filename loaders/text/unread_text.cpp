// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/text/unread_text.h"

#include "loaders/metrics/metrics_files.h"
#include "loaders/metrics/metrics_jsonl.h"
#include "loaders/metrics/metrics_step.h"
#include "loaders/storage/file_source.h"
#include "loaders/storage/line_reader.h"
#include "model/text/utf8.h"

#include <algorithm>
#include <array>
#include <span>

namespace forkpoint {

namespace {

/// How much of a first line is looked at and, of a text, quoted.
constexpr std::size_t LookedBytes = 1u << 20;
constexpr std::size_t QuotedBytes = 40;

/// Files that are taken for checkpoints and cannot be opened as they are, by their first bytes.
struct Known
{
    std::string_view magic, said;
};
constexpr std::array Unopened = {
    Known{"GGUF", "it is a GGUF file, a format that is not opened yet"},
    Known{"\x1f\x8b", "it is compressed by gzip: unpack it first"},
    Known{"\x28\xb5\x2f\xfd", "it is compressed by zstd: unpack it first"},
    Known{"BZh", "it is compressed by bzip2: unpack it first"},
    Known{"\xfd\x37zXZ", "it is compressed by xz: unpack it first"},
    Known{"PK\x03\x04",
          "it is a zip archive that torch, numpy or Keras did not write: unpack it first"},
};

std::string_view whyUnopened(const ByteSource &source)
{
    std::array<char, 8> head{};
    const std::size_t size = std::size_t(std::min<std::uint64_t>(head.size(), source.size()));
    if (!source.read(0, std::as_writable_bytes(std::span(head.data(), size))))
        return {};
    const std::string_view bytes(head.data(), size);
    const auto known = std::find_if(Unopened.begin(), Unopened.end(), [&](const Known &each) {
        return bytes.starts_with(each.magic);
    });
    return known == Unopened.end() ? std::string_view() : known->said;
}

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

/// What the first line of a text lacks.
std::string whyNoMetrics(const ByteSource &source, std::string_view line)
{
    if (line.front() == '[' || line.front() == '{')
        return "it looks like JSON, but is not one object a line";
    if (source.name().ends_with(".csv"))
        return "its first line names no column 'step', 'iteration' or the like, so it holds no "
               "metrics by step";
    return "it is a text that begins '"
        + std::string(line.substr(0, characterAt(line, QuotedBytes)))
        + "', of no form that is known";
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

std::string whyUnread(const ByteSource &source)
{
    if (const std::string_view known = whyUnopened(source); !known.empty())
        return "; " + std::string(known);
    LineReader lines(source, LookedBytes, {}, LookedBytes);
    const auto first = lines.next();
    if (!first.ok() || !*first || !isText((*first)->text))
        return {};
    const std::string_view line = (*first)->text;
    const auto json = jsonNumbers(line);
    const std::string why =
        json && json->isObject ? whyNoMetrics(*json) : whyNoMetrics(source, line);
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
    const std::string why = source.ok() ? whyUnread(**source) : std::string();
    return why.empty() ? text : text + "; " + file->name + ": " + why.substr(2);
}

} // namespace forkpoint
