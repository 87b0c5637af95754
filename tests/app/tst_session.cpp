// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/session.h"
#include "gpu/cpu_backend.h"
#include "loaders/open_run.h"
#include "tests/support/session_ear.h"

#include <QDir>
#include <QElapsedTimer>
#include <QFile>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <cstring>
#include <map>
#include <mutex>

using namespace forkpoint;
using namespace std::chrono_literals;

namespace {

/// Where a read stands still until the test lets it go, as in a mount that does not answer.
class Gate
{
public:
    void close() { set(true); }
    void open() { set(false); }
    void pass()
    {
        std::unique_lock lock(m_mutex);
        ++m_waiting;
        m_changed.notify_all();
        m_changed.wait(lock, [&] { return !m_closed; });
        --m_waiting;
        m_changed.notify_all();
    }
    bool waitUntilReached()
    {
        std::unique_lock lock(m_mutex);
        return m_changed.wait_for(lock, 5s, [&] { return m_waiting > 0; });
    }
    bool waitUntilLeft()
    {
        std::unique_lock lock(m_mutex);
        return m_changed.wait_for(lock, 5s, [&] { return m_waiting == 0; });
    }

private:
    void set(bool closed)
    {
        const std::lock_guard lock(m_mutex);
        m_closed = closed;
        m_changed.notify_all();
    }

    std::mutex m_mutex;
    std::condition_variable m_changed;
    bool m_closed = false;
    int m_waiting = 0;
};

using GatePtr = std::shared_ptr<Gate>;

/// float32 tensors in memory, behind a gate.
class MemorySource final : public TensorSource
{
public:
    using Tensors = std::map<std::string, std::vector<float>>;

    MemorySource(Tensors tensors, GatePtr gate) : m_tensors(std::move(tensors)), m_gate(gate)
    {
        m_catalog.format = "memory";
        for (const auto &[name, values] : m_tensors) {
            TensorRef ref;
            ref.path = KeyPath{{Key::of(name)}};
            ref.name = name;
            ref.stateClass = StateClass::Weights;
            ref.dtype = *dtypeByName("float32");
            ref.shape.dims = {values.size()};
            ref.elements = values.size();
            ref.bytes = values.size() * sizeof(float);
            m_catalog.tensors.push_back(std::move(ref));
            m_order.push_back(&values);
        }
    }

    const Catalog &catalog() const override { return m_catalog; }
    Status read(TensorIndex tensor, std::uint64_t first, MutableByteView out) const override
    {
        m_gate->pass();
        std::memcpy(out.data(), reinterpret_cast<const char *>(m_order[tensor]->data()) + first,
                    out.size());
        return {};
    }
    Status unchanged() const override { return {}; }

private:
    Tensors m_tensors;
    GatePtr m_gate;
    Catalog m_catalog;
    std::vector<const std::vector<float> *> m_order;
};

class MemoryRun final : public Run
{
public:
    MemoryRun(std::string path, std::map<Step, MemorySource::Tensors> steps, GatePtr gate)
        : m_path(std::move(path)),
          m_tensors(std::move(steps)),
          m_gate(std::move(gate))
    {
        for (const auto &entry : m_tensors)
            m_steps.push_back({entry.first, m_path + '/' + std::to_string(entry.first), true});
    }

