// SPDX-License-Identifier: GPL-3.0-or-later
// What the session says, and what of it is selected.
#include "app/gui/file_names.h"
#include "app/gui/session_context.h"
#include "model/compare/divergence_row.h"
#include "model/report/report_evidence.h"
#include "widgets/display_text.h"

#include <QDir>

#include <algorithm>

namespace forkpoint {

namespace {

/// Absolute by name alone: asks nothing of the file system the path lies in.
QString absolute(const QString &path)
{
    return QDir::isAbsolutePath(path) ? path : QDir::cleanPath(QDir::currentPath() + u'/' + path);
}

/// The numbers that a report keeps of one side.
std::vector<MetricSeries> keptMetrics(const ReportEvidence &evidence, Side side)
{
    std::vector<MetricSeries> metrics;
    for (const MetricCurves &curves : evidence.curves) {
        const MetricCurve &curve = side == Side::A ? curves.a : curves.b;
        if (!curve.series.points.empty())
            metrics.push_back(curve.series);
    }
    return metrics;
}

} // namespace

// --- what the session says ----------------------------------------------------------------------

void SessionContext::takeSide(Side side, const SideSnapshot &snapshot)
{
    SideState &state = m_sides[std::size_t(side)];
    state = {};
    state.path = decoded(snapshot.path);
    switch (snapshot.phase) {
    case SideSnapshot::Phase::Empty: state.phase = SideState::Phase::Empty; break;
    case SideSnapshot::Phase::Opening: state.phase = SideState::Phase::Opening; break;
    case SideSnapshot::Phase::Open: state.phase = SideState::Phase::Open; break;
    case SideSnapshot::Phase::Failed: state.phase = SideState::Phase::Failed; break;
    case SideSnapshot::Phase::Recorded: state.phase = SideState::Phase::Recorded; break;
    }
    state.format = displayText(snapshot.format);
    if (snapshot.phase != SideSnapshot::Phase::Recorded)
        m_report.reset();
    if (m_report && m_report->options.evidence)
        state.metrics = keptMetrics(*m_report->options.evidence, side);
    if (snapshot.run) {
        state.format = displayText(snapshot.run->format());
        state.steps = snapshot.run->steps();
        state.metrics = snapshot.run->metrics();
        state.diagnostics = snapshot.run->diagnostics();
        state.trace = snapshot.outline;
    }
    if (snapshot.error) {
        const ErrorCode code = snapshot.error->code;
        state.error = displayText(snapshot.error->message());
        state.isUnknown = code == ErrorCode::Unsupported || code == ErrorCode::NotFound;
    }
    rememberPair();
    Q_EMIT sideChanged(side);
}

void SessionContext::takeReport(const std::string &file,
                                std::shared_ptr<const RecordedReport> report)
{
    m_reportFile = decoded(file);
    m_report = std::move(report);
}

void SessionContext::takeFileChange(const std::optional<Error> &change)
{
    const QString text = change ? displayText(change->message()) : QString();
    if (text == m_changedFiles)
        return;
    m_changedFiles = text;
    Q_EMIT changedFilesChanged();
}

QString SessionContext::pairKey() const
{
    return absolute(m_sides[0].path) + u'\n' + absolute(m_sides[1].path);
}

void SessionContext::rememberPair()
{
    const bool open =
        m_sides[0].phase == SideState::Phase::Open && m_sides[1].phase == SideState::Phase::Open;
    const bool recorded = m_report && m_sides[1].phase == SideState::Phase::Recorded;
    if (!open && !recorded)
        return;
    if (open && m_memory == Memory::On)
        m_settings.addRecentPair(absolute(m_sides[0].path), absolute(m_sides[1].path));
    notes().replace(m_settings.pinned(pairKey()), m_settings.expected(pairKey()));
}

void SessionContext::takeComparison(std::shared_ptr<const RunComparison> comparison)
{
    m_comparison = std::move(comparison);
    Q_EMIT comparisonChanged();
    suggestRow();
}

void SessionContext::takeStep(std::optional<Step> step,
                              std::shared_ptr<const CheckpointComparison> comparison)
{
    const bool otherStep = step != m_step;
    m_step = step;
    m_stepComparison = std::move(comparison);
    const std::optional<std::size_t> oldRow = m_row;
    m_row = m_rowName.empty() ? std::nullopt : rowNamed(m_rowName);
    if (otherStep)
        Q_EMIT selectedStepChanged();
    Q_EMIT stepComparisonChanged();
    if (m_row != oldRow || otherStep)
        Q_EMIT selectedTensorChanged();
    suggestRow();
    refreshFacts();
}

void SessionContext::takeFacts(const PairFacts &facts)
{
    if (!m_row || !(facts.address == addressOf(*m_row)))
        return; // of a row that is no longer the selected one
    m_facts = facts;
    Q_EMIT selectedStatsChanged();
}

void SessionContext::takeJob(const JobSnapshot &job)
{
    switch (job.phase) {
    case JobSnapshot::Phase::Idle: m_job.phase = JobState::Phase::Idle; break;
    case JobSnapshot::Phase::Running: m_job.phase = JobState::Phase::Running; break;
    case JobSnapshot::Phase::Finished: m_job.phase = JobState::Phase::Finished; break;
    case JobSnapshot::Phase::Failed: m_job.phase = JobState::Phase::Failed; break;
    case JobSnapshot::Phase::Cancelled: m_job.phase = JobState::Phase::Cancelled; break;
    }
    m_job.title = displayText(job.title);
    m_job.progress = job.progress;
    m_job.bytesPerSecond = job.bytesPerSecond;
    m_job.error = job.error ? displayText(job.error->message()) : QString();
    Q_EMIT jobChanged();
}

// --- the selected tensor ------------------------------------------------------------------------

void SessionContext::forgetSelection()
{
    m_userChose = false;
    m_suggested = false;
    m_rowName.clear();
}

/// Until the user chooses. What was suggested while one side was open, or before the runs were compared to their end, is
/// replaced once; after that the selection stays with its name from step to step.
void SessionContext::suggestRow()
{
    if (!m_stepComparison || !m_stepComparison->finished)
        return;
    if (m_userChose || m_suggested) {
        if (!m_row && !m_rowName.empty()) // another step, which lacks what was selected
            setRow(rowWorthShowing());
        return;
    }
    setRow(rowWorthShowing());
    m_suggested = m_comparison && m_comparison->finished && m_row;
}

std::optional<std::size_t> SessionContext::rowNamed(const std::string &name) const
{
    if (!m_stepComparison)
        return std::nullopt;
    const std::vector<TensorRow> &rows = m_stepComparison->tensors;
    const auto found = std::lower_bound(
        rows.begin(), rows.end(), name,
        [](const TensorRow &row, const std::string &wanted) { return row.name < wanted; });
    if (found == rows.end() || found->name != name)
        return std::nullopt;
    return std::size_t(found - rows.begin());
}

/// Where the runs part, else what differs first at the step, else what could not be compared, else the
/// first row.
std::optional<std::size_t> SessionContext::rowWorthShowing() const
{
    const std::vector<TensorRow> &rows = m_stepComparison->tensors;
    if (rows.empty())
        return std::nullopt;
    if (m_comparison && m_comparison->firstDivergence) {
        if (const TensorRow *row = rowOfDivergence(rows, *m_comparison->firstDivergence))
            return std::size_t(row - rows.data());
    }
    // The runs may part in a metric, at a step without items, or the step shown may be another one.
    const std::optional<FirstDivergence> here = firstDivergenceIn(*m_stepComparison);
    if (const auto row = here && here->onlyIn.empty() ? rowNamed(here->name) : std::nullopt)
        return row;
    const auto firstOf = [&](ItemStatus status) {
        return std::find_if(rows.begin(), rows.end(),
                            [&](const TensorRow &row) { return row.status == status; });
    };
    auto worth = firstOf(ItemStatus::Different);
    if (worth == rows.end() && m_stepComparison->finished)
        worth = firstOf(ItemStatus::NotCompared);
    return worth == rows.end() ? 0 : std::size_t(worth - rows.begin());
}

void SessionContext::setRow(std::optional<std::size_t> row)
{
    if (row && (!m_stepComparison || *row >= m_stepComparison->tensors.size()))
        row.reset();
    if (row == m_row)
        return;
    m_row = row;
    m_rowName = row ? m_stepComparison->tensors[*row].name : std::string();
    Q_EMIT selectedTensorChanged();
    refreshFacts();
}

std::optional<Side> SessionContext::selectedStatsSide() const
{
    const PairAddress &measured = m_facts.measured;
    const bool isPair = m_facts.address.a && m_facts.address.b;
    if (!m_facts.stats || !isPair || measured.a.has_value() == measured.b.has_value())
        return std::nullopt;
    return measured.a ? Side::A : Side::B;
}

PairAddress SessionContext::addressOf(std::size_t row) const
{
    const TensorRow &tensor = m_stepComparison->tensors[row];
    return {m_step, tensor.a, tensor.b};
}

/// Asks for what the selected row does not say; takes over what it does.
void SessionContext::refreshFacts()
{
    if (!m_row) {
        if (m_facts.a || m_facts.b || m_facts.stats) {
            m_facts = {};
            Q_EMIT selectedStatsChanged();
        }
        return;
    }
    const PairAddress address = addressOf(*m_row);
    const TensorRow &row = m_stepComparison->tensors[*m_row];
    const bool same = address == m_facts.address;
    if (same && (m_facts.stats || !row.stats))
        return;
    const std::shared_ptr<const DiffStats> known = row.stats;
    if (same)
        m_facts.stats = known;
    else
        m_facts = {address, nullptr, nullptr, known, {}};
    Q_EMIT selectedStatsChanged();
    m_session.requestFacts(address, known);
}

} // namespace forkpoint
