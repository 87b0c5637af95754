// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/metrics/event_file_chains.h"

#include "loaders/metrics/record_log.h"
#include "loaders/metrics/tensorboard_event.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>

namespace forkpoint {

namespace {

constexpr std::string_view Mark = "tfevents.";

struct DatedFile
{
    std::shared_ptr<const ByteSource> file;
    EventFileName name;
    std::optional<double> begin = {}; ///< time of the first event that tells one
    double end = 0;                   ///< of the latest
};

/// Damage is told by whoever reads the file for its numbers.
Status takeTimes(DatedFile &dated, const std::stop_token &stop)
{
    TfRecordLog log(*dated.file);
    for (;;) {
        if (stop.stop_requested())
            return Error{ErrorCode::Cancelled, dated.file->name(), {}, "cancelled"};
        const auto record = log.next();
        if (!record.ok() || !*record)
            return {};
        const TensorBoardEvent event = parseTensorBoardEvent((*record)->data);
        if (!event.sound || !std::isfinite(event.wallTime))
            continue;
        if (!dated.begin)
            dated.begin = dated.end = event.wallTime;
        dated.end = std::max(dated.end, event.wallTime);
    }
}

/// Of files by rising `begin`. Two that begin at one time are no restart either. A file that tells no time
/// is beside none.
bool isBeside(const DatedFile &earlier, const DatedFile &later)
{
    if (!earlier.begin || !later.begin)
        return false;
    return *later.begin < earlier.end || *later.begin == *earlier.begin;
}

template <class Files>
bool anyBeside(const Files &files)
{
    const DatedFile *latest = nullptr;
    for (const DatedFile &file : files) {
        if (latest && isBeside(*latest, file))
            return true;
        if (!latest || file.end >= latest->end)
            latest = &file;
    }
    return false;
}

using WriterKey = std::tuple<std::string, std::string, std::string>;

/// Which parts of the names differ.
struct Unlike
{
    bool folder = false, host = false, suffix = false;
};

std::string labelOf(const EventFileName &name, const Unlike &unlike, const std::string &file)
{
    std::string label;
    const auto add = [&](bool tells, std::string_view what, const std::string &text) {
        if (tells)
            label.append(label.empty() ? "" : ", ").append(what).append(1, ' ').append(text);
    };
    add(unlike.folder, "folder", name.folder.empty() ? "." : name.folder);
    add(unlike.host, "host", name.host);
    add(unlike.suffix, "suffix", name.suffix.empty() ? "none" : name.suffix);
    add(!file.empty(), "file", file);
    return label;
}

/// The name of a file without what all event files begin with.
std::string shortName(const std::string &path)
{
    const std::string base = path.substr(path.rfind('/') + 1);
    const std::size_t mark = base.find(Mark);
    return mark == std::string::npos ? base : base.substr(mark + Mark.size());
}

std::vector<EventFileChain> apart(std::vector<DatedFile> files)
{
    std::map<WriterKey, std::vector<DatedFile>> writers;
    const EventFileName first = files.front().name;
    Unlike unlike;
    for (DatedFile &file : files) {
        unlike.folder |= file.name.folder != first.folder;
        unlike.host |= file.name.host != first.host;
        unlike.suffix |= file.name.suffix != first.suffix;
        writers[{file.name.folder, file.name.host, file.name.suffix}].push_back(std::move(file));
    }
    std::vector<EventFileChain> chains;
    for (auto &entry : writers) {
        std::vector<DatedFile> &own = entry.second;
        const bool isTold = !anyBeside(own);
        using enum EventFileChain::Telling;
        const auto telling = !isTold ? Nothing : unlike.suffix ? Suffix : Place;
        for (const DatedFile &file : own) {
            if (!isTold || &file == &own.front())
                chains.push_back(
                    {{},
                     labelOf(file.name, unlike, isTold ? "" : shortName(file.file->name())),
                     telling});
            chains.back().files.push_back(file.file);
        }
    }
    return chains;
}

std::size_t digitsAt(std::string_view text, std::size_t at)
{
    return std::min(text.find_first_not_of("0123456789", at), text.size())
        - std::min(at, text.size());
}

/// The first dot that may end a host: of an address of four numbers the one behind these.
std::size_t firstHostEnd(std::string_view text)
{
    constexpr int PartsOfAddress = 4;
    std::size_t at = 0;
    for (int part = 0; part < PartsOfAddress; ++part) {
        const std::size_t digits = digitsAt(text, at);
        if (digits == 0 || !text.substr(at + digits).starts_with('.'))
            return text.find('.');
        at += digits + 1;
    }
    return at - 1;
}

} // namespace

EventFileName eventFileName(std::string_view path)
{
    const std::size_t slash = path.rfind('/');
    EventFileName result;
    result.folder = slash == std::string_view::npos ? "" : path.substr(0, slash);
    std::string_view rest = path.substr(slash == std::string_view::npos ? 0 : slash + 1);
    const std::size_t mark = std::min(rest.find(Mark), rest.size());
    const std::size_t time = rest.find('.', mark + Mark.size());
    if (time == std::string_view::npos)
        return result;
    rest.remove_prefix(time + 1);
    for (std::size_t dot = firstHostEnd(rest); dot < rest.size(); dot = rest.find('.', dot + 1)) {
        const std::size_t process = digitsAt(rest, dot + 1), number = dot + 1 + process + 1;
        if (process == 0 || !rest.substr(number - 1).starts_with('.')
            || digitsAt(rest, number) == 0)
            continue;
        result.host = rest.substr(0, dot);
        result.suffix = rest.substr(number + digitsAt(rest, number));
        return result;
    }
    result.host = rest;
    return result;
}

Result<std::vector<EventFileChain>>
eventFileChains(std::vector<std::shared_ptr<const ByteSource>> files, const std::stop_token &stop)
{
    if (files.size() < 2)
        return std::vector<EventFileChain>{{std::move(files), {}}};
    std::vector<DatedFile> dated;
    for (auto &file : files) {
        dated.push_back({file, eventFileName(file->name())});
        FP_CHECK(takeTimes(dated.back(), stop));
    }
    std::stable_sort(dated.begin(), dated.end(), [](const DatedFile &left, const DatedFile &right) {
        return std::pair(left.begin, left.file->name())
            < std::pair(right.begin, right.file->name());
    });
    if (anyBeside(dated))
        return apart(std::move(dated));
    EventFileChain one;
    for (DatedFile &file : dated)
        one.files.push_back(std::move(file.file));
    return std::vector<EventFileChain>{std::move(one)};
}

} // namespace forkpoint