    const std::string &path() const override { return m_path; }
    const std::string &format() const override { return m_format; }
    const std::vector<RunStep> &steps() const override { return m_steps; }
    const std::vector<MetricSeries> &metrics() const override { return m_metrics; }
    const Diagnostics &diagnostics() const override { return m_diagnostics; }
    bool complete() const override { return true; }
    Result<std::shared_ptr<const TensorSource>> open(std::size_t index,
                                                     std::stop_token) const override
    {
        if (m_path == "damaged" && m_steps[index].step == 8)
            return Error{ErrorCode::Truncated, m_path + "/8", {}, "is cut short"};
        return std::shared_ptr<const TensorSource>(
            std::make_shared<MemorySource>(m_tensors.at(*m_steps[index].step), m_gate));
    }

private:
    std::string m_path;
    std::string m_format = "series of memory";
    std::map<Step, MemorySource::Tensors> m_tensors;
    GatePtr m_gate;
    std::vector<RunStep> m_steps;
    std::vector<MetricSeries> m_metrics;
    Diagnostics m_diagnostics;
};

/// All that was heard.
struct Heard
{
    SideSnapshot sides[2];
    std::shared_ptr<const RunComparison> comparison;
    std::optional<Step> step;
    std::shared_ptr<const CheckpointComparison> stepComparison;
    PairFacts facts;
    std::map<std::uint64_t, std::shared_ptr<const ElementPage>> pages;
    std::map<std::uint64_t, std::optional<Index>> next;
    std::map<std::uint64_t, std::vector<std::string>> failures;
    std::vector<JobSnapshot> jobs; ///< starts and ends
    std::string device;
};

class Ear final : public SessionEar<Heard>
{
public:
    bool finished() const
    {
        const Heard h = heard();
        return h.comparison && h.comparison->finished && h.stepComparison
            && h.stepComparison->finished;
    }
    std::size_t ends() const
    {
        const Heard h = heard();
        return std::size_t(std::count_if(h.jobs.begin(), h.jobs.end(), [](const JobSnapshot &j) {
            return j.phase != JobSnapshot::Phase::Running;
        }));
    }

    Gate whenOpen; ///< holds the session's thread up as soon as a side is open

    void sideChanged(SessionSide side, const SideSnapshot &snapshot) override
    {
        if (snapshot.phase == SideSnapshot::Phase::Open)
            whenOpen.pass();
        set([&](Heard &h) { h.sides[std::size_t(side)] = snapshot; });
    }
    void comparisonChanged(std::shared_ptr<const RunComparison> comparison) override
    {
        set([&](Heard &h) { h.comparison = std::move(comparison); });
    }
    void stepChanged(std::optional<Step> step,
                     std::shared_ptr<const CheckpointComparison> comparison) override
    {
        set([&](Heard &h) {
            h.step = step;
            h.stepComparison = std::move(comparison);
        });
    }
    void factsChanged(const PairFacts &facts) override
    {
        set([&](Heard &h) { h.facts = facts; });
    }
    void elementsReady(std::uint64_t id, std::shared_ptr<const ElementPage> page) override
    {
        set([&](Heard &h) { h.pages[id] = std::move(page); });
    }
    void nextDifferenceReady(std::uint64_t id, std::optional<Index> index) override
    {
        set([&](Heard &h) { h.next[id] = index; });
    }
    void requestFailed(std::uint64_t id, const Error &error) override
    {
        set([&](Heard &h) { h.failures[id].push_back(error.text); });
    }
    void jobChanged(const JobSnapshot &job) override
    {
        set([&](Heard &h) {
            const bool running = job.phase == JobSnapshot::Phase::Running;
            const bool sameRun = running && !h.jobs.empty() && h.jobs.back().phase == job.phase
                && h.jobs.back().title == job.title;
            if (sameRun)
                h.jobs.back() = job;
            else
                h.jobs.push_back(job);
        });
    }
    void deviceChanged(const std::string &description) override
    {
        set([&](Heard &h) { h.device = description; });
    }
};

/// The processor, which says that it lost a device once something was measured.
class LosingBackend final : public ComputeBackend
{
public:
    std::string description() const override { return m_lost ? "CPU; cuda:0 was lost" : "CUDA"; }
    Digest128 hash(ByteView data) const override { return m_cpu.hash(data); }
    void hashLeaves(ByteView data, std::span<Digest128> leaves) const override
    {
        m_cpu.hashLeaves(data, leaves);
    }
    void diff(const DType &dtype, ByteView a, ByteView b, Index first, Index elements,
              const DiffOptions &options, DiffStats &stats) const override
    {
        m_lost = true;
        m_cpu.diff(dtype, a, b, first, elements, options, stats);
    }
    std::vector<std::string> incidents() const override
    {
        return m_lost ? std::vector<std::string>{"cuda:0: lost"} : std::vector<std::string>();
    }

private:
    CpuBackend m_cpu;
    mutable std::atomic<bool> m_lost = false;
};

/// Paths "A", "B", "B2", "same": three steps of two tensors; "late": two later steps; "damaged": the
/// three, of which step 8 cannot be opened; and "absent", which cannot be opened.
struct Fixture
{
    GatePtr openGate = std::make_shared<Gate>();
    GatePtr readGate = std::make_shared<Gate>();
    Ear ear;
    Session session{environment(), ear};

