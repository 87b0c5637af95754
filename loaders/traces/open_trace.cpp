// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/traces/open_trace.h"

#include "loaders/limits.h"
#include "loaders/storage/file_source.h"
#include "loaders/storage/gzip_source.h"
#include "loaders/storage/platform_directory.h"
#include "loaders/storage/tar_directory.h"
#include "loaders/traces/trace_leftovers.h"
#include "loaders/traces/trace_tensor_tree.h"

#include <algorithm>
#include <functional>
#include <map>

namespace forkpoint {

namespace {

namespace fs = std::filesystem;

/// How far a first line is looked at: as long as a line may be.
constexpr std::size_t ProbeMost = limits::TraceLineBytes;

/// What begins a tensor file or an archive is no trace; the rest is asked.
bool mayBeText(ByteView head)
{
    return !head.empty()
        && std::none_of(head.begin(),
                        head.begin() + std::min<std::ptrdiff_t>(16, head.end() - head.begin()),
                        [](std::byte b) { return b == std::byte{0}; });
}

bool isClaimed(std::string_view name)
{
    const auto &all = allTraceDialects();
    return std::any_of(all.begin(), all.end(),
                       [&](const TraceDialect *dialect) { return dialect->claimsBinary(name); });
}

bool isBeingWritten(std::string_view name)
{
    const auto &all = allTraceDialects();
    return std::any_of(all.begin(), all.end(),
                       [&](const TraceDialect *dialect) { return dialect->isBeingWritten(name); });
}

/// By name, but runs of digits as numbers: dumps that count without leading zeros are in order.
bool byNumbers(const TraceFile &a, const TraceFile &b)
{
    const auto isDigit = [](char c) { return c >= '0' && c <= '9'; };
    const auto takeDigits = [&](std::string_view &text) {
        const std::size_t end =
            std::size_t(std::find_if_not(text.begin(), text.end(), isDigit) - text.begin());
        std::string_view digits = text.substr(0, end);
        text.remove_prefix(end);
        digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
        return digits;
    };
    std::string_view left = a.name, right = b.name;
    while (!left.empty() && !right.empty()) {
        if (isDigit(left[0]) && isDigit(right[0])) {
            const std::string_view one = takeDigits(left), other = takeDigits(right);
            if (one != other)
                return one.size() != other.size() ? one.size() < other.size() : one < other;
            continue;
        }
        if (left[0] != right[0])
            return left[0] < right[0];
        left.remove_prefix(1);
        right.remove_prefix(1);
    }
    return left.empty() != right.empty() ? left.empty() : a.name < b.name;
}

/// What a walk meets that is no file to look at: a folder, a link or a device, and why not.
using LeaveOut = std::function<void(TraceLeftover)>;

/// Visits the files below a directory in the order of their names until a visit returns false.
bool walkFiles(const fs::path &directory, const std::string &prefix, int depth,
               const std::function<bool(const std::string &)> &visit, const LeaveOut &leaveOut)
{
    using Kind = TraceLeftover::Kind;
    const auto listing = listDirectory(directory / prefix, prefix);
    if (!listing.ok()) {
        leaveOut({Kind::Unreadable, prefix, "cannot be looked through: " + listing.error().text});
        return true;
    }
    if (!listing->complete)
        leaveOut({Kind::NotLooked, prefix,
                  "may have at most " + std::to_string(listing->entries.size())
                      + " entries; the rest was not looked at"});
    for (const DirectoryEntry &entry : listing->entries) {
        const std::string name = prefix + entry.name;
        if (entry.name.starts_with('.'))
            continue;
        if (entry.kind == EntryKind::Link || entry.kind == EntryKind::Special)
            leaveOut({Kind::Unrecognised, name, "is a link out of its folder, or no file"});
        if (entry.kind == EntryKind::Directory && depth < limits::DirectoryDepth
            && !walkFiles(directory, name + "/", depth + 1, visit, leaveOut))
            return false;
        if ((entry.kind == EntryKind::File || entry.kind == EntryKind::LinkToFile) && !visit(name))
            return false;
    }
    return true;
}

/// The first line of a text, as far as ProbeMost, and at least its first bytes.
template <class ReadHead>
Result<std::vector<std::byte>> firstLine(const ReadHead &readHead)
{
    constexpr std::size_t Growth = 16;
    for (std::size_t most = limits::ProbeBytes;; most = std::min(most * Growth, ProbeMost)) {
        FP_TRY(std::vector<std::byte> head, readHead(most));
        const bool isWhole = head.size() < most || most == ProbeMost;
        if (isWhole || !mayBeText(head)
            || std::find(head.begin(), head.end(), std::byte{'\n'}) != head.end())
            return head;
    }
}

/// The beginning of a file's decoded bytes, as probes need it.
Result<std::vector<std::byte>> headOf(const ByteSource &source, bool isCompressed)
{
    return firstLine([&](std::size_t most) -> Result<std::vector<std::byte>> {
        if (isCompressed)
            return gzipHead(source, most);
        return readAll(source, 0, std::min<std::uint64_t>(most, source.size()), most);
    });
}

TraceLeftover unrecognised(const std::string &name, ByteView head)
{
    using Kind = TraceLeftover::Kind;
    if (head.empty())
        return {Kind::Unrecognised, name, "is empty"};
    if (!mayBeText(head))
        return {Kind::Unrecognised, name, "is no text, and of no dialect of traces", false};
    if (head.size() < ProbeMost)
        return {Kind::Unrecognised, name, "is of no dialect of traces, by its first line"};
    return {Kind::LongLine, name,
            "is of no dialect of traces as far as its first line was looked at: up to "
                + std::to_string(ProbeMost) + " bytes, and it is longer"};
}

using MappedDialect = std::shared_ptr<const TraceDialect>;

class Finder
{
public:
    Finder(const fs::path &directory, const std::stop_token &stop, MappedDialect mapping,
           bool isNamed)
        : m_directory(directory),
          m_stop(stop),
          m_mapping(std::move(mapping)),
          m_isNamed(isNamed)
    {
    }

