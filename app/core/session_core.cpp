// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/session_core.h"

namespace forkpoint {

using std::chrono::milliseconds;

namespace {

constexpr milliseconds SampleEvery{50};
constexpr std::size_t RememberedSteps = 8;

/// Tags of jobs. Every job but an opening rests on both sides.
constexpr std::array<const char *, 2> OpenTags{"open a", "open b"};
constexpr std::array<const char *, 10> PairTags{"runs", "step",    "facts", "elements", "next",
                                                "map",  "history", "nan",   "files",    "export"};

Error cancelled()
{
    return Error{ErrorCode::Cancelled, {}, {}, "was cancelled"};
}

} // namespace

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

/// Reads both sides anew; the selected step stays.
void Session::Core::reload()
{
    const std::optional<Step> step = m_userStep;
    for (const std::size_t side : {0u, 1u}) {
        if (m_sides[side].phase != Phase::Empty)
            open(side, m_sides[side].path);
    }
    m_userStep = step;
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
    m_shown.reset();
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
    if (m_comparison->finished) {
        remember(step, shown);
        if (m_engine->hadIncidents())
            findDevice(); // it is not what it was
    }
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
    m_shown = comparison;
    m_listener.stepChanged(step, std::move(comparison));
}

void Session::Core::remember(std::optional<Step> step,
                             std::shared_ptr<const CheckpointComparison> comparison)
{
    if (m_remembered.size() >= RememberedSteps && !m_remembered.contains(step))
        m_remembered.erase(m_remembered.begin());
    m_remembered[step] = std::move(comparison);
}

} // namespace forkpoint