    SessionEnvironment environment() const
    {
        SessionEnvironment result;
        result.openRun = [gate = openGate, reads = readGate](const std::string &path,
                                                             std::stop_token) {
            return openMemory(path, gate, reads);
        };
        result.makeBackend = [] { return std::make_shared<const CpuBackend>(); };
        result.threads = 2;
        return result;
    }

    static Result<std::shared_ptr<const Run>> openMemory(const std::string &path,
                                                         const GatePtr &gate, const GatePtr &reads)
    {
        if (path == "slow")
            gate->pass();
        if (path.starts_with(FORKPOINT_TEST_DATA))
            return openRun(path, {}, {});
        if (path == "absent")
            return Error{ErrorCode::NotFound, path, {}, "is not there"};
        std::map<Step, MemorySource::Tensors> steps;
        for (const Step step : {4, 8, 12}) {
            std::vector<float> w(1000, float(step));
            if (path == "B" && step >= 8) {
                w[10] += 1.0f;
                w[700] += 2.0f;
            }
            steps[step] = {{"bias", {1.0f, 2.0f}}, {"weight", std::move(w)}};
        }
        if (path == "B")
            steps.erase(12), steps[16] = steps[8];
        if (path == "late")
            steps = {{20, steps[4]}, {24, steps[8]}};
        return std::shared_ptr<const Run>(
            std::make_shared<MemoryRun>(path, std::move(steps), reads));
    }

    /// The first elements of a tensor that one side has.
    void readsAll(const std::string &name, std::pair<double, double> first)
    {
        const PairAddress address = rowOf(name);
        const std::uint64_t id = 1000;
        session.requestElements(id, address, {ElementOrder::ByIndex, 0, 2, {}});
        QTRY_VERIFY(ear.heard().pages.count(id) == 1);
        const auto page = ear.heard().pages.at(id);
        QCOMPARE(page->rows.size(), std::size_t(2));
        const auto valueOf = [](const ElementRow &row) { return std::get<double>(row.a.real); };
        QCOMPARE(valueOf(page->rows[0]), first.first);
        QCOMPARE(valueOf(page->rows[1]), first.second);
    }

    PairAddress rowOf(const std::string &name) const
    {
        const Heard h = ear.heard();
        for (const TensorRow &row : h.stepComparison->tensors)
            if (row.name == name)
                return {h.step, row.a, row.b};
        return {};
    }
};

} // namespace

class TestSession : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void comparesWhenBothAreOpen();
    void tellsOfALostDevice();
    void oneSideIsNoComparison();
    void identicalRunsShowTheLastCommonStep();
    void failedOpeningSaysWhy();
    void userStepWins();
    void stepOfOneSide();
    void refusedComparisonsListWhatIsThere();
    void aRefusedPairIsNoPairRowByRow();
    void aStepThatOneSideCannotReadListsTheOther();
    void measuresIdenticalPairs();
    void factsNameTheFilesOfParts();
    void readsElements();
    void elementsNeedASide();
    void findsDifferences();
    void newerElementsDropOlder();
    void swaps();
    void exportsWhatTheReportSays();
    void exportsTheBytesOfTheCommandLine();
    void exportNeedsAComparison();
    void cancelsBetweenTwoJobs();
    void cancelsAStuckOpening();
    void cancelsAStuckRead();
    void reopensBesideAStuckRead();
    void shutdownLeavesAStuckRead();
};