    void lookEverywhere()
    {
        std::size_t looked = 0;
        const auto visit = [&](const std::string &name) {
            if (m_stop.stop_requested())
                return false;
            if (++looked > limits::TraceFiles) {
                leaveOut({Kind::NotLooked,
                          {},
                          "a trace may have at most " + std::to_string(limits::TraceFiles)
                              + " files; the rest, from " + name + " on, was not looked at"});
                return false;
            }
            auto source = FileSource::openBeneath(m_directory, name, name);
            if (source.ok())
                ask(std::move(source).value(), name);
            else
                leaveOut({Kind::Unreadable, name, reasonOf(source.error())});
            return true;
        };
        walkFiles(m_directory, {}, 0, visit, [&](TraceLeftover one) { leaveOut(std::move(one)); });
    }

    /// The dialect of the most files, and these.
    TraceFiles take()
    {
        TraceFiles result;
        result.mapped = m_mapping;
        for (const TraceDialect *dialect : dialects()) {
            const auto found = m_found.find(dialect);
            if (found == m_found.end())
                continue;
            if (!result.dialect || found->second.size() > result.files.size()) {
                result.dialect = dialect;
                result.files = found->second;
            }
        }
        leaveOutOthers(result);
        result.diagnostics = describeLeftovers(m_leftovers, result.files);
        std::move(m_diagnostics.begin(), m_diagnostics.end(),
                  std::back_inserter(result.diagnostics));
        return result;
    }

    /// Asks the dialects of one file.
    void ask(std::shared_ptr<const ByteSource> source, std::string name)
    {
        if (isBeingWritten(name) && !m_mapping) {
            say(Severity::Note, "being-written", name, {},
                "is still being written, and no part of the trace yet");
            return;
        }
        TraceFile file{std::move(source), std::move(name), m_directory, 0};
        file.treeFolders = m_treeFolders;
        auto head = headOf(*file.source, false);
        const bool isCompressed = head.ok() && isGzip(*head);
        if (isCompressed)
            head = headOf(*file.source, true);
        if (!head.ok()) {
            leaveOut({Kind::Unreadable, file.name, reasonOf(head.error())});
            return;
        }
        const bool claimed = !m_mapping && isClaimed(file.name);
        const TraceDialect *const dialect =
            claimed || mayBeText(*head) ? dialectOf(file, asText(*head)) : nullptr;
        if (!dialect)
            leaveOut(unrecognised(file.name, *head));
        file.treeFolders = nullptr; // what the folders hold later is another matter
        if (dialect && (!isCompressed || unpack(file)))
            m_found[dialect].push_back(std::move(file));
    }

private:
    using Kind = TraceLeftover::Kind;

    static std::string reasonOf(const Error &error)
    {
        return "cannot be read: " + (error.place.empty() ? "" : error.place + ": ") + error.text;
    }

    /// Those that are asked: with a mapping no other.
    std::vector<const TraceDialect *> dialects() const
    {
        return m_mapping ? std::vector{m_mapping.get()} : allTraceDialects();
    }

    const TraceDialect *dialectOf(const TraceFile &file, std::string_view head) const
    {
        if (m_mapping && m_isNamed)
            return m_mapping.get();
        const auto all = dialects();
        const auto found = std::find_if(all.begin(), all.end(), [&](const TraceDialect *dialect) {
            return dialect->probe(file, head) == Confidence::Yes;
        });
        return found == all.end() ? nullptr : *found;
    }

