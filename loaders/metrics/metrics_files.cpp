// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/metrics/metrics_files.h"

#include "loaders/checkpoint_directory.h"
#include "loaders/metrics/event_file_chains.h"
#include "loaders/metrics/metrics_console.h"
#include "loaders/metrics/metrics_csv.h"
#include "loaders/metrics/metrics_jsonl.h"
#include "loaders/metrics/metrics_merge.h"
#include "loaders/metrics/metrics_mlflow.h"
#include "loaders/metrics/metrics_tensorboard.h"
#include "loaders/metrics/metrics_trainer_state.h"
#include "loaders/metrics/metrics_wandb.h"
#include "loaders/storage/file_source.h"
#include "loaders/storage/gzip_source.h"
#include "loaders/storage/line_reader.h"
#include "loaders/storage/platform_directory.h"
#include "loaders/storage/tar_directory.h"

#include <algorithm>
#include <array>

namespace forkpoint {

namespace {

namespace fs = std::filesystem;
using FilePtr = std::shared_ptr<const ByteSource>;

/// Folders in which loggers write beside checkpoints.
constexpr std::array<std::string_view, 13> LogFolders = {
    "runs",  "logs",   "log",    "tensorboard", "tb",     "tb_logs",  "lightning_logs",
    "wandb", "mlruns", "events", "metrics",     "mlflow", "summaries"};

/// Levels that are looked into for logs: mlruns/EXPERIMENT/RUN, wandb/offline-run-DATE-ID.
constexpr int LogLevels = 3;
constexpr std::string_view TrainerStateName = "trainer_state.json";

/// How far a text is looked into that the user named.
constexpr std::uint64_t NamedProbeBytes = 64u << 20;

enum class Kind { None, JsonLines, Csv, TensorBoard, Wandb, TrainerState, Console };

std::string formatOf(Kind kind)
{
    switch (kind) {
    case Kind::TensorBoard: return "tensorboard";
    case Kind::Wandb: return "wandb";
    case Kind::TrainerState: return "trainer-state";
    case Kind::Console: return "console-log";
    default: return "metrics";
    }
}

std::string_view withoutGzip(std::string_view name)
{
    constexpr std::string_view Ending = ".gz";
    return name.ends_with(Ending) ? name.substr(0, name.size() - Ending.size()) : name;
}

bool isTableName(std::string_view path)
{
    const std::string_view name = withoutGzip(path);
    return name.ends_with(".jsonl") || name.ends_with(".ndjson") || name.ends_with(".csv");
}

bool isConsoleName(std::string_view path)
{
    const std::string_view name = withoutGzip(path);
    return name.ends_with(".log") || name.ends_with(".out") || name.ends_with(".err")
        || name.ends_with(".txt");
}

/// By the first line that is not blank.
Kind tableKind(const ByteSource &source)
{
    constexpr int MostLines = 3;
    LineReader lines(source, limits::MetricsLineBytes, {}, MostLines * limits::MetricsLineBytes);
    for (int i = 0; i < MostLines; ++i) {
        const auto line = lines.next();
        if (!line.ok() || !*line || (*line)->tooLong)
            return Kind::None;
        if (isJsonlMetricsLine((*line)->text))
            return Kind::JsonLines;
        if (isCsvMetricsHeader((*line)->text))
            return Kind::Csv;
        if (!(*line)->text.empty())
            return Kind::None;
    }
    return Kind::None;
}

Kind kindOf(const ByteSource &source, std::uint64_t probeBytes)
{
    if (isTensorBoard(source))
        return Kind::TensorBoard;
    if (isWandb(source))
        return Kind::Wandb;
    if (isTrainerState(source))
        return Kind::TrainerState;
    const Kind table = tableKind(source);
    if (table != Kind::None)
        return table;
    return isConsoleMetrics(source, probeBytes) ? Kind::Console : Kind::None;
}

bool isCompressed(const ByteSource &source)
{
    constexpr std::uint64_t HeadBytes = 3;
    const auto head = readAll(source, 0, std::min(source.size(), HeadBytes), HeadBytes);
    return head.ok() && isGzip(*head);
}

/// The same of what a gzip file holds, of which no more is decoded than to tell.
Kind kindOfContents(const ByteSource &source, std::uint64_t probeBytes)
{
    if (!isCompressed(source))
        return kindOf(source, probeBytes);
    auto head = gzipHead(source, limits::ConsoleProbeBytes);
    if (!head.ok())
        return Kind::None;
    return kindOf(MemorySource(source.name(), std::move(*head)), limits::ConsoleProbeBytes);
}

/// Reads the files of one run, event files together and last.
class Collector
{
public:
    explicit Collector(const std::stop_token &stop, std::set<std::string> others = {})
        : m_stop(stop),
          m_others(std::move(others))
    {
    }