void TestSession::comparesWhenBothAreOpen()
{
    Fixture f;
    f.session.openPair("A", "B");
    QTRY_VERIFY(f.ear.finished());
    const Heard h = f.ear.heard();
    QVERIFY(h.comparison->verdict.outcome == Outcome::Different);
    QCOMPARE(h.step, std::optional<Step>(8));
    QCOMPARE(h.stepComparison->counts.different, std::uint64_t(1));
    QCOMPARE(h.stepComparison->counts.identical, std::uint64_t(1));
    QVERIFY(!h.device.empty());
    QTRY_COMPARE(f.ear.ends(), std::size_t(3)); // two openings, one comparison
    QStringList titles;
    for (const JobSnapshot &job : f.ear.heard().jobs) {
        QVERIFY(job.phase == JobSnapshot::Phase::Running
                || job.phase == JobSnapshot::Phase::Finished);
        if (job.phase == JobSnapshot::Phase::Finished)
            titles << QString::fromStdString(job.title);
    }
    QCOMPARE(titles, QStringList({"Opening A", "Opening B", "Comparing A with B"}));
}

void TestSession::tellsOfALostDevice()
{
    Fixture f;
    Ear ear;
    SessionEnvironment environment = f.environment();
    environment.makeBackend = [] { return std::make_shared<const LosingBackend>(); };
    Session session(std::move(environment), ear);
    QTRY_VERIFY(ear.heard().device.starts_with("CUDA, "));
    session.openPair("A", "B");
    QTRY_VERIFY(ear.heard().device.starts_with("CPU; cuda:0 was lost, "));
}

void TestSession::oneSideIsNoComparison()
{
    Fixture f;
    f.session.openSide(SessionSide::B, "B");
    QTRY_COMPARE(f.ear.ends(), std::size_t(1));
    const Heard h = f.ear.heard();
    QCOMPARE(h.sides[1].phase, SideSnapshot::Phase::Open);
    QCOMPARE(h.sides[1].run->steps().size(), std::size_t(3));
    QCOMPARE(h.sides[0].phase, SideSnapshot::Phase::Empty);
    QVERIFY(!h.comparison);
}

void TestSession::identicalRunsShowTheLastCommonStep()
{
    Fixture f;
    f.session.openPair("A", "same");
    QTRY_VERIFY(f.ear.finished());
    QVERIFY(f.ear.heard().comparison->verdict.outcome == Outcome::Identical);
    QCOMPARE(f.ear.heard().step, std::optional<Step>(12));
}

void TestSession::failedOpeningSaysWhy()
{
    Fixture f;
    f.session.openPair("A", "absent");
    QTRY_COMPARE(f.ear.ends(), std::size_t(2));
    const Heard h = f.ear.heard();
    QCOMPARE(h.sides[0].phase, SideSnapshot::Phase::Open);
    QCOMPARE(h.sides[1].phase, SideSnapshot::Phase::Failed);
    QCOMPARE(h.sides[1].error->text, std::string("is not there"));
    QCOMPARE(h.jobs.back().phase, JobSnapshot::Phase::Failed);
    f.session.openSide(SessionSide::B, "B");
    QTRY_VERIFY(f.ear.finished());
}

void TestSession::userStepWins()
{
    Fixture f;
    f.session.openPair("A", "B");
    f.session.selectStep(4); // before anything is open: as early as a click can come
    QTRY_VERIFY(f.ear.finished());
    f.session.selectStep(4);
    QTRY_COMPARE(f.ear.heard().step, std::optional<Step>(4));
    QTRY_VERIFY(f.ear.finished());
    QVERIFY(f.ear.heard().stepComparison->verdict.outcome == Outcome::Identical);
    const auto before = f.ear.heard().comparison;
    f.session.setOptions({}); // compares anew: the step stays
    QTRY_VERIFY(f.ear.heard().comparison && f.ear.heard().comparison != before);
    QTRY_VERIFY(f.ear.finished());
    QCOMPARE(f.ear.heard().step, std::optional<Step>(4));
    f.session.selectStep(std::nullopt);
    QTRY_COMPARE(f.ear.heard().step, std::optional<Step>(8));
}

