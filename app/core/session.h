// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/recorded_report.h"
#include "model/compare/element_map.h"
#include "model/compare/element_reader.h"
#include "model/compare/non_finite_search.h"
#include "model/compare/pair_layout.h"
#include "model/compare/run_comparison.h"
#include "model/compare/tensor_history.h"
#include "model/compute_backend.h"
#include "model/folder_listing.h"
#include "model/run.h"
#include "model/traces/mapping_trial.h"
#include "model/traces/record_drift.h"
#include "model/traces/record_window.h"
#include "model/traces/trace_outline.h"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace forkpoint {

class MappingSheet;

enum class SessionSide { A, B };

struct SideSnapshot
{
    enum class Phase { Empty, Opening, Open, Failed, Recorded };
    Phase phase = Phase::Empty;
    std::string path;
    std::string format;             ///< when Recorded: all that a report says of a side
    std::shared_ptr<const Run> run; ///< when Open
    std::optional<Error> error;     ///< when Failed
    std::shared_ptr<const TraceOutline> outline; ///< when Open and it has a trace
};

/// The one job that is running or was the last to end.
struct JobSnapshot
{
    enum class Phase { Idle, Running, Finished, Failed, Cancelled };
    Phase phase = Phase::Idle;
    std::string title;
    Progress progress;
    double bytesPerSecond = 0.0;
    std::optional<Error> error; ///< when Failed
};

/// A row of a table at one step: positions in the two catalogues.
struct PairAddress
{
    std::optional<Step> step;
    std::optional<TensorIndex> a, b;

    bool operator==(const PairAddress &) const = default;
};

/// What is known of one pair beyond its row.
struct PairFacts
{
    PairAddress address;
    std::shared_ptr<const TensorRef> a, b;  ///< null where a side lacks it
    std::shared_ptr<const DiffStats> stats; ///< null until measured
    /// What the statistics count: one side alone where the other has the tensor and cannot be read.
    PairAddress measured;
};

/// Hears what a session does. Everything is called on the session's thread, in order; results are
/// immutable and may be kept and handed on.
class SessionListener
{
public:
    virtual ~SessionListener() = default;

    virtual void sideChanged(SessionSide side, const SideSnapshot &snapshot) = 0;
    virtual void comparisonChanged(std::shared_ptr<const RunComparison> comparison) = 0;
    /// The selected step and its comparison, null until there is a first batch.
    virtual void stepChanged(std::optional<Step> step,
                             std::shared_ptr<const CheckpointComparison> comparison) = 0;
    virtual void factsChanged(const PairFacts &facts) = 0;
    virtual void elementsReady(std::uint64_t id, std::shared_ptr<const ElementPage> page) = 0;
    virtual void nextDifferenceReady(std::uint64_t id, std::optional<Index> index) = 0;
    /// Answers that grow: several of one id may come, the last of them complete.
    virtual void mapReady(std::uint64_t, std::shared_ptr<const ElementMap>) {}
    virtual void layoutReady(std::uint64_t, std::shared_ptr<const PairLayout>) {}
    virtual void historyReady(std::uint64_t, std::shared_ptr<const TensorHistory>) {}
    virtual void nonFiniteReady(std::uint64_t, std::shared_ptr<const NonFiniteFindings>) {}
    virtual void recordsReady(std::uint64_t, std::shared_ptr<const RecordWindow>) {}
    virtual void driftReady(std::uint64_t, std::shared_ptr<const RecordDrift>) {}
    virtual void recordTextReady(std::uint64_t, std::shared_ptr<const RecordText>) {}
    virtual void folderListed(std::uint64_t, std::shared_ptr<const FolderListing>) {}
    virtual void mappingTried(std::uint64_t, std::shared_ptr<const MappingTrial>) {}
    virtual void sheetRead(std::uint64_t, std::shared_ptr<const std::string>) {}
    /// The sheet by which sides are read from now on, or null.
    virtual void mappingChanged(std::shared_ptr<const MappingSheet>) {}
    /// A report was opened in place of two sides, which are Recorded until another is opened.
    virtual void reportOpened(const std::string &, std::shared_ptr<const RecordedReport>) {}
    /// The end of a request that has no answer, or none that is complete.
    virtual void requestFailed(std::uint64_t id, const Error &error) = 0;
    /// What changed in the files of the shown step since they were read, or nothing.
    virtual void filesChecked(const std::optional<Error> &) {}
    virtual void jobChanged(const JobSnapshot &job) = 0;
    virtual void deviceChanged(const std::string &description) = 0;
};

/// What digests that are known of unchanged files are to a comparison.
enum class IndexUse {
    Off,
    Use,    ///< equal ones stand for the bytes
    Verify, ///< everything is read, and remembered
};

