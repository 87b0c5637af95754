// SPDX-License-Identifier: GPL-3.0-or-later
// What the rows of the strip's timeline stand for: stages, ranks or micro-batches.
#include "widgets/views/step_strip.h"

#include <QActionGroup>
#include <QMenu>
#include <QToolButton>

#include <algorithm>

namespace forkpoint {

void StepStrip::buildRows()
{
    m_rowsMenu = new QMenu(tr("&Timeline rows"), this);
    m_rowsActions = new QActionGroup(this);
    const std::pair<QString, Rows> choices[] = {
        {tr("&Stages"), Rows::Stages},
        {tr("&Ranks, those alike in one row"), Rows::Ranks},
        {tr("&Micro-batches, those alike in one row"), Rows::MicroBatches}};
    for (const auto &[text, rows] : choices) {
        QAction *action = m_rowsMenu->addAction(text);
        action->setCheckable(true);
        action->setData(int(rows));
        m_rowsActions->addAction(action);
    }
    connect(m_rowsActions, &QActionGroup::triggered, this,
            [this](const QAction *action) { showRows(Rows(action->data().toInt())); });
    m_rowsButton = new QToolButton(this);
    m_rowsButton->setObjectName(QStringLiteral("timelineRows"));
    m_rowsButton->setAutoRaise(true);
    m_rowsButton->setPopupMode(QToolButton::InstantPopup);
    m_rowsButton->setFocusPolicy(Qt::TabFocus);
    m_rowsButton->setAccessibleName(tr("Rows of the timeline"));
    m_rowsButton->setToolTip(tr("What the rows of the timeline stand for"));
    m_rowsButton->setMenu(m_rowsMenu);
    m_rowsButton->hide();
}

bool StepStrip::showRows(Rows rows)
{
    const auto &actions = m_rowsActions->actions();
    const auto action = std::find_if(actions.begin(), actions.end(), [&](const QAction *each) {
        return Rows(each->data().toInt()) == rows;
    });
    if (!(*action)->isEnabled())
        return false;
    m_rows = rows;
    refreshTimeline();
    refreshRows();
    measure();
    updateGeometry();
    update();
    return true;
}

/// Rows that the traces no longer have give way to the stages.
void StepStrip::refreshRows()
{
    const bool hasRanks =
        m_comparison && m_comparison->trace && m_comparison->trace->ranks.size() > 1;
    const bool hasBatches =
        m_comparison && m_comparison->trace && !m_comparison->trace->microBatches.empty();
    if ((m_rows == Rows::Ranks && !hasRanks) || (m_rows == Rows::MicroBatches && !hasBatches)) {
        m_rows = Rows::Stages;
        refreshTimeline();
    }
    for (QAction *action : m_rowsActions->actions()) {
        const Rows rows = Rows(action->data().toInt());
        action->setEnabled(rows == Rows::Stages || (rows == Rows::Ranks ? hasRanks : hasBatches));
        action->setChecked(rows == m_rows);
    }
    const QString what = m_rows == Rows::Ranks ? tr("ranks")
        : m_rows == Rows::MicroBatches         ? tr("micro-batches")
                                               : tr("stages");
    // Some styles draw the menu's arrow over the end of the text.
    m_rowsButton->setText(tr("%1 by step").arg(what) + QStringLiteral("   "));
    m_rowsButton->setVisible((hasRanks || hasBatches) && !m_timeline.isEmpty());
    m_rowsMenu->setEnabled(m_rowsButton->isVisibleTo(this));
}

void StepStrip::refreshTimeline()
{
    if (!m_comparison)
        return;
    if (m_rows == Rows::Ranks && m_rankRows.empty())
        m_rankRows = rowsOfRanks(*m_comparison->trace);
    if (m_rows == Rows::MicroBatches && m_batchRows.empty())
        m_batchRows = rowsOfMicroBatches(*m_comparison->trace);
    std::optional<TimelineLanes::Place> divergence;
    if (const auto &first = m_comparison->firstDivergence; first && first->step)
        divergence = TimelineLanes::Place{*first->step, rowOfDivergence()};
    Timeline timeline(m_rows == Rows::Ranks        ? linksOf(m_rankRows)
                          : m_rows == Rows::Stages ? m_comparison->chain
                                                   : linksOf(m_batchRows));
    std::vector<TimelineLanes::Alone> alone;
    for (const StepMark &mark : m_comparison->steps) {
        const bool isAlone =
            mark.status == StepStatus::OnlyInA || mark.status == StepStatus::OnlyInB;
        if (isAlone && mark.lane == StepLane::Trace)
            alone.push_back({mark.step, mark.status});
    }
    m_timeline.setTimeline(std::move(timeline), std::move(divergence), std::move(alone));
}

std::string StepStrip::rowOfDivergence() const
{
    const FirstDivergence &first = *m_comparison->firstDivergence;
    if (m_rows == Rows::Stages)
        return first.stage;
    const TraceComparison &trace = *m_comparison->trace;
    for (const TimelineRow &row : m_rows == Rows::Ranks ? m_rankRows : m_batchRows) {
        const bool isThere =
            std::any_of(row.members.begin(), row.members.end(), [&](std::size_t member) {
                return m_rows == Rows::Ranks
                    ? trace.firstRank == member
                    : first.microBatch == trace.microBatches[member].number;
            });
        if (isThere)
            return row.name;
    }
    return {};
}

/// A cell was clicked: of ranks or micro-batches that share it, one that differs there.
void StepStrip::choose(const TimelineLanes::Place &place)
{
    select(place.step);
    if (m_rows == Rows::Stages) {
        Q_EMIT cellChosen(place.step, place.row);
        return;
    }
    const auto &rows = m_rows == Rows::Ranks ? m_rankRows : m_batchRows;
    const auto row = std::find_if(rows.begin(), rows.end(),
                                  [&](const TimelineRow &each) { return each.name == place.row; });
    if (row == rows.end())
        return;
    const TraceComparison &trace = *m_comparison->trace;
    const auto differs = [&](std::size_t member) {
        const auto &links =
            m_rows == Rows::Ranks ? trace.ranks[member].links : trace.microBatches[member].links;
        return std::any_of(links.begin(), links.end(), [&](const ChainLink &link) {
            return link.step == place.step && link.status == LinkStatus::Different;
        });
    };
    const auto found = std::find_if(row->members.begin(), row->members.end(), differs);
    const std::size_t member = found == row->members.end() ? row->members.front() : *found;
    if (m_rows == Rows::Ranks)
        Q_EMIT rankChosen(place.step, member);
    else
        Q_EMIT microBatchChosen(place.step, trace.microBatches[member].number);
}

} // namespace forkpoint