void TestSession::stepOfOneSide()
{
    Fixture f;
    f.session.openPair("A", "B");
    QTRY_VERIFY(f.ear.finished());
    f.session.selectStep(12);
    QTRY_COMPARE(f.ear.heard().step, std::optional<Step>(12));
    QTRY_VERIFY(f.ear.finished());
    const Verdict verdict = f.ear.heard().stepComparison->verdict;
    QVERIFY(verdict.outcome == Outcome::NotCompared);
    QCOMPARE(verdict.reason, std::string("only A has this step"));
    f.readsAll("weight", {12, 12}); // what A has is there
}

// A trace holds no checkpoint: the other side's is shown all the same, and none of it is compared.
void TestSession::refusedComparisonsListWhatIsThere()
{
    Fixture f;
    f.session.openPair(FORKPOINT_TEST_DATA "/traces/typed/A", "A");
    QTRY_VERIFY(f.ear.finished());
    QVERIFY(f.ear.heard().comparison->verdict.outcome == Outcome::NotCompared);
    QTRY_COMPARE(f.ear.heard().stepComparison->tensors.size(), std::size_t(2));
    const Heard h = f.ear.heard();
    for (const TensorRow &row : h.stepComparison->tensors) {
        QVERIFY(row.status == ItemStatus::NotCompared && !row.a && row.b);
        QCOMPARE(row.reason, h.comparison->verdict.reason);
    }
    f.readsAll("bias", {1, 2});
}

// Step 12 of the one and 24 of the other: whatever bears the same name is not set against each other.
void TestSession::aRefusedPairIsNoPairRowByRow()
{
    Fixture f;
    f.session.openPair("A", "late");
    QTRY_VERIFY(f.ear.finished());
    QTRY_COMPARE(f.ear.heard().stepComparison->tensors.size(), std::size_t(4));
    const Heard h = f.ear.heard();
    QVERIFY(!h.step);
    const std::string why = "the two series have no step in common; listed is step ";
    const auto &rows = h.stepComparison->tensors;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const bool isOfA = i < 2;
        QVERIFY(rows[i].status == ItemStatus::NotCompared);
        QCOMPARE(rows[i].a.has_value(), isOfA);
        QCOMPARE(rows[i].b.has_value(), !isOfA);
        QCOMPARE(rows[i].reason, why + (isOfA ? "12 of A" : "24 of B"));
    }
    f.readsAll("weight", {12, 12}); // A's, which is first
    f.session.requestElements(1001, {h.step, {}, rows[3].b}, {ElementOrder::ByIndex, 0, 1, {}});
    QTRY_VERIFY(f.ear.heard().pages.count(1001) == 1);
    QCOMPARE(std::get<double>(f.ear.heard().pages.at(1001)->rows[0].b.real), 8.0); // written at 24
}

// B's step 8 is damaged: A's is listed, with why B's is not.
void TestSession::aStepThatOneSideCannotReadListsTheOther()
{
    Fixture f;
    f.session.openPair("A", "damaged");
    QTRY_VERIFY(f.ear.finished());
    f.session.selectStep(8);
    QTRY_COMPARE(f.ear.heard().step, std::optional<Step>(8));
    QTRY_VERIFY(f.ear.finished());
    const auto listing = f.ear.heard().stepComparison;
    QVERIFY(listing->verdict.outcome == Outcome::NotCompared);
    QCOMPARE(listing->verdict.reason,
             std::string("this step of B could not be opened: damaged/8: is cut short"));
    QCOMPARE(listing->tensors.size(), std::size_t(2));
    f.readsAll("weight", {8, 8});
}

void TestSession::measuresIdenticalPairs()
{
    Fixture f;
    f.session.openPair("A", "same");
    QTRY_VERIFY(f.ear.finished());
    f.session.requestFacts(f.rowOf("bias"), nullptr);
    QTRY_VERIFY(f.ear.heard().facts.stats);
    const PairFacts facts = f.ear.heard().facts;
    QCOMPARE(facts.a->name, std::string("bias"));
    QCOMPARE(facts.b->name, std::string("bias"));
    QCOMPARE(facts.stats->elements, Index(2));
    QCOMPARE(facts.stats->differentElements, Index(0));
    QCOMPARE(*facts.stats->rmsA(), std::sqrt(2.5)); // of 1 and 2
}