/// What a session needs from below; tests put their own in.
struct SessionEnvironment
{
    using OpenRun = std::function<Result<std::shared_ptr<const Run>>(const std::string &path,
                                                                     std::stop_token stop)>;
    OpenRun openRun;
    using OpenMapped = std::function<Result<std::shared_ptr<const Run>>(
        const std::string &path, std::shared_ptr<const MappingSheet> sheet, std::stop_token stop)>;
    OpenMapped openMapped; ///< by a mapping sheet; where sheets are used
    /// Asked first; may be empty.
    std::function<Result<std::optional<RecordedReport>>(const std::string &path)> reportIn;
    std::function<std::shared_ptr<const ComputeBackend>()> makeBackend;
    /// What is known of files that were read before, for one comparison; `believe` false: to be told
    /// what is read, and no more. May be empty, or give nothing.
    std::function<std::shared_ptr<KnownDigests>(const ComputeBackend &backend, bool believe)>
        makeIndex;
    std::size_t threads = 0; ///< as ThreadPool's
    /// How long a cancelled job may take to come back before its thread is given up.
    std::chrono::milliseconds patience{100};

    /// The loaders, the user's index, and the best device there is.
    static SessionEnvironment standard();
};

/// Two runs, their comparison, and everything asked about it, behind one thread that owns all state
/// and never waits: whatever may take time is a job. Every function may be called from any thread
/// and returns at once; what comes of it is heard by the listener.
class Session
{
public:
    /// `listener` outlives the session.
    Session(SessionEnvironment environment, SessionListener &listener);
    ~Session(); ///< shuts down, leaving alone what is stuck
    Session(const Session &) = delete;
    Session &operator=(const Session &) = delete;

    /// Opening a side closes what was there. When both are open, they are compared; while one is
    /// alone, its tensors are listed as not compared. A file that holds a report takes the place of
    /// both: its result is shown, and nothing can be read.
    /// With a sheet, it is read by that (as by useMapping()).
    void openSide(SessionSide side, std::string path,
                  std::shared_ptr<const MappingSheet> sheet = nullptr);
    void openPair(std::string pathA, std::string pathB,
                  std::shared_ptr<const MappingSheet> sheet = nullptr);
    void swapSides();
    void closeAll();
    void setOptions(CompareOptions options); ///< compares anew
    /// Compares anew. Verify holds for the sides that are open; the next ones are taken with Use.
    void setIndexUse(IndexUse use);

    /// Selects a step, whatever the comparison finds. Nothing: the first that differs once it is
    /// known, else the last common one.
    void selectStep(std::optional<Step> step);
    /// Facts of one pair; its statistics too, measured if need be. A newer request drops it.
    void requestFacts(PairAddress pair, std::shared_ptr<const DiffStats> known);
    /// A newer request drops older ones, which fail as cancelled.
    void requestElements(std::uint64_t id, PairAddress pair, ElementQuery query);
    void requestNextDifference(std::uint64_t id, PairAddress pair, Index from, bool backward);

    /// One part of a pair as a grid of cells.
    void requestMap(std::uint64_t id, PairAddress pair, MapQuery query);
    /// Which rank holds which part of a pair.
    void requestLayout(std::uint64_t id, PairAddress pair);
    /// A pair, by the files' own names, over every step.
    void requestHistory(std::uint64_t id, std::string nameA, std::string nameB);
    /// NaN and infinities in all tensors of the shown step.
    void searchNonFinite(std::uint64_t id);

    /// Records of two traces around what is sought, in answers that grow.
    void requestRecords(std::uint64_t id, RecordQuery query);
    /// The lines that they come from.
    void requestRecordText(std::uint64_t id, RecordPlaces places);
    /// One record over the iterations of its rank.
    void requestDrift(std::uint64_t id, DriftQuery query);

    /// Tries the text of a mapping sheet on the first lines of what a path holds; a newer request
    /// drops older ones.
    void tryMapping(std::uint64_t id, std::string path, std::string sheet);
    void readSheet(std::uint64_t id, std::string path);
    /// Writes a sheet for the text at `path`, answered like readSheet().
    void saveSheet(std::uint64_t id, std::string path, std::string sheet, std::string sheetPath);
    /// Opens the path on that side, and the other side anew, by the rules of a sheet. It stays in
    /// use until a pair is opened, all is closed, or a side is opened while the other is empty.
    void useMapping(SessionSide side, std::string path, std::string sheet, std::string sheetPath);

    void listFolder(std::uint64_t id, std::string path); ///< a newer request drops older ones
    void stopListing();
    void checkFiles();                   ///< whether files changed since they were read
    void reload();                       ///< opens both sides anew; the selected step stays
    void exportReport(std::string path); ///< once the comparison has finished
    void saveFile(std::string path, std::string bytes);
    void cancel(); ///< every job

    /// Cancels everything and ends the session's thread; nothing is heard afterwards. False when a
    /// read was still stuck after `timeout`: then only leaving the process ends its thread.
    bool shutdown(std::chrono::milliseconds timeout);

private:
    class Core;
    std::unique_ptr<Core> m_core;
};

} // namespace forkpoint
