// SPDX-License-Identifier: GPL-3.0-or-later
// What is asked of a session about one pair of tensors, one step, or the files.
#include "app/core/compare_command.h"
#include "app/core/folder_listing.h"
#include "app/core/output_file.h"
#include "app/core/session_core.h"
#include "app/core/tensor_jobs.h"
#include "app/core/trace_jobs.h"

namespace forkpoint {

// --- one pair -----------------------------------------------------------------------------------

void Session::Core::requestFacts(PairAddress pair, std::shared_ptr<const DiffStats> known)
{
    if (!isOpen(0) && !isOpen(1))
        return;
    Job job;
    job.title = "Measuring a tensor";
    job.tag = "facts";
    job.lane = Lane::Interactive;
    job.batch = pairFactsBatch(inputs(), pair, std::move(known),
                               [this](PairFacts facts) { m_listener.factsChanged(facts); });
    add(std::move(job), JobWatch::Kind::Minor);
}

/// False where there is nothing to ask; the failure is heard.
bool Session::Core::mayAsk(std::uint64_t id)
{
    const char *why = m_report ? "a report keeps no elements: open the two paths that it names"
                               : "needs both sides open";
    if (!bothOpen())
        m_listener.requestFailed(id, Error{ErrorCode::Usage, {}, {}, why});
    return bothOpen();
}

/// A newer request of a tag drops older ones. `finished` is called when the job ended well; any
/// other end is the failure of the request, unless it has been `answered` in full: a newer request
/// may come between a last answer and the end of its job.
void Session::Core::ask(std::uint64_t id, const char *title, const char *tag, JobBatch batch,
                        std::function<void()> finished, std::shared_ptr<const bool> answered)
{
    Job job;
    job.title = title;
    job.tag = tag;
    job.lane = Lane::Interactive;
    job.batch = std::move(batch);
    job.ended = [this, id, then = std::move(finished),
                 whole = std::move(answered)](JobEnd end, const Error *error) {
        if (end == JobEnd::Finished)
            then();
        else if (!whole || !*whole)
            m_listener.requestFailed(
                id, error ? *error : Error{ErrorCode::Cancelled, {}, {}, "was cancelled"});
    };
    add(std::move(job), JobWatch::Kind::Minor);
}

void Session::Core::requestElements(std::uint64_t id, PairAddress pair, ElementQuery query)
{
    if (!mayAsk(id))
        return;
    // Answered at the end, so that a request that was dropped has no answer beside its failure.
    const auto answer = std::make_shared<std::shared_ptr<const ElementPage>>();
    ask(id, "Reading elements", "elements",
        elementsBatch(
            inputs(), pair, std::move(query),
            [answer](std::shared_ptr<const ElementPage> page) { *answer = std::move(page); }),
        [this, id, answer] { m_listener.elementsReady(id, *answer); });
}

void Session::Core::requestNext(std::uint64_t id, PairAddress pair, Index from, bool backward)
{
    if (!mayAsk(id))
        return;
    const auto answer = std::make_shared<std::optional<Index>>();
    ask(id, "Looking for the next difference", "next",
        nextDifferenceBatch(inputs(), pair, from, backward,
                            [answer](std::optional<Index> index) { *answer = index; }),
        [this, id, answer] { m_listener.nextDifferenceReady(id, *answer); });
}

void Session::Core::requestMap(std::uint64_t id, PairAddress pair, MapQuery query)
{
    if (!mayAsk(id))
        return;
    const auto answered = std::make_shared<bool>(false);
    ask(
        id, "Mapping a tensor", "map",
        mapBatch(inputs(), pair, std::move(query),
                 [this, id, answered](std::shared_ptr<const ElementMap> map) {
                     *answered = map->complete;
                     m_listener.mapReady(id, std::move(map));
                 }),
        [] {}, answered);
}

void Session::Core::requestLayout(std::uint64_t id, PairAddress pair)
{
    if (!mayAsk(id))
        return;
    const auto answer = std::make_shared<std::shared_ptr<const PairLayout>>();
    ask(id, "Looking who holds what", "layout",
        layoutBatch(
            inputs(), pair,
            [answer](std::shared_ptr<const PairLayout> layout) { *answer = std::move(layout); }),
        [this, id, answer] { m_listener.layoutReady(id, *answer); });
}

void Session::Core::requestHistory(std::uint64_t id, std::string nameA, std::string nameB)
{
    if (!mayAsk(id))
        return;
    const auto answered = std::make_shared<bool>(false);
    ask(
        id, "Following a tensor over the steps", "history",
        historyBatch(inputs(), std::move(nameA), std::move(nameB),
                     [this, id, answered](std::shared_ptr<const TensorHistory> history) {
                         *answered = history->complete;
                         m_listener.historyReady(id, std::move(history));
                     }),
        [] {}, answered);
}

void Session::Core::searchNonFinite(std::uint64_t id)
{
    if (!mayAsk(id))
        return;
    if (!m_shown || !m_shown->finished) {
        m_listener.requestFailed(
            id, Error{ErrorCode::Usage, {}, {}, "needs a comparison that has finished"});
        return;
    }
    const auto answered = std::make_shared<bool>(false);
    ask(
        id, "Looking for NaN and infinities", "nan",
        nonFiniteBatch(inputs(), m_shownStep, m_shown,
                       [this, id, answered](std::shared_ptr<const NonFiniteFindings> findings) {
                           *answered = findings->complete;
                           m_listener.nonFiniteReady(id, std::move(findings));
                       }),
        [] {}, answered);
}

// --- records of traces --------------------------------------------------------------------------

void Session::Core::requestRecords(std::uint64_t id, RecordQuery query)
{
    if (!mayAsk(id))
        return;
    const auto answered = std::make_shared<bool>(false);
    ask(
        id, "Reading records", "records",
        recordsBatch(inputs(), std::move(query),
                     [this, id, answered](std::shared_ptr<const RecordWindow> window) {
                         *answered = window->complete;
                         m_listener.recordsReady(id, std::move(window));
                     }),
        [] {}, answered);
}

void Session::Core::requestRecordText(std::uint64_t id, RecordPlaces places)
{
    if (!mayAsk(id))
        return;
    const auto answer = std::make_shared<std::shared_ptr<const RecordText>>();
    ask(id, "Reading the lines of a record", "record text",
        recordTextBatch(
            inputs(), places,
            [answer](std::shared_ptr<const RecordText> text) { *answer = std::move(text); }),
        [this, id, answer] { m_listener.recordTextReady(id, *answer); });
}

void Session::Core::requestDrift(std::uint64_t id, DriftQuery query)
{
    if (!mayAsk(id))
        return;
    const auto answered = std::make_shared<bool>(false);
    ask(
        id, "Following a record over the steps", "drift",
        driftBatch(inputs(), query,
                   [this, id, answered](std::shared_ptr<const RecordDrift> drift) {
                       *answered = drift->complete;
                       m_listener.driftReady(id, std::move(drift));
                   }),
        [] {}, answered);
}

// --- folders and files --------------------------------------------------------------------------

/// One that is stuck is given up.
void Session::Core::stopListing()
{
    m_queue.cancelTag("folder");
}

void Session::Core::listFolder(std::uint64_t id, std::string path)
{
    stopListing();
    const auto answer = std::make_shared<std::shared_ptr<const FolderListing>>();
    ask(
        id, "Listing a folder", "folder",
        [answer, path = std::move(path)](JobControl &control) -> Result<Batch> {
            FP_TRY(FolderListing listing, forkpoint::listFolder(path, control.stop()));
            control.post(
                [answer, listed = std::make_shared<const FolderListing>(std::move(listing))] {
                    *answer = listed;
                });
            return Batch::Done;
        },
        [this, id, answer] { m_listener.folderListed(id, *answer); });
}

/// Whether any file of the shown step changed since it was read.
void Session::Core::checkFiles()
{
    if (!bothOpen() || m_queue.hasTag("files"))
        return;
    Job job;
    job.title = "Looking whether files changed";
    job.tag = "files";
    job.lane = Lane::Interactive;
    job.batch = unchangedBatch(inputs(), m_shownStep, [this](std::optional<Error> change) {
        m_listener.filesChecked(change);
    });
    job.ended = [](JobEnd, const Error *) {};
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
    job.batch = exportBatch(m_comparison, reportOptions(), std::move(path));
    add(std::move(job), JobWatch::Kind::Major);
}

/// As `forkpoint-cli compare` has them for the same paths and options.
ReportOptions Session::Core::reportOptions() const
{
    if (m_report)
        return m_report->options;
    ReportOptions options;
    options.histograms = m_options.full;
    options.request =
        reportRequest({m_sides[0].path, m_sides[1].path, m_options, {}, {}}, *m_comparison);
    return options;
}

void Session::Core::saveFile(std::string path, std::string bytes)
{
    Job job;
    job.title = "Saving " + path;
    job.batch = [path = std::move(path), bytes = std::move(bytes),
                 inputs = std::array{m_sides[0].path, m_sides[1].path}](
                    JobControl &control) -> Result<Batch> {
        control.report({"writing", path, 0, 0, 0, 0});
        FP_CHECK(checkOutput(path, inputs));
        FP_CHECK(writeTextFile(path, bytes));
        return Batch::Done;
    };
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

} // namespace forkpoint
