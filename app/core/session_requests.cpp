// SPDX-License-Identifier: GPL-3.0-or-later
// What is asked of a session about one pair of tensors, one step, records of traces, or files.
#include "app/core/compare_command.h"
#include "app/core/folder_listing.h"
#include "app/core/mapping_jobs.h"
#include "app/core/output_file.h"
#include "app/core/session_core.h"
#include "app/core/tensor_jobs.h"
#include "app/core/trace_jobs.h"
#include "loaders/traces/mapping_sheet.h"

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

/// As mayAsk(), of what one side alone can answer.
bool Session::Core::mayAskOfOne(std::uint64_t id)
{
    return isOpen(0) || isOpen(1) || mayAsk(id);
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
                 answered = std::move(answered)](JobEnd end, const Error *error) {
        if (end == JobEnd::Finished)
            then();
        else if (!answered || !*answered)
            m_listener.requestFailed(
                id, error ? *error : Error{ErrorCode::Cancelled, {}, {}, "was cancelled"});
    };
    add(std::move(job), JobWatch::Kind::Minor);
}

/// Answered at the end, so that a request that was dropped has no answer beside its failure. `batch`
/// makes the job of who takes its answer.
template <class Answer, class MakeBatch>
void Session::Core::askOnce(std::uint64_t id, const char *title, const char *tag,
                            Heard<Answer> heard, const MakeBatch &batch)
{
    const auto answer = std::make_shared<std::shared_ptr<const Answer>>();
    ask(id, title, tag,
        batch([answer](std::shared_ptr<const Answer> whole) { *answer = std::move(whole); }),
        [this, id, heard, answer] { (m_listener.*heard)(id, *answer); });
}

/// Answered in part while it grows; what says of itself that it is complete is the last answer.
template <class Answer, class MakeBatch>
void Session::Core::askGrowing(std::uint64_t id, const char *title, const char *tag,
                               Heard<Answer> heard, const MakeBatch &batch)
{
    const auto answered = std::make_shared<bool>(false);
    ask(
        id, title, tag, batch([this, id, heard, answered](std::shared_ptr<const Answer> part) {
            *answered = part->complete;
            (m_listener.*heard)(id, std::move(part));
        }),
        [] {}, answered);
}

void Session::Core::requestElements(std::uint64_t id, PairAddress pair, ElementQuery query)
{
    if (!mayAskOfOne(id))
        return;
    askOnce(id, "Reading elements", "elements", &SessionListener::elementsReady, [&](auto to) {
        return elementsBatch(inputs(), pair, std::move(query), std::move(to));
    });
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
    if (!mayAskOfOne(id))
        return;
    askGrowing(id, "Mapping a tensor", "map", &SessionListener::mapReady,
               [&](auto to) { return mapBatch(inputs(), pair, std::move(query), std::move(to)); });
}

void Session::Core::requestLayout(std::uint64_t id, PairAddress pair)
{
    if (!mayAsk(id))
        return;
    askOnce(id, "Looking who holds what", "layout", &SessionListener::layoutReady,
            [&](auto to) { return layoutBatch(inputs(), pair, std::move(to)); });
}

void Session::Core::requestHistory(std::uint64_t id, std::string nameA, std::string nameB)
{
    if (!mayAsk(id))
        return;
    askGrowing(id, "Following a tensor over the steps", "history", &SessionListener::historyReady,
               [&](auto to) {
                   return historyBatch(inputs(), std::move(nameA), std::move(nameB), std::move(to));
               });
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
    askGrowing(
        id, "Looking for NaN and infinities", "nan", &SessionListener::nonFiniteReady,
        [&](auto to) { return nonFiniteBatch(inputs(), m_shownStep, m_shown, std::move(to)); });
}

// --- records of traces --------------------------------------------------------------------------

void Session::Core::requestRecords(std::uint64_t id, RecordQuery query)
{
    const bool may = query.of == RecordQuery::Of::Both ? mayAsk(id) : mayAskOfOne(id);
    if (!may)
        return;
    askGrowing(id, "Reading records", "records", &SessionListener::recordsReady,
               [&](auto to) { return recordsBatch(inputs(), std::move(query), std::move(to)); });
}

void Session::Core::requestRecordText(std::uint64_t id, RecordPlaces places)
{
    const bool may = places.a.has_value() == places.b.has_value() ? mayAsk(id) : mayAskOfOne(id);
    if (!may)
        return;
    askOnce(id, "Reading the lines of a record", "record text", &SessionListener::recordTextReady,
            [&](auto to) { return recordTextBatch(inputs(), places, std::move(to)); });
}

void Session::Core::requestDrift(std::uint64_t id, DriftQuery query)
{
    if (!mayAsk(id))
        return;
    askGrowing(id, "Following a record over the steps", "drift", &SessionListener::driftReady,
               [&](auto to) { return driftBatch(inputs(), query, std::move(to)); });
}

// --- mapping sheets -----------------------------------------------------------------------------

void Session::Core::tryMapping(std::uint64_t id, std::string path, std::string sheet)
{
    askOnce(id, "Trying a mapping sheet", "mapping", &SessionListener::mappingTried, [&](auto to) {
        return mappingTrialBatch(std::move(path), std::move(sheet), std::move(to));
    });
}

void Session::Core::readSheet(std::uint64_t id, std::string path)
{
    askOnce(id, "Reading a mapping sheet", "sheet", &SessionListener::sheetRead,
            [&](auto to) { return sheetTextBatch(std::move(path), std::move(to)); });
}

void Session::Core::saveSheet(std::uint64_t id, std::string path, std::string sheet,
                              std::string sheetPath)
{
    askOnce(id, "Saving a mapping sheet", "sheet", &SessionListener::sheetRead, [&](auto to) {
        return writeSheetBatch({m_sides[0].path, m_sides[1].path, std::move(path)},
                               std::move(sheetPath), std::move(sheet), std::move(to));
    });
}

void Session::Core::useMapping(std::size_t side, std::string path, const std::string &sheet,
                               const std::string &sheetPath)
{
    auto parsed = MappingSheet::parse(sheet, sheetPath);
    if (!parsed.ok()) {
        m_watch.ended(0, "Reading " + sheetPath, JobWatch::Kind::Major, JobEnd::Failed,
                      &parsed.error());
        return;
    }
    const std::size_t other = 1 - side;
    const bool hasOther = m_sides[other].phase != Phase::Empty && !m_report;
    setMapping(std::move(parsed).value());
    open(side, std::move(path));
    if (hasOther)
        open(other, m_sides[other].path);
}

void Session::Core::setMapping(std::shared_ptr<const MappingSheet> sheet)
{
    if (m_mapping == sheet)
        return;
    m_mapping = std::move(sheet);
    m_listener.mappingChanged(m_mapping);
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
    job.batch = exportBatch(inputs(), m_comparison, reportOptions(), std::move(path));
    add(std::move(job), JobWatch::Kind::Major);
}

/// As `forkpoint-cli compare` has them for the same paths and options.
ReportOptions Session::Core::reportOptions() const
{
    if (m_report)
        return m_report->options;
    ReportOptions options;
    options.histograms = m_options.full;
    CompareCommand command{m_sides[0].path, m_sides[1].path, m_options, {}, {}};
    command.open.mapping = m_mapping;
    options.request = reportRequest(command, *m_comparison);
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
