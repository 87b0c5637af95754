// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/metrics/metrics_mlflow.h"

#include "loaders/metrics/metrics_lines.h"
#include "loaders/metrics/metrics_step.h"
#include "loaders/storage/file_source.h"

#include <algorithm>

namespace forkpoint {

namespace {

namespace fs = std::filesystem;

/// Longer texts of a parameter are cut in a listing anyway; MLflow allows 6000 characters.
constexpr std::uint64_t ParamBytes = 64 * 1024;
/// "eval/loss" is a file in a folder; deeper than this no metric is named.
constexpr int MetricFolders = 8;

bool has(const DirectoryListing &listing, std::string_view name, EntryKind kind)
{
    return std::any_of(
        listing.entries.begin(), listing.entries.end(),
        [&](const DirectoryEntry &entry) { return entry.name == name && entry.kind == kind; });
}

std::vector<std::string_view> wordsOf(std::string_view line)
{
    std::vector<std::string_view> words;
    while (!line.empty() && words.size() < 6) {
        const std::size_t end = std::min(line.find(' '), line.size());
        if (end > 0)
            words.push_back(line.substr(0, end));
        line.remove_prefix(std::min(end + 1, line.size()));
    }
    return words;
}

class StoreReader
{
public:
    StoreReader(const fs::path &directory, const std::string &prefix, MetricsTable &table,
                CheckpointBuilder &values, std::stop_token stop)
        : m_directory(directory),
          m_prefix(prefix),
          m_table(table),
          m_values(values),
          m_stop(std::move(stop))
    {
    }

    Status read()
    {
        FP_CHECK(readFolder("metrics", {}, 0));
        FP_CHECK(readTexts("params", StateClass::Recipe));
        return readTexts("tags", StateClass::Bookkeeping);
    }

private:
    Status readFolder(const std::string &folder, const std::string &metricPrefix, int depth)
    {
        FP_TRY(const auto listing, listDirectory(m_directory / folder, m_prefix + folder));
        if (!listing.complete)
            m_table.addGap(Severity::Warning, "limit", folder, "holds more files than are read");
        for (const DirectoryEntry &entry : listing.entries) {
            if (m_stop.stop_requested())
                return Error{ErrorCode::Cancelled, m_prefix + folder, {}, "cancelled"};
            const std::string relative = folder + "/" + entry.name;
            const std::string metric = metricPrefix + entry.name;
            if (entry.kind == EntryKind::File) {
                FP_CHECK(readMetric(relative, metric));
            } else if (entry.kind == EntryKind::Directory && depth < MetricFolders) {
                FP_CHECK(readFolder(relative, metric + "/", depth + 1));
            } else {
                m_table.addGap(Severity::Note, "not-read", relative, "is no file; not read");
            }
        }
        return {};
    }

    Status readMetric(const std::string &relative, const std::string &metric)
    {
        const auto file = FileSource::openBeneath(m_directory, relative, m_prefix + relative);
        if (!file.ok()) {
            m_table.addGap(Severity::Error, "unreadable", relative, file.error().message());
            return {};
        }
        return forEachLine(
            **file, m_table, m_stop,
            [&](const LineReader::Line &line) { return addLine(line, metric); }, relative);
    }

    LineUse addLine(const LineReader::Line &line, const std::string &metric)
    {
        // MLflow ends every line; a cut number would read as another.
        if (!line.ended)
            return {LineUse::Kind::Torn};
        const auto words = wordsOf(line.text);
        const auto number = words.size() >= 2 ? parseDecimal(words[1]) : std::nullopt;
        // Before MLflow 1.0 there were no steps.
        const auto step = words.size() >= 3 ? wholeStep(words[2]) : std::optional<std::int64_t>(0);
        if (!number || words.size() < 2 || !step)
            return {LineUse::Kind::Bad, "is not 'timestamp value step'"};
        const bool taken = m_table.addText(metric, *step, *number);
        return {taken ? LineUse::Kind::Taken : LineUse::Kind::Full};
    }

    Status readTexts(const std::string &folder, StateClass stateClass)
    {
        const auto listing = listDirectory(m_directory / folder, m_prefix + folder);
        if (!listing.ok())
            return {}; // a run need not have any
        for (const DirectoryEntry &entry : listing->entries) {
            if (entry.kind != EntryKind::File)
                continue;
            const std::string relative = folder + "/" + entry.name;
            const auto file = FileSource::openBeneath(m_directory, relative, m_prefix + relative);
            const auto bytes = file.ok() ? readAll(**file, 0, (*file)->size(), ParamBytes)
                                         : Result<std::vector<std::byte>>(file.error());
            if (!bytes.ok()) {
                m_table.addGap(Severity::Warning, "unreadable", relative, bytes.error().message());
                continue;
            }
            const KeyPath path{{Key::of(folder), Key::of(entry.name)}};
            m_values.addValue({path,
                               {},
                               stateClass,
                               Value::text(std::string(asText(*bytes))),
                               m_prefix + relative});
        }
        return {};
    }

    const fs::path &m_directory;
    const std::string &m_prefix;
    MetricsTable &m_table;
    CheckpointBuilder &m_values;
    std::stop_token m_stop;
};

} // namespace

Status readMlflowRun(const fs::path &directory, const std::string &prefix, MetricsTable &table,
                     CheckpointBuilder &values, std::stop_token stop)
{
    return StoreReader(directory, prefix, table, values, std::move(stop)).read();
}

bool isMlflowRun(const DirectoryListing &listing)
{
    return has(listing, "meta.yaml", EntryKind::File)
        && has(listing, "metrics", EntryKind::Directory);
}

} // namespace forkpoint
