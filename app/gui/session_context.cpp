// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/session_context.h"

#include "app/core/compare_command.h"
#include "app/gui/file_names.h"
#include "app/gui/post_to_ui.h"
#include "loaders/directory_loader.h"
#include "loaders/loader.h"
#include "loaders/traces/mapping_sheet.h"
#include "model/report/report_evidence.h"
#include "model/text/shell_word.h"
#include "widgets/display_text.h"

#include <QDir>

namespace forkpoint {

/// Hears the session on its thread and passes everything on to the UI thread.
class SessionContext::Relay final : public SessionListener
{
public:
    explicit Relay(SessionContext *context) : m_context(context), m_guard(context) {}

    void sideChanged(SessionSide side, const SideSnapshot &snapshot) override
    {
        const Side uiSide = side == SessionSide::A ? Side::A : Side::B;
        post([=, to = m_context] { to->takeSide(uiSide, snapshot); });
    }
    void comparisonChanged(std::shared_ptr<const RunComparison> comparison) override
    {
        post([=, to = m_context] { to->takeComparison(comparison); });
    }
    void stepChanged(std::optional<Step> step,
                     std::shared_ptr<const CheckpointComparison> comparison) override
    {
        post([=, to = m_context] { to->takeStep(step, comparison); });
    }
    void factsChanged(const PairFacts &facts) override
    {
        post([=, to = m_context] { to->takeFacts(facts); });
    }
    void elementsReady(std::uint64_t id, std::shared_ptr<const ElementPage> page) override
    {
        post([=, to = m_context] { Q_EMIT to->elementsReady(id, page); });
    }
    void nextDifferenceReady(std::uint64_t id, std::optional<Index> index) override
    {
        post([=, to = m_context] { Q_EMIT to->nextDifferenceReady(id, index); });
    }
    void mapReady(std::uint64_t id, std::shared_ptr<const ElementMap> map) override
    {
        post([=, to = m_context] { Q_EMIT to->mapReady(id, map); });
    }
    void layoutReady(std::uint64_t id, std::shared_ptr<const PairLayout> layout) override
    {
        post([=, to = m_context] { Q_EMIT to->layoutReady(id, layout); });
    }
    void historyReady(std::uint64_t id, std::shared_ptr<const TensorHistory> history) override
    {
        post([=, to = m_context] { Q_EMIT to->historyReady(id, history); });
    }
    void nonFiniteReady(std::uint64_t id,
                        std::shared_ptr<const NonFiniteFindings> findings) override
    {
        post([=, to = m_context] { Q_EMIT to->nonFiniteReady(id, findings); });
    }
    void recordsReady(std::uint64_t id, std::shared_ptr<const RecordWindow> window) override
    {
        post([=, to = m_context] { Q_EMIT to->recordsReady(id, window); });
    }
    void recordTextReady(std::uint64_t id, std::shared_ptr<const RecordText> text) override
    {
        post([=, to = m_context] { Q_EMIT to->recordTextReady(id, text); });
    }
    void driftReady(std::uint64_t id, std::shared_ptr<const RecordDrift> drift) override
    {
        post([=, to = m_context] { Q_EMIT to->driftReady(id, drift); });
    }
    void mappingTried(std::uint64_t id, std::shared_ptr<const MappingTrial> trial) override
    {
        post([=, to = m_context] { Q_EMIT to->mappingTried(id, trial); });
    }
    void sheetRead(std::uint64_t id, std::shared_ptr<const std::string> text) override
    {
        post([=, to = m_context] { Q_EMIT to->sheetRead(id, QString::fromStdString(*text)); });
    }
    void mappingChanged(std::shared_ptr<const MappingSheet> sheet) override
    {
        post([=, to = m_context] { to->m_mapping = sheet; });
    }
    void folderListed(std::uint64_t id, std::shared_ptr<const FolderListing> listing) override
    {
        post([=, to = m_context] { Q_EMIT to->folderListed(id, listing); });
    }
    void reportOpened(const std::string &file,
                      std::shared_ptr<const RecordedReport> report) override
    {
        post([=, to = m_context] { to->takeReport(file, report); });
    }
    void requestFailed(std::uint64_t id, const Error &error) override
    {
        post([=, to = m_context] { Q_EMIT to->requestFailed(id, displayText(error.message())); });
    }
    void filesChecked(const std::optional<Error> &change) override
    {
        post([=, to = m_context] { to->takeFileChange(change); });
    }
    void jobChanged(const JobSnapshot &job) override
    {
        post([=, to = m_context] { to->takeJob(job); });
    }
    void deviceChanged(const std::string &description) override
    {
        post([=, to = m_context] {
            to->m_device = displayText(description);
            Q_EMIT to->jobChanged();
        });
    }

private:
    template <class Function>
    void post(Function function)
    {
        postToUi(m_guard, std::move(function));
    }

