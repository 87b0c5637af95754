// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/job_queue.h"
#include "app/core/session.h"
#include "app/core/step_cache.h"
#include "app/core/thread_pool.h"

#include <atomic>
#include <mutex>

namespace forkpoint {

/// What computing needs. Shared by the jobs that use it; a session takes a new one when a thread of
/// the old one is stuck.
class Engine
{
public:
    Engine(std::function<std::shared_ptr<const ComputeBackend>()> makeBackend, std::size_t threads)
        : m_makeBackend(std::move(makeBackend)),
          m_pool(threads)
    {
    }

    /// Made by the first to ask: finding a device may take its time.
    const ComputeBackend &backend();
    /// Whether a device failed since it was found; waits for nobody.
    bool hadIncidents() const { return m_found && !m_backend->incidents().empty(); }
    ThreadPool &pool() { return m_pool; }

private:
    std::function<std::shared_ptr<const ComputeBackend>()> m_makeBackend;
    std::once_flag m_once;
    std::shared_ptr<const ComputeBackend> m_backend;
    std::atomic<bool> m_found = false; ///< m_backend will not change any more
    ThreadPool m_pool;
};

/// Both opened sides and what they are computed with.
struct SessionInputs
{
    std::shared_ptr<Engine> engine;
    std::shared_ptr<const Run> a, b; ///< null where a side is not open
    CompareOptions options;
    decltype(SessionEnvironment::makeIndex) makeIndex; ///< empty: nothing known counts
    bool believesIndex = true;

    /// The options, with an index for one comparison.
    CompareOptions withIndex() const;
};

/// Batches of the jobs of a session: each owns all it uses and hands results to a function that is
/// called on the session's thread.
using JobBatch = std::function<Result<Batch>(JobControl &)>;

template <class T>
using Deliver = std::function<void(T)>;

struct OpenedSide
{
    std::shared_ptr<const Run> run;
    std::shared_ptr<const TraceOutline> outline; ///< null: it has no trace
};

/// Delivers a run, or the report that the file holds. With a sheet, a run that it reads.
JobBatch openSideBatch(const SessionEnvironment &environment, std::string path,
                       std::shared_ptr<const MappingSheet> sheet, Deliver<OpenedSide> deliver,
                       Deliver<std::shared_ptr<RecordedReport>> deliverReport);
JobBatch compareRunsBatch(SessionInputs inputs,
                          Deliver<std::shared_ptr<const RunComparison>> deliver);
JobBatch compareStepBatch(SessionInputs inputs, std::optional<Step> step,
                          Deliver<std::shared_ptr<const CheckpointComparison>> deliver);
/// Whether files of the step changed since they were opened: the first change, or nothing.
JobBatch unchangedBatch(SessionInputs inputs, std::optional<Step> step,
                        Deliver<std::optional<Error>> deliver);
/// The bytes that `forkpoint-cli compare --report` writes for the same comparison and options.
JobBatch exportBatch(SessionInputs inputs, std::shared_ptr<const RunComparison> comparison,
                     ReportOptions options, std::string path);

} // namespace forkpoint