/// Torch wrote this tensor from ranks 1 and 2 of 4.
void TestSession::factsNameTheFilesOfParts()
{
    Fixture f;
    const std::string path = FORKPOINT_TEST_DATA "/dcp/mesh";
    f.session.openPair(path, path);
    QTRY_VERIFY(f.ear.finished());
    f.session.requestFacts(f.rowOf("model.bf16"), nullptr);
    QTRY_VERIFY(f.ear.heard().facts.a);
    const auto tensor = f.ear.heard().facts.a;
    QCOMPARE(tensor->extents.size(), std::size_t(2));
    for (std::size_t i = 0; i < 2; ++i) {
        const std::string file = tensor->files.at(tensor->extents[i].file);
        QVERIFY2(file.ends_with(i == 0 ? "__1_0.distcp" : "__2_0.distcp"), file.c_str());
    }
}

void TestSession::readsElements()
{
    Fixture f;
    f.session.openPair("A", "B");
    QTRY_VERIFY(f.ear.finished());
    f.session.requestElements(7, f.rowOf("weight"), {ElementOrder::Largest, 0, 10});
    QTRY_VERIFY(f.ear.heard().pages.contains(7));
    const auto page = f.ear.heard().pages[7];
    QCOMPARE(page->differentElements, Index(2));
    QCOMPARE(page->rows.size(), std::size_t(2));
    QCOMPARE(page->rows[0].index, Index(700));
    QCOMPARE(page->rows[1].index, Index(10));
}

void TestSession::elementsNeedASide()
{
    Fixture f;
    f.session.requestElements(1, {}, {});
    QTRY_COMPARE(f.ear.heard().failures[1], std::vector<std::string>{"needs both sides open"});
    f.session.openPair("A", "B");
    QTRY_VERIFY(f.ear.finished());
    PairAddress lone = f.rowOf("weight");
    lone.b.reset(); // beside itself: every element, and none that differs
    f.session.requestElements(2, lone, {ElementOrder::ByIndex, 10, 2});
    QTRY_VERIFY(f.ear.heard().pages.contains(2));
    QCOMPARE(f.ear.heard().pages[2]->rows.size(), std::size_t(2));
    QVERIFY(!f.ear.heard().pages[2]->rows[0].differs);
    f.session.requestElements(3, {8, std::nullopt, std::nullopt}, {});
    QTRY_COMPARE(f.ear.heard().failures[3].size(), std::size_t(1));
}

void TestSession::findsDifferences()
{
    Fixture f;
    f.session.openPair("A", "B");
    QTRY_VERIFY(f.ear.finished());
    f.session.requestNextDifference(1, f.rowOf("weight"), 11, false);
    QTRY_VERIFY(f.ear.heard().next.contains(1));
    QCOMPARE(f.ear.heard().next[1], std::optional<Index>(700));
    f.session.requestNextDifference(2, f.rowOf("weight"), 700, true);
    QTRY_VERIFY(f.ear.heard().next.contains(2));
    QCOMPARE(f.ear.heard().next[2], std::optional<Index>(10));
    f.session.requestNextDifference(3, f.rowOf("weight"), 701, false);
    QTRY_VERIFY(f.ear.heard().next.contains(3));
    QCOMPARE(f.ear.heard().next[3], std::optional<Index>());
}

void TestSession::newerElementsDropOlder()
{
    Fixture f;
    f.session.openPair("A", "B");
    QTRY_VERIFY(f.ear.finished());
    f.readGate->close();
    const PairAddress row = f.rowOf("weight");
    f.session.requestElements(1, row, {ElementOrder::ByIndex, 0, 5});
    QVERIFY(f.readGate->waitUntilReached());
    f.session.requestElements(2, row, {ElementOrder::ByIndex, 5, 5});
    f.session.requestElements(3, row, {ElementOrder::ByIndex, 10, 5});
    QTRY_COMPARE(f.ear.heard().failures[2], std::vector<std::string>{"was cancelled"});
    f.readGate->open();
    QTRY_VERIFY(f.ear.heard().pages.contains(3));
    const Heard h = f.ear.heard();
    QCOMPARE(h.failures.at(1), std::vector<std::string>{"was cancelled"});
    QVERIFY(!h.pages.contains(1) && !h.pages.contains(2));
    QCOMPARE(h.pages.at(3)->rows.front().index, Index(10));
}

