// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/session.h"

#include "app/core/job_queue.h"
#include "app/core/job_watch.h"
#include "app/core/session_jobs.h"
#include "gpu/backend_registry.h"
#include "loaders/open_run.h"

#include <array>
#include <map>

namespace forkpoint {

using std::chrono::milliseconds;

namespace {

constexpr milliseconds SampleEvery{50};
constexpr std::size_t RememberedSteps = 8;

/// Tags of jobs. Every job but an opening rests on both sides.
constexpr std::array<const char *, 2> OpenTags{"open a", "open b"};
constexpr std::array<const char *, 6> PairTags{"runs",     "step", "facts",
                                               "elements", "next", "export"};

Error cancelled()
{
    return Error{ErrorCode::Cancelled, {}, {}, "was cancelled"};
}

} // namespace

/// The state, all of it touched on the loop's thread only.
class Session::Core
{
public:
    Core(SessionEnvironment environment, SessionListener &listener);

    TaskLoop &loop() { return m_loop; }
    JobQueue &queue() { return m_queue; }

    void findDevice();
    void open(std::size_t side, std::string path);
    void openPair(std::string pathA, std::string pathB);
    void swapSides();
    void closeAll();
    void setOptions(CompareOptions options);
    void selectStep(std::optional<Step> step);
    void requestFacts(PairAddress pair, std::shared_ptr<const DiffStats> known);
    void requestElements(std::uint64_t id, PairAddress pair, ElementQuery query);
    void requestNext(std::uint64_t id, PairAddress pair, Index from, bool backward);
    void exportReport(std::string path);
    void cancel();

private:
    using Phase = SideSnapshot::Phase;

    bool bothOpen() const;
    void setSide(std::size_t side, SideSnapshot snapshot);
    void dropComparison();
    void compareRuns();
    void compareStep();
    void takeComparison(std::shared_ptr<const RunComparison> comparison);
    void takeStep(std::optional<Step> step, std::shared_ptr<const CheckpointComparison> comparison);
    void showStep(std::optional<Step> step, std::shared_ptr<const CheckpointComparison> comparison);
    void remember(std::optional<Step> step, std::shared_ptr<const CheckpointComparison> comparison);
    void exportPending(JobEnd end);
    SessionInputs inputs() const { return {m_engine, m_sides[0].run, m_sides[1].run, m_options}; }
    void renewEngine();

    void add(Job job, JobWatch::Kind kind);
    void sample();

    SessionEnvironment m_environment;
    SessionListener &m_listener;
    std::shared_ptr<Engine> m_engine;

    std::array<SideSnapshot, 2> m_sides;
    std::array<std::uint64_t, 2> m_openings{}; ///< tells the latest opening of a side
    CompareOptions m_options;
    std::shared_ptr<const RunComparison> m_comparison;
    std::optional<Step> m_userStep;
    std::optional<Step> m_shownStep;
    std::map<std::optional<Step>, std::shared_ptr<const CheckpointComparison>> m_remembered;
    std::vector<std::string> m_pendingExports;

    JobWatch m_watch;
    bool m_sampling = false;