    /// Puts the decoded bytes of a gzip file in the place of its own; false where that cannot be.
    bool unpack(TraceFile &file)
    {
        auto gzip = openMeasuredGzip(file.source, m_stop);
        if (!gzip.ok()) {
            leaveOut({Kind::Unreadable, file.name, reasonOf(gzip.error())});
            return false;
        }
        if (gzip->torn)
            say(Severity::Warning, "torn-gzip", file.name, {},
                "its gzip stream is cut; the records up to there are read");
        if (gzip->rest)
            say(gzip->rest->isPadding ? Severity::Note : Severity::Warning, "behind-gzip",
                file.name, "byte " + std::to_string(gzip->rest->byte), gzip->rest->text);
        file.source = std::move(gzip->decoded);
        return true;
    }

    void leaveOutOthers(const TraceFiles &chosen)
    {
        for (const auto &[dialect, files] : m_found) {
            for (const TraceFile &file : files) {
                if (dialect != chosen.dialect)
                    leaveOut({Kind::Foreign, file.name,
                              "is of " + std::string(dialect->name())
                                  + " and is not read: the trace is of "
                                  + std::string(chosen.dialect->name())});
            }
        }
        std::erase_if(m_leftovers, [&](const TraceLeftover &each) {
            return chosen.dialect
                && chosen.dialect->isPayload(
                    std::string_view(each.name).substr(each.name.rfind('/') + 1));
        });
        std::sort(m_leftovers.begin(), m_leftovers.end(),
                  [](const TraceLeftover &x, const TraceLeftover &y) { return x.name < y.name; });
    }

    void leaveOut(TraceLeftover leftover) { m_leftovers.push_back(std::move(leftover)); }

    void say(Severity severity, std::string code, std::string file, std::string place,
             std::string text)
    {
        m_diagnostics.push_back(
            {severity, std::move(code), std::move(file), std::move(place), std::move(text)});
    }

    const fs::path &m_directory;
    const std::stop_token &m_stop;
    MappedDialect m_mapping;
    bool m_isNamed; ///< the user named this very file
    std::shared_ptr<TreeFolders> m_treeFolders = std::make_shared<TreeFolders>();
    std::map<const TraceDialect *, std::vector<TraceFile>> m_found;
    std::vector<TraceLeftover> m_leftovers;
    Diagnostics m_diagnostics;
};

} // namespace

std::set<std::string> filesCalled(const fs::path &directory,
                                  const std::function<bool(const std::string &)> &takes)
{
    std::set<std::string> names;
    const auto visit = [&](const std::string &name) {
        if (takes(name))
            names.insert(name);
        return names.size() < limits::TraceFiles;
    };
    walkFiles(directory, {}, 0, visit, [](const TraceLeftover &) {});
    return names;
}

bool joinsTrace(const fs::path &directory, const std::string &name, const TraceDialect &dialect,
                const std::shared_ptr<const TraceDialect> &mapping)
{
    auto source = FileSource::openBeneath(directory, name, name);
    if (!source.ok())
        return true; // who knows
    const std::stop_token never;
    Finder finder(directory, never, mapping, false);
    finder.ask(std::move(source).value(), name);
    return finder.take().dialect == &dialect;
}

std::set<std::string> TraceFiles::names() const
{
    std::set<std::string> names;
    for (const TraceFile &file : files)
        names.insert(file.name);
    return names;
}

std::string TraceFiles::whyNone() const
{
    constexpr std::size_t Most = 3;
    std::string text;
    for (std::size_t i = 0; !dialect && i < std::min(Most, diagnostics.size()); ++i)
        text += "; " + diagnostics[i].file + " " + diagnostics[i].text;
    return text;
}

TraceFiles findTraceFiles(const fs::path &directory, std::stop_token stop,
                          const std::shared_ptr<const TraceDialect> &mapping)
{
    Finder finder(directory, stop, mapping, false);
    finder.lookEverywhere();
    TraceFiles found = finder.take();
    found.directory = directory;
    std::sort(found.files.begin(), found.files.end(), byNumbers);
    for (std::size_t i = 0; i < found.files.size(); ++i)
        found.files[i].index = std::uint32_t(i);
    return found;
}

TraceFiles traceFileAt(const fs::path &path, std::stop_token stop,
                       const std::shared_ptr<const TraceDialect> &mapping)
{
    const fs::path directory = path.has_parent_path() ? path.parent_path() : fs::path(".");
    Finder finder(directory, stop, mapping, true);
    const std::string name = path.filename().string();
    auto source = FileSource::open(path, name);
    if (!source.ok())
        return {};
    finder.ask(std::move(source).value(), name);
    return finder.take();
}

} // namespace forkpoint
