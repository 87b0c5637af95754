// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/open_trace.h"

#include "loaders/checkpoint_directory.h"
#include "loaders/file_source.h"
#include "loaders/gzip_source.h"
#include "loaders/limits.h"
#include "loaders/platform_directory.h"
#include "loaders/tar_directory.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>

namespace forkpoint {

namespace {

namespace fs = std::filesystem;

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

/// Visits the files below a directory in the order of their names until a visit returns false.
bool walkFiles(const fs::path &directory, const std::string &prefix, int depth,
               const std::function<bool(const std::string &)> &visit)
{
    const auto listing = listDirectory(directory / prefix, prefix);
    if (!listing.ok())
        return true;
    for (const DirectoryEntry &entry : listing->entries) {
        const std::string name = prefix + entry.name;
        if (entry.name.starts_with('.'))
            continue;
        if (entry.kind == EntryKind::Directory && depth < limits::DirectoryDepth
            && !walkFiles(directory, name + "/", depth + 1, visit))
            return false;
        if ((entry.kind == EntryKind::File || entry.kind == EntryKind::LinkToFile) && !visit(name))
            return false;
    }
    return true;
}

class Finder
{
public:
    Finder(const fs::path &directory, const std::stop_token &stop)
        : m_directory(directory),
          m_stop(stop)
    {
    }

    void lookEverywhere()
    {
        walkFiles(m_directory, {}, 0, [&](const std::string &name) {
            if (++m_looked > limits::TraceFiles || m_stop.stop_requested())
                return false;
            auto source = FileSource::openBeneath(m_directory, name, name);
            if (source.ok())
                ask(std::move(source).value(), name);
            return true;
        });
    }

    /// The dialect of the most files, and these.
    TraceFiles take()
    {
        TraceFiles result;
        for (const TraceDialect *dialect : allTraceDialects()) {
            const auto found = m_found.find(dialect);
            if (found == m_found.end())
                continue;
            if (!result.dialect || found->second.size() > result.files.size()) {
                result.dialect = dialect;
                result.files = found->second;
            }
        }
        result.claimed = std::move(m_claimed);
        describeOthers(result);
        std::move(m_diagnostics.begin(), m_diagnostics.end(),
                  std::back_inserter(result.diagnostics));
        return result;
    }

    /// Asks the dialects of one file.
    void ask(std::shared_ptr<const ByteSource> source, std::string name)
    {
        if (isBeingWritten(name)) {
            m_diagnostics.push_back({Severity::Note,
                                     "being-written",
                                     std::move(name),
                                     {},
                                     "is still being written, and no part of the trace yet"});
            return;
        }
        TraceFile file{std::move(source), std::move(name), m_directory, 0};
        std::array<std::byte, limits::ProbeBytes> buffer;
        auto head = MutableByteView(buffer).first(
            std::size_t(std::min<std::uint64_t>(buffer.size(), file.source->size())));
        if (!file.source->read(0, head).ok())
            return;
        if (isGzip(head)) {
            auto gzip = openMeasuredGzip(file.source);
            if (!gzip.ok())
                return;
            if (gzip->torn)
                m_torn.push_back(file.name);
            file.source = std::move(gzip->decoded);
            head = MutableByteView(buffer).first(
                std::size_t(std::min<std::uint64_t>(buffer.size(), file.source->size())));
            if (!file.source->read(0, head).ok())
                return;
        }
        if (isClaimed(file.name))
            m_claimed.insert(file.name);
        else if (!mayBeText(head))
            return;
        for (const TraceDialect *dialect : allTraceDialects()) {
            if (dialect->probe(file, asText(head)) == Confidence::Yes) {
                if (std::find(m_torn.begin(), m_torn.end(), file.name) != m_torn.end())
                    m_diagnostics.push_back(
                        {Severity::Warning,
                         "torn-gzip",
                         file.name,
                         {},
                         "its gzip stream is cut; the records up to there are read"});
                m_found[dialect].push_back(std::move(file));
                return;
            }
        }
    }

private:
    void describeOthers(const TraceFiles &chosen)
    {
        for (const TraceDialect *dialect : allTraceDialects()) {
            const auto &files = m_found[dialect];
            if (dialect == chosen.dialect || files.empty())
                continue;
            std::vector<std::string> names;
            for (const TraceFile &file : files)
                names.push_back(file.name);
            m_diagnostics.push_back({Severity::Warning,
                                     "ignored",
                                     {},
                                     {},
                                     "the trace is of " + std::string(chosen.dialect->name())
                                         + ", these files are of " + std::string(dialect->name())
                                         + " and are not read: " + listNames(names)});
        }
    }

    const fs::path &m_directory;
    const std::stop_token &m_stop;
    std::size_t m_looked = 0;
    std::map<const TraceDialect *, std::vector<TraceFile>> m_found;
    std::vector<std::string> m_torn;
    std::set<std::string> m_claimed;
    Diagnostics m_diagnostics;
};

} // namespace

std::set<std::string> claimedFiles(const fs::path &directory, const TraceDialect &dialect)
{
    std::set<std::string> names;
    walkFiles(directory, {}, 0, [&](const std::string &name) {
        if (dialect.claimsBinary(name))
            names.insert(name);
        return names.size() < limits::TraceFiles;
    });
    return names;
}

std::set<std::string> TraceFiles::names() const
{
    std::set<std::string> names;
    for (const TraceFile &file : files)
        names.insert(file.name);
    return names;
}

TraceFiles findTraceFiles(const fs::path &directory, std::stop_token stop)
{
    Finder finder(directory, stop);
    finder.lookEverywhere();
    TraceFiles found = finder.take();
    found.directory = directory;
    std::sort(found.files.begin(), found.files.end(), byNumbers);
    for (std::size_t i = 0; i < found.files.size(); ++i)
        found.files[i].index = std::uint32_t(i);
    return found;
}

TraceFiles traceFileAt(const fs::path &path)
{
    const fs::path directory = path.has_parent_path() ? path.parent_path() : fs::path(".");
    const std::stop_token stop;
    Finder finder(directory, stop);
    const std::string name = path.filename().string();
    auto source = FileSource::open(path, name);
    if (!source.ok())
        return {};
    finder.ask(std::move(source).value(), name);
    return finder.take();
}

} // namespace forkpoint
