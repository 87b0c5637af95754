// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/job_queue.h"
#include "app/core/job_watch.h"
#include "app/core/session.h"
#include "app/core/session_jobs.h"

#include <array>
#include <map>

namespace forkpoint {

/// The state, all of it touched on the loop's thread only.
class Session::Core
{
public:
    Core(SessionEnvironment environment, SessionListener &listener);

    TaskLoop &loop() { return m_loop; }
    JobQueue &queue() { return m_queue; }

    void findDevice();
    void openSide(std::size_t side, std::string path, std::shared_ptr<const MappingSheet> sheet);
    void open(std::size_t side, std::string path);
    void tryMapping(std::uint64_t id, std::string path, std::string sheet);
    void readSheet(std::uint64_t id, std::string path);
    void saveSheet(std::uint64_t id, std::string path, std::string sheet, std::string sheetPath);
    void useMapping(std::size_t side, std::string path, const std::string &sheet,
                    const std::string &sheetPath);
    void openPair(std::string pathA, std::string pathB, std::shared_ptr<const MappingSheet> sheet);
    void swapSides();
    void closeAll();
    void setOptions(CompareOptions options);
    void setIndexUse(IndexUse use);
    void selectStep(std::optional<Step> step);
    void requestFacts(PairAddress pair, std::shared_ptr<const DiffStats> known);
    void requestElements(std::uint64_t id, PairAddress pair, ElementQuery query);
    void requestNext(std::uint64_t id, PairAddress pair, Index from, bool backward);
    void requestMap(std::uint64_t id, PairAddress pair, MapQuery query);
    void requestLayout(std::uint64_t id, PairAddress pair);
    void requestHistory(std::uint64_t id, std::string nameA, std::string nameB);
    void searchNonFinite(std::uint64_t id);
    void requestRecords(std::uint64_t id, RecordQuery query);
    void requestRecordText(std::uint64_t id, RecordPlaces places);
    void requestDrift(std::uint64_t id, DriftQuery query);
    void exportReport(std::string path);
    void saveFile(std::string path, std::string bytes);
    void reload();
    void checkFiles();
    void listFolder(std::uint64_t id, std::string path);
    void stopListing();
    void cancel();

private:
    using Phase = SideSnapshot::Phase;

    bool isOpen(std::size_t side) const { return m_sides[side].phase == Phase::Open; }
    bool bothOpen() const { return isOpen(0) && isOpen(1); }
    void setMapping(std::shared_ptr<const MappingSheet> sheet);
    void setSide(std::size_t side, SideSnapshot snapshot);
    void dropComparison();
    void takeReport(std::size_t side, const std::string &path, RecordedReport report);
    void leaveReport();
    void showRecorded(std::optional<Step> step);
    void listTheOnlySide();
    void listSides(std::optional<Step> step, const std::string &reason,
                   std::function<void(const Error &)> failed);
    void takeUnreadable(std::size_t side, const Error &error);
    void compareAnew();
    void compareRuns();
    void compareStep();
    std::string whyNoStep(Step step) const;
    void takeComparison(std::shared_ptr<const RunComparison> comparison);
    void takeStep(std::optional<Step> step, std::shared_ptr<const CheckpointComparison> comparison);
    void showStep(std::optional<Step> step, std::shared_ptr<const CheckpointComparison> comparison);
    void remember(std::optional<Step> step, std::shared_ptr<const CheckpointComparison> comparison);
    void exportPending(JobEnd end);
    SessionInputs inputs() const;
    ReportOptions reportOptions() const;
    void renewEngine();

    enum class Then { Nothing, Compare }; ///< what may follow from a job's end
    void add(Job job, JobWatch::Kind kind, Then then = Then::Nothing);
    bool mayAsk(std::uint64_t id);
    bool mayAskOfOne(std::uint64_t id);
    void ask(std::uint64_t id, const char *title, const char *tag, JobBatch batch,
             std::function<void()> finished, std::shared_ptr<const bool> answered = nullptr);
    template <class Answer>
    using Heard = void (SessionListener::*)(std::uint64_t, std::shared_ptr<const Answer>);
    template <class Answer, class MakeBatch>
    void askOnce(std::uint64_t id, const char *title, const char *tag, Heard<Answer> heard,
                 const MakeBatch &batch);
    template <class Answer, class MakeBatch>
    void askGrowing(std::uint64_t id, const char *title, const char *tag, Heard<Answer> heard,
                    const MakeBatch &batch);
    void sample();

    SessionEnvironment m_environment;
    SessionListener &m_listener;
    std::shared_ptr<Engine> m_engine;

    std::array<SideSnapshot, 2> m_sides;
    std::array<std::uint64_t, 2> m_openings{}; ///< tells the latest opening of a side
    CompareOptions m_options;
    IndexUse m_indexUse = IndexUse::Use;
    std::shared_ptr<const MappingSheet> m_mapping; ///< sides are read by it; null: none
    std::shared_ptr<const RunComparison> m_comparison;
    std::shared_ptr<const RecordedReport> m_report; ///< m_comparison is of it
    std::string m_reportPath;
    std::optional<Step> m_userStep;
    std::optional<Step> m_shownStep;
    std::shared_ptr<const CheckpointComparison> m_shown; ///< at that step
    std::map<std::optional<Step>, std::shared_ptr<const CheckpointComparison>> m_remembered;
    std::vector<std::string> m_pendingExports;
    std::uint64_t m_cancels = 0; ///< how often the user stopped everything

    JobWatch m_watch;
    bool m_sampling = false;

    // The threads come last, so that they end before what they use.
    TaskLoop m_loop;
    JobQueue m_queue;
};

} // namespace forkpoint