    bool add(FilePtr file, Kind kind)
    {
        if (kind == Kind::None)
            return false;
        if (isCompressed(*file))
            file = unpacked(std::move(file));
        if (!file)
            return true;
        if (kind == Kind::TensorBoard) {
            m_events.push_back(file);
            return true;
        }
        MetricsTable table(file->name());
        take(formatOf(kind), table, read(*file, kind, table));
        return true;
    }

    /// What is in one directory. `prefix` goes before names in diagnostics.
    void addLevel(const fs::path &directory, const DirectoryListing &listing,
                  const std::string &prefix)
    {
        if (isMlflowRun(listing)) {
            MetricsTable table(prefix + "metrics");
            take("mlflow", table, readMlflowRun(directory, prefix, table, m_found.values, m_stop));
        }
        for (const DirectoryEntry &entry : listing.entries) {
            if (mayHold(entry, prefix))
                addEntry(directory, entry.name, prefix);
        }
    }

    void addEntry(const fs::path &directory, const std::string &name, const std::string &prefix)
    {
        const auto file = FileSource::openBeneath(directory, name, prefix + name);
        if (!file.ok()) {
            m_found.diagnostics.push_back(toDiagnostic(file.error(), Severity::Warning));
            m_found.complete = false;
            return;
        }
        const bool taken = add(*file, kindOfContents(**file, limits::ConsoleProbeBytes));
        if (!taken && isTableName(name) && (*file)->size() > 0)
            note("ignored", prefix + name, "holds no metrics by step; not read");
    }

    FoundMetrics finish()
    {
        if (!m_events.empty())
            addEventFiles();
        return std::move(m_found);
    }

    bool empty() const { return m_found.empty() && m_events.empty(); }

    /// Whether a directory holds metrics; none of it is read any further than to tell.
    bool hasAny(const fs::path &directory, const DirectoryListing &listing,
                const std::string &prefix) const
    {
        if (isMlflowRun(listing)) {
            const auto metrics = listDirectory(directory / "metrics", prefix + "metrics");
            if (metrics.ok() && !metrics->entries.empty())
                return true;
        }
        return std::any_of(
            listing.entries.begin(), listing.entries.end(), [&](const DirectoryEntry &entry) {
                if (!mayHold(entry, prefix))
                    return false;
                const auto file =
                    FileSource::openBeneath(directory, entry.name, prefix + entry.name);
                return file.ok() && kindOfContents(**file, limits::ConsoleProbeBytes) != Kind::None;
            });
    }

private:
    /// By its name.
    bool mayHold(const DirectoryEntry &entry, const std::string &prefix) const
    {
        const bool isFile = entry.kind == EntryKind::File || entry.kind == EntryKind::LinkToFile;
        const bool isNamed = isMetricsName(entry.name) || isConsoleName(entry.name)
            || withoutGzip(entry.name) == TrainerStateName;
        return isFile && isNamed && !entry.name.starts_with('.') && !m_stop.stop_requested()
            && m_others.count(prefix + entry.name) == 0;
    }

    /// Null where nothing can be decoded, which is told.
    FilePtr unpacked(FilePtr file)
    {
        auto gzip = openMeasuredGzip(file, m_stop);
        if (!gzip.ok()) {
            fail(gzip.error());
            return nullptr;
        }
        const auto tell = [&](std::string code, std::string place, std::string text) {
            m_found.complete = false;
            m_found.diagnostics.push_back({Severity::Warning, std::move(code), file->name(),
                                           std::move(place), std::move(text)});
        };
        if (gzip->torn)
            tell("torn-gzip", {}, "its gzip stream is cut; the lines up to there are read");
        if (gzip->rest && !gzip->rest->isPadding)
            tell("behind-gzip", "byte " + std::to_string(gzip->rest->byte), gzip->rest->text);
        return gzip->decoded;
    }

    Status read(const ByteSource &file, Kind kind, MetricsTable &table)
    {
        switch (kind) {
        case Kind::Wandb: return readWandb(file, table, m_found.values, m_stop);
        case Kind::TrainerState: return readTrainerState(file, table, m_stop);
        case Kind::Console: return readConsoleMetrics(file, table, m_stop);
        case Kind::Csv: return readCsvMetrics(file, table, m_stop);
        default: return readJsonlMetrics(file, table, m_stop);
        }
    }