    // The threads come last, so that they end before what they use.
    TaskLoop m_loop;
    JobQueue m_queue;
};

Session::Core::Core(SessionEnvironment environment, SessionListener &listener)
    : m_environment(std::move(environment)),
      m_listener(listener),
      m_watch([this](const JobSnapshot &job) { m_listener.jobChanged(job); }),
      m_queue(m_loop, m_environment.patience)
{
    renewEngine();
    m_queue.setAbandoned([this] { renewEngine(); });
}

/// A thread of the engine may be stuck for good; those who hold the old one keep it.
void Session::Core::renewEngine()
{
    m_engine = std::make_shared<Engine>(m_environment.makeBackend, m_environment.threads);
}

// --- jobs ---------------------------------------------------------------------------------------

void Session::Core::add(Job job, JobWatch::Kind kind)
{
    const auto id = std::make_shared<JobId>(0);
    job.ended = [this, id, title = job.title, kind,
                 then = std::move(job.ended)](JobEnd end, const Error *error) {
        m_watch.ended(*id, title, kind, end, error);
        if (then)
            then(end, error);
        sample();
    };
    const std::string title = job.title;
    *id = m_queue.add(std::move(job));
    m_watch.added(*id, title, kind);
    if (!m_sampling) {
        m_sampling = true;
        m_loop.postAfter(SampleEvery, [this] {
            m_sampling = false;
            sample();
        });
    }
}

/// Shows how far the running job is, and looks again while there is one.
void Session::Core::sample()
{
    m_watch.sample(m_queue.running());
    if (m_sampling || m_queue.idle())
        return;
    m_sampling = true;
    m_loop.postAfter(SampleEvery, [this] {
        m_sampling = false;
        sample();
    });
}

void Session::Core::cancel()
{
    m_pendingExports.clear();
    m_queue.cancelAll();
}

void Session::Core::findDevice()
{
    Job job;
    job.title = "Finding the device";
    job.lane = Lane::Interactive;
    job.batch = [engine = m_engine, listener = &m_listener](JobControl &control) {
        const std::size_t threads = engine->pool().threadCount();
        const std::string text = engine->backend().description() + ", " + std::to_string(threads)
            + (threads == 1 ? " thread" : " threads");
        control.post([listener, text] { listener->deviceChanged(text); });
        return Result<Batch>(Batch::Done);
    };
    add(std::move(job), JobWatch::Kind::Minor);
}

// --- the two sides ------------------------------------------------------------------------------

bool Session::Core::bothOpen() const
{
    return m_sides[0].phase == Phase::Open && m_sides[1].phase == Phase::Open;
}

void Session::Core::setSide(std::size_t side, SideSnapshot snapshot)
{
    m_sides[side] = std::move(snapshot);
    m_listener.sideChanged(SessionSide(side), m_sides[side]);
}

void Session::Core::open(std::size_t side, std::string path)
{
    m_queue.cancelTag(OpenTags[side]);
    dropComparison();
    m_userStep.reset();
    const std::uint64_t opening = ++m_openings[side];
    setSide(side, {Phase::Opening, path, nullptr, {}});

    Job job;
    job.title = "Opening " + path;
    job.tag = OpenTags[side];
    job.batch = openRunBatch(m_environment.openRun, path,
                             [this, side, opening, path](std::shared_ptr<const Run> run) {
                                 if (opening == m_openings[side])
                                     setSide(side, {Phase::Open, path, std::move(run), {}});
                             });
    job.ended = [this, side, opening, path](JobEnd end, const Error *error) {
        if (opening != m_openings[side])
            return;
        if (end != JobEnd::Finished)
            setSide(side, {Phase::Failed, path, nullptr, error ? *error : cancelled()});
        else if (bothOpen())
            compareRuns();
    };
    add(std::move(job), JobWatch::Kind::Major);
}

void Session::Core::openPair(std::string pathA, std::string pathB)
{
    m_queue.cancelTag(OpenTags[1]); // B's old opening must not hold up A's new one
    open(0, std::move(pathA));
    open(1, std::move(pathB));
}

void Session::Core::swapSides()
{
    for (std::size_t side : {0u, 1u})
        if (m_sides[side].phase == Phase::Opening)
            return; // its answer would come to the wrong side
    std::swap(m_sides[0], m_sides[1]);
    dropComparison();
    setSide(0, m_sides[0]);
    setSide(1, m_sides[1]);
    if (bothOpen())
        compareRuns();
}

void Session::Core::closeAll()
{
    cancel();
    for (std::size_t side : {0u, 1u}) {
        ++m_openings[side];
        setSide(side, {});
    }
    m_userStep.reset();
    dropComparison();
}

void Session::Core::setOptions(CompareOptions options)
{
    m_options = std::move(options);
    dropComparison();
    if (bothOpen())
        compareRuns();
}

/// Ends what rests on the two sides as they were.
void Session::Core::dropComparison()
{
    for (const char *tag : PairTags)
        m_queue.cancelTag(tag);
    m_pendingExports.clear();
    m_remembered.clear();
    m_shownStep.reset();
    if (!m_comparison)
        return;
    m_comparison.reset();
    m_listener.comparisonChanged(nullptr);
    m_listener.stepChanged(std::nullopt, nullptr);
}

// --- comparing ----------------------------------------------------------------------------------

void Session::Core::compareRuns()
{
    Job job;
    job.title = "Comparing " + m_sides[0].path + " with " + m_sides[1].path;
    job.tag = "runs";
    job.batch = compareRunsBatch(inputs(), [this](std::shared_ptr<const RunComparison> comparison) {
        takeComparison(std::move(comparison));
    });
    job.ended = [this](JobEnd end, const Error *) { exportPending(end); };
    add(std::move(job), JobWatch::Kind::Major);
    if (m_userStep)
        compareStep();
}

void Session::Core::takeComparison(std::shared_ptr<const RunComparison> comparison)
{
    m_comparison = std::move(comparison);
    m_listener.comparisonChanged(m_comparison);
    const std::shared_ptr<const CheckpointComparison> shown(m_comparison, &m_comparison->shown);
    const std::optional<Step> step = m_comparison->shownStep;
    if (m_comparison->finished)
        remember(step, shown);
    const bool known = step || m_comparison->finished || m_comparison->steps.empty();
    if (!m_userStep && known)
        showStep(step, shown);
    else if (m_userStep == step && m_comparison->finished)
        showStep(step, shown);
}

void Session::Core::selectStep(std::optional<Step> step)
{
    m_userStep = step;
    if (!bothOpen())
        return;
    if (!step) {
        if (m_comparison)
            takeComparison(m_comparison);
        return;
    }
    compareStep();
}

/// Shows the step that the user selected, from what is known or by comparing it.
void Session::Core::compareStep()
{
    const std::optional<Step> step = m_userStep;
    m_queue.cancelTag("step");
    if (const auto known = m_remembered.find(step); known != m_remembered.end()) {
        showStep(step, known->second);
        return;
    }
    showStep(step, nullptr);
    Job job;
    job.title = "Comparing step " + std::to_string(*step);
    job.tag = "step";
    job.lane = Lane::Interactive;
    job.batch = compareStepBatch(
        inputs(), step, [this, step](std::shared_ptr<const CheckpointComparison> comparison) {
            takeStep(step, std::move(comparison));
        });
    add(std::move(job), JobWatch::Kind::Major);
}

void Session::Core::takeStep(std::optional<Step> step,
                             std::shared_ptr<const CheckpointComparison> comparison)
{
    if (comparison->finished)
        remember(step, comparison);
    if (m_userStep == step)
        showStep(step, std::move(comparison));
}

void Session::Core::showStep(std::optional<Step> step,
                             std::shared_ptr<const CheckpointComparison> comparison)
{
    m_shownStep = step;
    m_listener.stepChanged(step, std::move(comparison));
}

void Session::Core::remember(std::optional<Step> step,
                             std::shared_ptr<const CheckpointComparison> comparison)
{
    if (m_remembered.size() >= RememberedSteps && !m_remembered.contains(step))
        m_remembered.erase(m_remembered.begin());
    m_remembered[step] = std::move(comparison);
}

// --- one pair -----------------------------------------------------------------------------------

void Session::Core::requestFacts(PairAddress pair, std::shared_ptr<const DiffStats> known)
{
    if (!bothOpen())
        return;
    Job job;
    job.title = "Measuring a tensor";
    job.tag = "facts";
    job.lane = Lane::Interactive;
    job.batch = pairFactsBatch(inputs(), pair, std::move(known),
                               [this](PairFacts facts) { m_listener.factsChanged(facts); });
    add(std::move(job), JobWatch::Kind::Minor);
}

void Session::Core::requestElements(std::uint64_t id, PairAddress pair, ElementQuery query)
{
    if (!bothOpen()) {
        m_listener.requestFailed(id, Error{ErrorCode::Usage, {}, {}, "needs both sides open"});
        return;
    }
    // Answered at the end, so that a request that was dropped has no answer beside its failure.
    const auto answer = std::make_shared<std::shared_ptr<const ElementPage>>();
    Job job;
    job.title = "Reading elements";
    job.tag = "elements";
    job.lane = Lane::Interactive;
    job.batch =
        elementsBatch(inputs(), pair, query, [answer](std::shared_ptr<const ElementPage> page) {
            *answer = std::move(page);
        });
    job.ended = [this, id, answer](JobEnd end, const Error *error) {
        if (end == JobEnd::Finished)
            m_listener.elementsReady(id, *answer);
        else
            m_listener.requestFailed(id, error ? *error : cancelled());
    };
    add(std::move(job), JobWatch::Kind::Minor);
}

void Session::Core::requestNext(std::uint64_t id, PairAddress pair, Index from, bool backward)
{
    if (!bothOpen()) {
        m_listener.requestFailed(id, Error{ErrorCode::Usage, {}, {}, "needs both sides open"});
        return;
    }
    const auto answer = std::make_shared<std::optional<Index>>();
    Job job;
    job.title = "Looking for the next difference";
    job.tag = "next";
    job.lane = Lane::Interactive;
    job.batch = nextDifferenceBatch(inputs(), pair, from, backward,
                                    [answer](std::optional<Index> index) { *answer = index; });
    job.ended = [this, id, answer](JobEnd end, const Error *error) {
        if (end == JobEnd::Finished)
            m_listener.nextDifferenceReady(id, *answer);
        else
            m_listener.requestFailed(id, error ? *error : cancelled());
    };
    add(std::move(job), JobWatch::Kind::Minor);
}

// --- export -------------------------------------------------------------------------------------

/// A report is of the whole comparison: one that is under way is waited for.
void Session::Core::exportReport(std::string path)
{
    if (!m_comparison || !m_comparison->finished) {
        m_pendingExports.push_back(std::move(path));
        if (!m_queue.hasTag("runs"))
            exportPending(JobEnd::Cancelled);
        return;
    }
    Job job;
    job.title = "Exporting " + path;
    job.batch = exportBatch(m_comparison, m_options, std::move(path));
    add(std::move(job), JobWatch::Kind::Major);
}

void Session::Core::exportPending(JobEnd end)
{
    const std::vector<std::string> paths = std::exchange(m_pendingExports, {});
    for (const std::string &path : paths) {
        if (end == JobEnd::Finished && m_comparison && m_comparison->finished) {
            exportReport(path);
            continue;
        }
        const Error error{ErrorCode::Usage, path, {}, "needs a comparison that has finished"};
        m_watch.ended(0, "Exporting " + path, JobWatch::Kind::Major, JobEnd::Failed, &error);
    }
}

// --- the face of it -----------------------------------------------------------------------------

SessionEnvironment SessionEnvironment::standard()
{
    SessionEnvironment environment;
    environment.openRun = [](const std::string &path, std::stop_token stop) {
        return forkpoint::openRun(path, OpenOptions{}, std::move(stop));
    };
    environment.makeBackend = [] {
        Result<std::unique_ptr<ComputeBackend>> best = forkpoint::makeBackend("auto");
        if (!best.ok())
            best = forkpoint::makeBackend("cpu"); // which every build has
        return std::shared_ptr<const ComputeBackend>(std::move(best).value());
    };
    return environment;
}

Session::Session(SessionEnvironment environment, SessionListener &listener)
    : m_core(std::make_unique<Core>(std::move(environment), listener))
{
    m_core->loop().post([core = m_core.get()] { core->findDevice(); });
}

Session::~Session()
{
    shutdown(milliseconds(0));
}

void Session::openSide(SessionSide side, std::string path)
{
    m_core->loop().post([core = m_core.get(), side, path = std::move(path)]() mutable {
        core->open(std::size_t(side), std::move(path));
    });
}

void Session::openPair(std::string pathA, std::string pathB)
{
    m_core->loop().post(
        [core = m_core.get(), a = std::move(pathA), b = std::move(pathB)]() mutable {
            core->openPair(std::move(a), std::move(b));
        });
}

void Session::swapSides()
{
    m_core->loop().post([core = m_core.get()] { core->swapSides(); });
}

void Session::closeAll()
{
    m_core->loop().post([core = m_core.get()] { core->closeAll(); });
}

void Session::setOptions(CompareOptions options)
{
    m_core->loop().post([core = m_core.get(), options = std::move(options)]() mutable {
        core->setOptions(std::move(options));
    });
}

void Session::selectStep(std::optional<Step> step)
{
    m_core->loop().post([core = m_core.get(), step] { core->selectStep(step); });
}

void Session::requestFacts(PairAddress pair, std::shared_ptr<const DiffStats> known)
{
    m_core->loop().post([core = m_core.get(), pair, known = std::move(known)]() mutable {
        core->requestFacts(pair, std::move(known));
    });
}

void Session::requestElements(std::uint64_t id, PairAddress pair, ElementQuery query)
{
    m_core->loop().post(
        [core = m_core.get(), id, pair, query] { core->requestElements(id, pair, query); });
}

void Session::requestNextDifference(std::uint64_t id, PairAddress pair, Index from, bool backward)
{
    m_core->loop().post([core = m_core.get(), id, pair, from, backward] {
        core->requestNext(id, pair, from, backward);
    });
}

void Session::exportReport(std::string path)
{
    m_core->loop().post([core = m_core.get(), path = std::move(path)]() mutable {
        core->exportReport(std::move(path));
    });
}

void Session::cancel()
{
    m_core->loop().post([core = m_core.get()] { core->cancel(); });
}

bool Session::shutdown(milliseconds timeout)
{
    const bool rested = m_core->queue().shutdown(timeout);
    m_core->loop().quit();
    return rested;
}

} // namespace forkpoint
