// SPDX-License-Identifier: GPL-3.0-or-later
// What the page of records asks for: from record to record, in the window that is held and beyond it.
#include "model/traces/kept_path.h"
#include "widgets/display_text.h"
#include "widgets/models/cell_table_model.h"
#include "widgets/views/records_page.h"

#include <QKeyEvent>
#include <QToolButton>
#include <QTreeView>

#include <algorithm>
#include <limits>

namespace forkpoint {

namespace {

using Seek = RecordQuery::Seek;

bool hasDifference(const StageSummary &stage)
{
    return stage.evidence.different > 0 || stage.oneSided > 0;
}

} // namespace

void RecordsPage::ask(RecordQuery query)
{
    m_query = std::move(query);
    m_query.of = m_of;
    m_isNew = true;
    m_isPending = !isVisible();
    fillCombos();
    if (m_isPending)
        return;
    m_askedId = m_context->nextRequestId();
    m_context->requestRecords(m_askedId, m_query);
    describe();
}

void RecordsPage::receive(quint64 id, std::shared_ptr<const RecordWindow> window)
{
    if (id == 0 || id != m_askedId)
        return;
    const Seek seek = m_query.seek;
    const bool isMove = seek == Seek::NextDifference || seek == Seek::PreviousDifference
        || seek == Seek::NextInA || seek == Seek::NextInB;
    if (isMove && !window->found) {
        if (!window->complete)
            return;
        m_askedId = 0;
        if (seek == Seek::NextInA || seek == Seek::NextInB)
            Q_EMIT message(tr("No later record of that name in this step"));
        else
            continueInStep(seek == Seek::PreviousDifference);
        return;
    }
    if (seek == Seek::FirstDifference && !window->found && window->complete
        && !m_query.sought.isAny()) {
        RecordQuery query = m_query; // equal throughout: where it begins
        query.seek = Seek::At;
        query.from = 0;
        ask(std::move(query));
        return;
    }
    take(std::move(window), std::exchange(m_isNew, false));
}

void RecordsPage::showRank(std::size_t rank, std::optional<std::int64_t> step)
{
    if (rank >= rankCount())
        return;
    m_steered = m_steered || step;
    RecordQuery query;
    query.rank = rank;
    const auto *first =
        !isAlone() && trace()->ranks[rank].first ? &*trace()->ranks[rank].first : nullptr;
    query.iteration = step ? step : first ? first->record.iteration : m_query.iteration;
    ask(std::move(query));
}

void RecordsPage::showPlace(std::optional<std::int64_t> step, RecordQuery::Sought sought)
{
    m_steered = true;
    RecordQuery query;
    query.rank = m_query.rank;
    query.iteration = step;
    query.sought = std::move(sought);
    ask(std::move(query));
}

std::optional<RecordQuery> RecordsPage::place() const
{
    const RecordRow *current = row();
    if (!current)
        return std::nullopt;
    RecordQuery query = m_query;
    query.seek = Seek::At;
    query.from = current->number;
    query.sought = {};
    return query;
}

void RecordsPage::showQuery(RecordQuery query)
{
    const bool isKnown = query.of == m_of && query.rank < rankCount();
    if (!isKnown || query == place())
        return;
    m_steered = true;
    ask(std::move(query));
}

void RecordsPage::goToDifference(bool backward)
{
    const RecordRow *current = row();
    if (!current)
        return;
    if (isAlone()) {
        Q_EMIT message(tr("Nothing is compared: there is no difference to go to"));
        return;
    }
    // Most often it is in the window already.
    const auto &rows = m_window->rows;
    const int step = backward ? -1 : 1;
    const auto count = int(rows.size());
    for (int i = m_view->currentIndex().row() + step; i >= 0 && i < count; i += step) {
        if (isDifference(rows[std::size_t(i)].status)) {
            m_view->setCurrentIndex(m_model->index(i, 0));
            m_view->scrollTo(m_view->currentIndex());
            return;
        }
    }
    RecordQuery query = m_query;
    query.seek = backward ? Seek::PreviousDifference : Seek::NextDifference;
    query.from = current->number;
    query.sought = {};
    ask(std::move(query));
}

/// None is left in this step: on to the next one in which any rank has some.
void RecordsPage::continueInStep(bool backward)
{
    std::optional<std::int64_t> next;
    for (const StageSummary &stage : trace()->stages) {
        if (!hasDifference(stage) || !stage.iteration || !m_query.iteration)
            continue;
        if (backward && *stage.iteration < *m_query.iteration)
            next = std::max(next.value_or(*stage.iteration), *stage.iteration);
        if (!backward && *stage.iteration > *m_query.iteration)
            next = std::min(next.value_or(*stage.iteration), *stage.iteration);
    }
    if (!next) {
        if (m_window)
            m_query = m_window->query;
        fillCombos();
        Q_EMIT message(backward ? tr("No difference before this one on this rank")
                                : tr("No difference behind this one on this rank"));
        return;
    }
    m_steered = true;
    RecordQuery query = m_query;
    query.iteration = next;
    query.seek = backward ? Seek::PreviousDifference : Seek::NextDifference;
    query.from = backward ? std::numeric_limits<std::uint64_t>::max() : 0;
    if (!backward)
        query.seek = Seek::FirstDifference;
    ask(std::move(query));
    m_context->selectStep(*next);
}

void RecordsPage::goToNamesake()
{
    const RecordRow *current = row();
    if (!current || isAlone() || (current->a && current->b))
        return;
    RecordQuery query = m_query;
    query.seek = current->a ? Seek::NextInB : Seek::NextInA;
    query.from = current->number;
    query.sought = {current->record().stage, current->record().name};
    ask(std::move(query));
}

void RecordsPage::askForMore(bool earlier)
{
    if (!m_window || m_window->rows.empty())
        return;
    RecordQuery query = m_query;
    query.seek = earlier ? Seek::Before : Seek::At;
    query.from = earlier ? m_window->rows.front().number : m_window->rows.back().number + 1;
    query.sought = {};
    ask(std::move(query));
}

void RecordsPage::openTensor()
{
    const RecordRow *current = row();
    if (!current || isAlone() || !isKept(*current)) {
        Q_EMIT message(tr("No whole tensor was kept of this record on both sides"));
        return;
    }
    const auto isKeptStep = [&](Side side) {
        const auto &steps = m_context->side(side).steps;
        return std::any_of(steps.begin(), steps.end(), [&](const RunStep &step) {
            return step.isKept && step.step == current->record().iteration;
        });
    };
    if (!isKeptStep(Side::A) || !isKeptStep(Side::B)) {
        Q_EMIT message(tr("This step is a checkpoint: its tensors are listed, not those that the "
                          "trace kept"));
        return;
    }
    const TraceCoverage &coverage = trace()->coverage;
    const bool severalRanks = coverage.ranksCompared + coverage.ranksOnlyA > 1;
    const TraceRecord &record = current->record();
    m_context->selectPlace(record.iteration, firstKeptName(record, m_window->rank, severalRanks));
    Q_EMIT tensorRequested();
}

/// In the list F8 goes from record to record, not from step to step; at an end of the window the
/// arrow keys go on.
bool RecordsPage::eventFilter(QObject *object, QEvent *event)
{
    if (object != m_view
        || (event->type() != QEvent::ShortcutOverride && event->type() != QEvent::KeyPress))
        return QWidget::eventFilter(object, event);
    const auto *key = static_cast<QKeyEvent *>(event);
    const bool isPress = event->type() == QEvent::KeyPress;
    if (key->key() == Qt::Key_F8) {
        if (isPress)
            goToDifference(key->modifiers() & Qt::ShiftModifier);
        event->accept();
        return true;
    }
    const int current = m_view->currentIndex().row();
    const bool up = key->key() == Qt::Key_Up && current == 0 && !m_earlier->isHidden();
    const bool down =
        key->key() == Qt::Key_Down && current == m_model->rowCount() - 1 && !m_later->isHidden();
    if (isPress && (up || down)) {
        askForMore(up);
        return true;
    }
    return QWidget::eventFilter(object, event);
}

} // namespace forkpoint