    void addEventFiles()
    {
        auto chains = eventFileChains(std::move(m_events), m_stop);
        if (!chains.ok()) {
            fail(chains.error());
            return;
        }
        std::vector<TableBeside> tables;
        for (EventFileChain &chain : *chains) {
            std::string name = chain.files.front()->name();
            if (chain.files.size() > 1)
                name += " and " + std::to_string(chain.files.size() - 1) + " more";
            tables.push_back(
                {MetricsTable(std::move(name)), std::move(chain.label), chain.telling});
            const Status status = readTensorBoard(chain.files, tables.back().table, m_stop);
            if (!status.ok())
                fail(status.error());
        }
        mergeSideBySide("tensorboard", std::move(tables), m_found);
    }

    void take(const std::string &format, MetricsTable &table, const Status &status)
    {
        mergeMetrics(format, table, m_found);
        if (!status.ok())
            fail(status.error());
    }

    void fail(const Error &error)
    {
        m_found.diagnostics.push_back(toDiagnostic(error, Severity::Error));
        m_found.complete = false;
    }

    void note(std::string code, std::string file, std::string text)
    {
        m_found.diagnostics.push_back(
            {Severity::Note, std::move(code), std::move(file), {}, std::move(text)});
    }

    const std::stop_token &m_stop;
    std::set<std::string> m_others;
    FoundMetrics m_found;
    std::vector<FilePtr> m_events;
};

/// A folder that was listed, and its path below the one the user named.
struct Folder
{
    fs::path path;
    std::string prefix;
    DirectoryListing listing;
};

/// Calls visit(folder) for each folder below, level by level; true keeps it from going deeper.
template <class Visit>
void walkFolders(const fs::path &directory, const std::string &prefix,
                 const DirectoryListing &listing, int levels, Visit visit)
{
    for (const DirectoryEntry &entry : listing.entries) {
        if (entry.kind != EntryKind::Directory || entry.name.starts_with('.'))
            continue;
        const std::string name = prefix + entry.name;
        auto below = listDirectory(directory / entry.name, name);
        if (!below.ok())
            continue; // what cannot be listed holds no log that could be read
        const Folder folder{directory / entry.name, name + "/", std::move(*below)};
        if (!visit(folder) && levels > 1)
            walkFolders(folder.path, folder.prefix, folder.listing, levels - 1, visit);
    }
}

Error severalRuns(const std::vector<std::string> &folders)
{
    std::vector<std::string> names;
    for (const std::string &folder : folders)
        names.push_back(folder.substr(0, folder.size() - 1));
    return {
        ErrorCode::NotFound, {}, {}, "holds several runs, name one of them: " + listNames(names)};
}

} // namespace

bool isMetricsName(const std::string &name)
{
    return isTableName(name) || name.find("tfevents") != std::string::npos
        || name.ends_with(".wandb");
}

std::optional<FoundMetrics> readMetricsFile(FilePtr file, const std::stop_token &stop)
{
    Collector collector(stop);
    if (!collector.add(file, kindOfContents(*file, NamedProbeBytes)))
        return std::nullopt;
    return collector.finish();
}

FoundMetrics findMetricsBeside(const fs::path &directory, const DirectoryListing &listing,
                               const std::string &newest, const std::set<std::string> &others,
                               const std::stop_token &stop)
{
    Collector collector(stop, others);
    collector.addLevel(directory, listing, {});
    DirectoryListing logs;
    for (const DirectoryEntry &entry : listing.entries) {
        if (std::find(LogFolders.begin(), LogFolders.end(), entry.name) != LogFolders.end())
            logs.entries.push_back(entry);
    }
    walkFolders(directory, {}, logs, LogLevels, [&](const Folder &folder) {
        collector.addLevel(folder.path, folder.listing, folder.prefix);
        return isMlflowRun(folder.listing);
    });
    const std::string state(TrainerStateName);
    if (!newest.empty() && isDirectory(directory / newest / state, state).ok())
        collector.addEntry(directory / newest, state, newest + "/");
    return collector.finish();
}

Result<FoundMetrics> findMetricsAlone(const fs::path &directory, const DirectoryListing &listing,
                                      const std::stop_token &stop)
{
    Collector own(stop);
    own.addLevel(directory, listing, {});
    if (!own.empty())
        return own.finish();
    std::vector<std::string> names;
    std::optional<Folder> run;
    walkFolders(directory, {}, listing, LogLevels, [&](const Folder &folder) {
        if (!own.hasAny(folder.path, folder.listing, folder.prefix))
            return false;
        names.push_back(folder.prefix);
        if (!run)
            run = folder;
        return true;
    });
    if (!run)
        return FoundMetrics();
    if (names.size() > 1)
        return severalRuns(names);
    Collector only(stop);
    only.addLevel(run->path, run->listing, run->prefix);
    return only.finish();
}

} // namespace forkpoint