void TestSession::swaps()
{
    Fixture f;
    f.session.openPair("A", "B");
    QTRY_VERIFY(f.ear.finished());
    f.session.swapSides();
    QTRY_COMPARE(f.ear.heard().sides[0].path, std::string("B"));
    QTRY_VERIFY(f.ear.finished() && f.ear.heard().comparison->pathA == "B");
    QVERIFY(f.ear.heard().comparison->verdict.outcome == Outcome::Different);
}

void TestSession::exportsWhatTheReportSays()
{
    QTemporaryDir folder;
    const QString path = folder.filePath("report.json");
    Fixture f;
    f.session.openPair("A", "B");
    f.session.exportReport(path.toStdString()); // waits for the comparison, or says that it cannot
    QTRY_VERIFY(f.ear.finished());
    f.session.exportReport(path.toStdString());
    QTRY_VERIFY(QFile::exists(path));
    QTRY_COMPARE(f.ear.heard().jobs.back().phase, JobSnapshot::Phase::Finished);
    QFile file(path);
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QJsonObject report = QJsonDocument::fromJson(file.readAll()).object();
    QCOMPARE(report.value("schema").toString(), QString("forkpoint.report/1"));
    QCOMPARE(report.value("verdict").toObject().value("outcome").toString(), QString("different"));
    QCOMPARE(QDir(folder.path()).entryList(QDir::Files), QStringList{"report.json"});

    f.session.exportReport((folder.path() + "/no/such/folder.json").toStdString());
    QTRY_COMPARE(f.ear.heard().jobs.back().phase, JobSnapshot::Phase::Failed);
}

