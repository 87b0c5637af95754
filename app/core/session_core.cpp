// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/session_core.h"

#include "app/core/side_listing.h"

#include <utility>

namespace forkpoint {

using std::chrono::milliseconds;

namespace {

constexpr milliseconds SampleEvery{50};
constexpr std::size_t RememberedSteps = 8;

/// Tags of jobs: openings, and those that rest on the two sides. The listing of a folder does not.
constexpr std::array<const char *, 2> OpenTags{"open a", "open b"};
constexpr std::array<const char *, 14> PairTags{
    "runs",    "step", "list",  "facts",  "elements", "next",        "map",
    "history", "nan",  "files", "layout", "records",  "record text", "drift"};

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

void Session::Core::add(Job job, JobWatch::Kind kind, Then follows)
{
    const auto id = std::make_shared<JobId>(0);
    job.ended = [this, id, title = job.title, kind, follows, cancels = m_cancels,
                 then = std::move(job.ended)](JobEnd end, const Error *error) {
        // It was over when the cancel came, but what it leads to was not.
        if (follows == Then::Compare && end == JobEnd::Finished && cancels != m_cancels)
            end = JobEnd::Cancelled;
        m_watch.ended(*id, title, kind, end, error);
        if (then)
            then(end, error);
        if (error && error->code == ErrorCode::Changed)
            m_listener.filesChecked(*error);
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
    ++m_cancels;
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

void Session::Core::setSide(std::size_t side, SideSnapshot snapshot)
{
    m_sides[side] = std::move(snapshot);
    m_listener.sideChanged(SessionSide(side), m_sides[side]);
}

/// As the user asks: a sheet is for the side beside it, and for no other run.
void Session::Core::openSide(std::size_t side, std::string path,
                             std::shared_ptr<const MappingSheet> sheet)
{
    if (sheet || m_sides[1 - side].phase == Phase::Empty)
        setMapping(std::move(sheet));
    open(side, std::move(path));
}

void Session::Core::open(std::size_t side, std::string path)
{
    m_queue.cancelTag(OpenTags[side]);
    dropComparison();
    leaveReport();
    m_userStep.reset();
    if (m_indexUse == IndexUse::Verify)
        m_indexUse = IndexUse::Use;
    const std::uint64_t opening = ++m_openings[side];
    setSide(side, {Phase::Opening, path, {}, nullptr, {}, nullptr});

    Job job;
    job.title = "Opening " + path;
    job.tag = OpenTags[side];
    job.batch = openSideBatch(
        m_environment, path, m_mapping,
        [this, side, opening, path](OpenedSide opened) {
            if (opening == m_openings[side])
                setSide(side, {Phase::Open, path, {}, opened.run, {}, opened.outline});
        },
        [this, side, opening, path](std::shared_ptr<RecordedReport> report) {
            if (opening == m_openings[side])
                takeReport(side, path, std::move(*report));
        });
    job.ended = [this, side, opening, path](JobEnd end, const Error *error) {
        if (opening != m_openings[side])
            return;
        if (end != JobEnd::Finished)
            setSide(side,
                    {Phase::Failed, path, {}, nullptr, error ? *error : cancelled(), nullptr});
        if (end == JobEnd::Finished && bothOpen())
            compareRuns();
        else
            listTheOnlySide();
    };
    add(std::move(job), JobWatch::Kind::Major, Then::Compare);
}

void Session::Core::openPair(std::string pathA, std::string pathB,
                             std::shared_ptr<const MappingSheet> sheet)
{
    setMapping(std::move(sheet));
    m_queue.cancelTag(OpenTags[1]); // B's old opening must not hold up A's new one
    open(0, std::move(pathA));
    open(1, std::move(pathB));
}

/// Reads both sides anew; the selected step stays.
void Session::Core::reload()
{
    if (m_report) {
        open(0, std::string(m_reportPath));
        return;
    }
    const std::optional<Step> step = m_userStep;
    for (const std::size_t side : {0u, 1u}) {
        if (m_sides[side].phase != Phase::Empty)
            open(side, m_sides[side].path);
    }
    m_userStep = step;
}

void Session::Core::swapSides()
{
    if (m_report)
        return; // what it says is said of A and B
    for (std::size_t side : {0u, 1u})
        if (m_sides[side].phase == Phase::Opening)
            return; // its answer would come to the wrong side
    std::swap(m_sides[0], m_sides[1]);
    dropComparison();
    setSide(0, m_sides[0]);
    setSide(1, m_sides[1]);
    if (bothOpen())
        compareRuns();
    else
        listTheOnlySide();
}

void Session::Core::closeAll()
{
    cancel();
    setMapping(nullptr);
    leaveReport();
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
    compareAnew();
}

void Session::Core::setIndexUse(IndexUse use)
{
    m_indexUse = use;
    compareAnew();
}

void Session::Core::compareAnew()
{
    if (m_report)
        return;
    dropComparison();
    if (bothOpen())
        compareRuns();
}

SessionInputs Session::Core::inputs() const
{
    SessionInputs inputs{m_engine, m_sides[0].run, m_sides[1].run, m_options, {}};
    if (m_indexUse != IndexUse::Off)
        inputs.makeIndex = m_environment.makeIndex;
    inputs.believesIndex = m_indexUse == IndexUse::Use;
    return inputs;
}

/// Ends what rests on the two sides as they were.
void Session::Core::dropComparison()
{
    for (const char *tag : PairTags)
        m_queue.cancelTag(tag);
    m_pendingExports.clear();
    m_remembered.clear();
    m_shownStep.reset();
    const bool shown = m_comparison || m_shown;
    m_shown.reset();
    if (std::exchange(m_comparison, nullptr))
        m_listener.comparisonChanged(nullptr);
    if (shown)
        m_listener.stepChanged(std::nullopt, nullptr);
}

// --- a report -----------------------------------------------------------------------------------

void Session::Core::takeReport(std::size_t side, const std::string &path, RecordedReport report)
{
    const std::size_t other = 1 - side; // its place is taken too
    m_queue.cancelTag(OpenTags[other]);
    ++m_openings[other];
    m_reportPath = path;
    m_report = std::make_shared<const RecordedReport>(std::move(report));
    const RunComparison &comparison = m_report->comparison;
    m_listener.reportOpened(path, m_report);
    setSide(0, {Phase::Recorded, comparison.pathA, comparison.formatA, nullptr, {}, nullptr});
    setSide(1, {Phase::Recorded, comparison.pathB, comparison.formatB, nullptr, {}, nullptr});
    takeComparison(std::shared_ptr<const RunComparison>(m_report, &comparison));
}

/// The caller has dropped its comparison.
void Session::Core::leaveReport()
{
    if (!std::exchange(m_report, nullptr))
        return;
    setSide(0, {});
    setSide(1, {});
}

/// A report has the rows of one step.
void Session::Core::showRecorded(std::optional<Step> step)
{
    const std::optional<Step> recorded = m_comparison->shownStep;
    if (!step || step == recorded)
        showStep(recorded, {m_comparison, &m_comparison->shown});
    else
        showStep(step,
                 notComparable("the report has the rows of step "
                               + (recorded ? std::to_string(*recorded) : "none") + " only"));
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
    // What is refused is there all the same, to be looked at.
    const bool isRefused = m_comparison->finished && !m_report
        && m_comparison->verdict.outcome == Outcome::NotCompared && shown->tensors.empty()
        && shown->values.empty();
    if (isRefused && !m_userStep)
        listSides({}, m_comparison->verdict.reason, [](const Error &) {});
}

void Session::Core::selectStep(std::optional<Step> step)
{
    m_userStep = step;
    if (m_report) {
        showRecorded(step);
        return;
    }
    if (!bothOpen()) {
        listTheOnlySide();
        return;
    }
    if (!step) {
        if (m_comparison)
            takeComparison(m_comparison);
        return;
    }
    compareStep();
}

/// Empty where at least one side has it.
std::string Session::Core::whyNoStep(Step step) const
{
    const Run &a = *m_sides[0].run, &b = *m_sides[1].run;
    if (!a.isSeries() && !b.isSeries())
        return "there is no step " + std::to_string(step)
            + " of whole tensors: neither side is a "
              "series of checkpoints";
    return positionOf(a, step) || positionOf(b, step)
        ? std::string()
        : "neither side has step " + std::to_string(step);
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
    if (const std::string why = whyNoStep(*step); !why.empty()) {
        showStep(step, notComparable(why));
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