    SessionContext *m_context;
    QPointer<QObject> m_guard;
};

SessionContext::SessionContext(SessionEnvironment environment, Settings &settings,
                               QList<SamplePair> samples, Memory memory, QObject *parent)
    : ViewContext(parent),
      m_settings(settings),
      m_memory(memory),
      m_hasIndex(bool(environment.makeIndex)),
      m_samples(std::move(samples)),
      m_relay(std::make_unique<Relay>(this)),
      m_session(std::move(environment), *m_relay)
{
    if (!usesIndex())
        m_session.setIndexUse(IndexUse::Off);
    connect(&notes(), &PairNotes::changedByUser, this, [this] {
        if (m_memory == Memory::On)
            m_settings.setNotes(pairKey(), notes().pinned(), notes().expected());
    });
}

SessionContext::~SessionContext() = default;

// --- requests -----------------------------------------------------------------------------------

void SessionContext::openSide(Side side, const QString &path)
{
    forgetSelection();
    takeFileChange({}); // was said of what is left now
    m_session.openSide(side == Side::A ? SessionSide::A : SessionSide::B, encoded(path));
}

void SessionContext::openPair(const QString &pathA, const QString &pathB)
{
    openPaths({pathA, pathB}, nullptr);
}

void SessionContext::openPaths(const QStringList &paths, std::shared_ptr<const MappingSheet> sheet)
{
    forgetSelection();
    takeFileChange({}); // was said of what is left now
    if (paths.size() == 2)
        m_session.openPair(encoded(paths[0]), encoded(paths[1]), std::move(sheet));
    else if (paths.size() == 1)
        m_session.openSide(SessionSide::A, encoded(paths[0]), std::move(sheet));
}

void SessionContext::swapSides()
{
    m_session.swapSides();
}

void SessionContext::closeAll()
{
    forgetSelection();
    takeFileChange({}); // was said of what is left now
    m_session.closeAll();
}

void SessionContext::setOptions(const CompareOptions &options)
{
    m_options = options;
    m_session.setOptions(options);
}

void SessionContext::setUsesIndex(bool use)
{
    m_settings.setUsesIndex(use);
    m_session.setIndexUse(usesIndex() ? IndexUse::Use : IndexUse::Off);
}

void SessionContext::verifyByReading()
{
    m_session.setIndexUse(usesIndex() ? IndexUse::Verify : IndexUse::Off);
}

void SessionContext::selectStep(std::optional<Step> step)
{
    m_session.selectStep(step);
}

void SessionContext::selectTensor(std::optional<std::size_t> row)
{
    m_userChose = true;
    setRow(row);
}

void SessionContext::selectPlace(std::optional<Step> step, const std::string &tensor)
{
    m_userChose = true;
    if (step == m_step) {
        setRow(rowNamed(tensor));
        return;
    }
    m_rowName = tensor; // found when the step is there
    m_session.selectStep(step);
}

void SessionContext::requestElements(const ElementRequest &request)
{
    if (!m_stepComparison || request.row >= m_stepComparison->tensors.size())
        return;
    m_session.requestElements(request.id, addressOf(request.row), request.query);
}

void SessionContext::requestNextDifference(std::uint64_t id, Index from, bool backward)
{
    if (m_row)
        m_session.requestNextDifference(id, addressOf(*m_row), from, backward);
}

void SessionContext::requestLayout(std::uint64_t id)
{
    if (m_row)
        m_session.requestLayout(id, addressOf(*m_row));
}

void SessionContext::requestMap(std::uint64_t id, const MapQuery &query)
{
    if (m_row)
        m_session.requestMap(id, addressOf(*m_row), query);
}

void SessionContext::requestHistory(std::uint64_t id)
{
    if (!m_row)
        return;
    const TensorRow &row = m_stepComparison->tensors[*m_row];
    m_session.requestHistory(id, row.a ? row.nameA : row.name, row.b ? row.nameB : row.name);
}

void SessionContext::searchNonFinite(std::uint64_t id)
{
    m_session.searchNonFinite(id);
}

void SessionContext::requestRecords(std::uint64_t id, const RecordQuery &query)
{
    m_session.requestRecords(id, query);
}

void SessionContext::requestRecordText(std::uint64_t id, const RecordPlaces &places)
{
    m_session.requestRecordText(id, places);
}

void SessionContext::requestDrift(std::uint64_t id, const DriftQuery &query)
{
    m_session.requestDrift(id, query);
}

void SessionContext::tryMapping(std::uint64_t id, const QString &path, const QString &sheet)
{
    m_session.tryMapping(id, encoded(path), sheet.toStdString());
}

void SessionContext::readSheet(std::uint64_t id, const QString &path)
{
    m_session.readSheet(id, encoded(path));
}

void SessionContext::saveSheet(std::uint64_t id, const QString &path, const QString &sheet,
                               const QString &sheetPath)
{
    m_session.saveSheet(id, encoded(path), sheet.toStdString(), encoded(sheetPath));
}

void SessionContext::useMapping(Side side, const QString &path, const QString &sheet,
                                const QString &sheetPath)
{
    forgetSelection();
    m_session.useMapping(side == Side::A ? SessionSide::A : SessionSide::B, encoded(path),
                         sheet.toStdString(), encoded(sheetPath));
}

QString SessionContext::mappingSheet() const
{
    return m_mapping ? decoded(m_mapping->path()) : QString();
}

void SessionContext::reload()
{
    takeFileChange(std::nullopt);
    Q_EMIT reloading();
    m_session.reload();
}

/// Asked for whenever the window is looked at again; the answer comes by itself.
void SessionContext::checkFiles()
{
    m_session.checkFiles();
}

void SessionContext::cancelJob()
{
    m_session.cancel();
}

void SessionContext::exportReport(const QString &path)
{
    m_session.exportReport(encoded(path));
}

std::shared_ptr<const TensorRef> SessionContext::selectedTensorRef(Side side) const
{
    return side == Side::A ? m_facts.a : m_facts.b;
}

CompareCommand SessionContext::command(std::optional<Step> step) const
{
    CompareCommand command{encoded(m_sides[0].path), encoded(m_sides[1].path), m_options, {}, {}};
    command.open.mapping = m_mapping;
    if (step)
        command.steps.only = StepSelection::Pair{*step, *step};
    return command;
}

void SessionContext::saveFile(const QString &path, const QByteArray &bytes)
{
    m_session.saveFile(encoded(path), bytes.toStdString());
}

void SessionContext::listFolder(std::uint64_t id, const QString &path)
{
    m_session.listFolder(id, encoded(path));
}

QString SessionContext::formats() const
{
    QStringList names;
    for (const Loader *loader : allLoaders())
        names += qs(loader->name());
    for (const DirectoryLoader *loader : allDirectoryLoaders())
        names += qs(loader->name());
    names.removeDuplicates();
    names += tr("traces");
    return names.join(QStringLiteral(", "));
}

void SessionContext::stopListing()
{
    m_session.stopListing();
}

QString SessionContext::lastFolder(FolderUse use) const
{
    const QString &now = m_folders[std::size_t(use)];
    const QString last = now.isEmpty() ? m_settings.lastFolder(use) : now;
    return last.isEmpty() ? QDir::currentPath() : last;
}

void SessionContext::setLastFolder(FolderUse use, const QString &path)
{
    m_folders[std::size_t(use)] = path;
    if (m_memory == Memory::On)
        m_settings.setLastFolder(use, path);
}

ReportOptions SessionContext::reportOptions() const
{
    if (m_report)
        return m_report->options;
    ReportOptions options;
    options.histograms = m_options.full;
    if (m_comparison)
        options.request = reportRequest(command(std::nullopt), *m_comparison);
    if (m_comparison) {
        auto evidence = std::make_shared<ReportEvidence>();
        evidence->curves = curvesOf(m_sides[0].metrics, m_sides[1].metrics, m_comparison->metrics,
                                    evidence->curvesLeftOut);
        options.evidence = std::move(evidence);
    }
    return options;
}

QString SessionContext::commandLine() const
{
    if (m_report)
        return decoded(m_report->options.request.command);
    const bool otherStep = m_step && m_comparison && m_step != m_comparison->shownStep;
    return decoded(forkpoint::commandLine(command(otherStep ? m_step : std::nullopt)));
}

QString SessionContext::reportCommand(const QString &path) const
{
    if (m_report)
        return decoded("forkpoint-cli report " + shellWord(encoded(m_reportFile)) + " --report "
                       + shellWord(encoded(path)));
    return decoded(forkpoint::commandLine(command(std::nullopt)) + " --report "
                   + shellWord(encoded(path)));
}

QString SessionContext::elementsCommand(const std::string &tensor, ElementOrder order) const
{
    return decoded(forkpoint::elementsCommand(command(m_step), tensor, order));
}

} // namespace forkpoint