void TestSession::exportsTheBytesOfTheCommandLine()
{
    const QTemporaryDir folder;
    const QString a = QStringLiteral(FORKPOINT_SAMPLES "/A"),
                  c = QStringLiteral(FORKPOINT_SAMPLES "/C");
    Ear ear;
    Session session(SessionEnvironment::standard(), ear);
    session.openPair(a.toStdString(), c.toStdString());
    QTRY_VERIFY_WITH_TIMEOUT(ear.finished(), 60'000);
    QStringList command = {"compare", a, c};
    for (const char *suffix : {"html", "md", "csv", "json"}) {
        const QString path = folder.filePath(QStringLiteral("window.") + suffix);
        session.exportReport(path.toStdString());
        QTRY_VERIFY(QFile::exists(path));
        command += {"--report", folder.filePath(QStringLiteral("command.") + suffix)};
    }
    command += {"--quiet", "-o", folder.filePath("summary.txt")};
    QCOMPARE(QProcess::execute(QStringLiteral(FORKPOINT_CLI), command), 1);
    for (const char *suffix : {"html", "md", "csv", "json"}) {
        QFile window(folder.filePath(QStringLiteral("window.") + suffix)),
            line(folder.filePath(QStringLiteral("command.") + suffix));
        QVERIFY(window.open(QIODevice::ReadOnly) && line.open(QIODevice::ReadOnly));
        const QByteArray bytes = window.readAll();
        QVERIFY(!bytes.isEmpty() && bytes == line.readAll());
    }
}

void TestSession::exportNeedsAComparison()
{
    Fixture f;
    f.session.exportReport("/nowhere/report.json");
    QTRY_COMPARE(f.ear.ends(), std::size_t(1));
    QCOMPARE(f.ear.heard().jobs.back().phase, JobSnapshot::Phase::Failed);
}

void TestSession::cancelsBetweenTwoJobs()
{
    Fixture f;
    f.openGate->close();
    f.ear.whenOpen.close();
    f.session.openPair("A", "slow");
    QVERIFY(f.ear.whenOpen.waitUntilReached()); // A is open and the session's thread is busy
    QVERIFY(f.openGate->waitUntilReached());
    f.session.cancel();
    f.openGate->open(); // so B's opening ends well before the cancel is looked at
    QVERIFY(f.openGate->waitUntilLeft());
    QTest::qWait(50);
    f.ear.whenOpen.open();
    QTRY_COMPARE(f.ear.heard().sides[1].phase, SideSnapshot::Phase::Failed);
    QTest::qWait(50);
    const Heard h = f.ear.heard();
    QVERIFY(!h.comparison);
    QCOMPARE(h.sides[1].error->text, std::string("was cancelled"));
    QCOMPARE(h.jobs.back().phase, JobSnapshot::Phase::Cancelled);
    f.session.openPair("A", "slow");
    QTRY_VERIFY(f.ear.finished());
}

void TestSession::cancelsAStuckOpening()
{
    Fixture f;
    f.openGate->close();
    f.session.openPair("slow", "B");
    QVERIFY(f.openGate->waitUntilReached());
    QElapsedTimer timer;
    timer.start();
    f.session.cancel();
    QTRY_COMPARE(f.ear.heard().sides[0].phase, SideSnapshot::Phase::Failed);
    QVERIFY2(timer.elapsed() < 200, qPrintable(QString::number(timer.elapsed())));
    QTRY_COMPARE(f.ear.heard().jobs.back().phase, JobSnapshot::Phase::Cancelled);

    f.session.openPair("A", "B"); // while the old thread is still stuck
    QTRY_VERIFY(f.ear.finished());
    f.openGate->open();
    QVERIFY(f.openGate->waitUntilLeft());
    QTest::qWait(20);
    QCOMPARE(f.ear.heard().sides[0].path, std::string("A")); // what came late is nobody's
}

void TestSession::cancelsAStuckRead()
{
    Fixture f;
    f.readGate->close();
    f.session.openPair("A", "B");
    QVERIFY(f.readGate->waitUntilReached());
    QElapsedTimer timer;
    timer.start();
    f.session.cancel();
    const auto cancelled = [&] {
        const Heard h = f.ear.heard();
        return !h.jobs.empty() && h.jobs.back().phase == JobSnapshot::Phase::Cancelled;
    };
    QTRY_VERIFY(cancelled());
    QVERIFY2(timer.elapsed() < 200, qPrintable(QString::number(timer.elapsed())));
    const std::size_t ends = f.ear.ends();
    QCOMPARE(ends, std::size_t(3)); // two openings finished, the comparison cancelled

    f.readGate->open();
    QVERIFY(f.readGate->waitUntilLeft());
    QTest::qWait(50);
    QCOMPARE(f.ear.ends(), ends);
    const auto comparison = f.ear.heard().comparison;
    QVERIFY(!comparison || !comparison->finished);
    f.session.setOptions({});
    QTRY_VERIFY(f.ear.finished());
}

/// Opening something else does not wait for what hangs.
void TestSession::reopensBesideAStuckRead()
{
    Fixture f;
    f.openGate->close();
    f.session.openPair("slow", "slow");
    QVERIFY(f.openGate->waitUntilReached());
    f.session.openPair("A", "B");
    QTRY_VERIFY(f.ear.finished());
    f.openGate->open();
    QVERIFY(f.openGate->waitUntilLeft());
}

void TestSession::shutdownLeavesAStuckRead()
{
    Fixture f;
    f.readGate->close();
    f.session.openPair("A", "B");
    QVERIFY(f.readGate->waitUntilReached());
    QElapsedTimer timer;
    timer.start();
    QVERIFY(!f.session.shutdown(100ms));
    QVERIFY2(timer.elapsed() < 500, qPrintable(QString::number(timer.elapsed())));
    QCOMPARE(f.ear.heard().jobs.back().phase, JobSnapshot::Phase::Cancelled);
    f.readGate->open();
    QVERIFY(f.readGate->waitUntilLeft());
    QTest::qWait(50); // its thread ends after the session's
}

QTEST_GUILESS_MAIN(TestSession)
#include "tst_session.moc"
