// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/records_page.h"

#include "model/traces/kept_path.h"
#include "widgets/display_text.h"
#include "widgets/models/record_cells.h"
#include "widgets/views/flow_layout.h"
#include "widgets/views/record_columns.h"
#include "widgets/views/table_actions.h"
#include "widgets/views/view_setup.h"

#include <QAction>
#include <QComboBox>
#include <QLabel>
#include <QScrollBar>
#include <QStackedWidget>
#include <QTimer>
#include <QToolButton>
#include <QTreeView>
#include <QVBoxLayout>

#include <algorithm>
#include <array>

namespace forkpoint {

namespace {

using Seek = RecordQuery::Seek;

/// Steps that the box offers; others are chosen in the timeline.
constexpr std::size_t MostSteps = 2000;
constexpr int MostRankCharacters = 24;
QString countsText(const RecordWindow &window)
{
    const RecordCounts &counts = window.counts;
    const std::uint64_t first = window.rowsBefore + 1;
    QStringList parts = {RecordsPage::tr("%1–%2 of %3")
                             .arg(groupedText(window.rows.empty() ? 0 : first),
                                  groupedText(window.rowsBefore + window.rows.size()),
                                  countedText(counts.rows, "record", "records"))};
    const auto add = [&](std::uint64_t count, const QString &what) {
        if (count > 0)
            parts += groupedText(count) + u' ' + what;
    };
    add(counts.different, RecordsPage::tr("differ"));
    add(counts.moved, RecordsPage::tr("moved"));
    add(counts.onlyA, RecordsPage::tr("only in A"));
    add(counts.onlyB, RecordsPage::tr("only in B"));
    add(counts.noneSeen, RecordsPage::tr("without a difference seen, by weak digests"));
    add(counts.notComparable, RecordsPage::tr("not comparable"));
    add(counts.noValue, RecordsPage::tr("without a value"));
    add(counts.artifacts, RecordsPage::tr("left out as artifacts"));
    const bool isAlone = window.query.of != RecordQuery::Of::Both;
    if (window.complete && counts.differences() == 0)
        parts += isAlone ? RecordsPage::tr("none compared") : RecordsPage::tr("no difference");
    if (!window.complete)
        parts += RecordsPage::tr("reading on…");
    if (isAlone && !window.inA && !window.inB)
        parts += RecordsPage::tr("this rank recorded no such step");
    if (!isAlone && (!window.inA || !window.inB))
        parts += window.inA ? RecordsPage::tr("B has no such step")
            : window.inB    ? RecordsPage::tr("A has no such step")
                            : RecordsPage::tr("neither side recorded this step on this rank");
    return parts.join(QStringLiteral(" · "));
}

std::vector<std::int64_t> stepsOf(const TraceCoverage &coverage)
{
    std::vector<std::int64_t> steps = coverage.iterationsCompared;
    for (const auto *more : {&coverage.iterationsOnlyA, &coverage.iterationsOnlyB})
        steps.insert(steps.end(), more->begin(), more->end());
    std::sort(steps.begin(), steps.end());
    return steps;
}

QToolButton *button(const QString &text, const QString &toolTip, QWidget *parent)
{
    auto *made = new QToolButton(parent);
    made->setText(text);
    made->setToolTip(toolTip);
    made->setAutoRaise(true);
    made->setFocusPolicy(Qt::TabFocus);
    return made;
}

/// False where the list shows those texts already: filling one anew would close it under the user.
bool fill(QComboBox &list, const QStringList &texts)
{
    bool isShown = list.count() == texts.size();
    for (int i = 0; isShown && i < list.count(); ++i)
        isShown = list.itemText(i) == texts[i];
    if (isShown)
        return false;
    list.clear();
    list.addItems(texts);
    return true;
}

} // namespace

RecordsPage::RecordsPage(ViewContext *context, QWidget *parent)
    : QWidget(parent),
      m_context(context),
      m_model(new CellTableModel(recordTitles(), recordTitleTips(), this)),
      m_view(makeTable(m_model, tr("Records"), this)),
      m_side(new QComboBox(this)),
      m_step(new QComboBox(this)),
      m_rank(new QComboBox(this)),
      m_stage(new QComboBox(this)),
      m_counts(new QLabel(this)),
      m_instead(new QLabel(this)),
      m_stack(new QStackedWidget(this))
{
    m_view->setObjectName(QStringLiteral("recordTable"));
    setRecordColumnWidths(m_view);
    m_view->installEventFilter(this);
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(4);
    buildBar();
    for (QLabel *label : {m_counts, m_instead}) {
        label->setTextFormat(Qt::PlainText);
        label->setWordWrap(true);
        label->setForegroundRole(QPalette::PlaceholderText);
    }
    m_counts->setIndent(10);
    m_instead->setAlignment(Qt::AlignCenter);
    m_instead->setMargin(24);
    layout->addWidget(m_counts);
    m_stack->addWidget(m_view);
    m_stack->addWidget(m_instead);
    layout->addWidget(m_stack, 1);
    buildActions();

    connect(m_view->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this] {
        const RecordRow *current = row();
        m_namesake->setEnabled(current && !isAlone() && (!current->a || !current->b));
        m_openTensor->setEnabled(current && isKept(*current));
        Q_EMIT rowChanged();
    });
    connect(context, &ViewContext::comparisonChanged, this, &RecordsPage::refresh);
    connect(context, &ViewContext::sideChanged, this, &RecordsPage::refreshAlone);
    connect(context, &ViewContext::selectedStepChanged, this, &RecordsPage::followStep);
    connect(context, &ViewContext::recordsReady, this, &RecordsPage::receive);
    connect(context, &ViewContext::requestFailed, this, [this](quint64 id, const QString &error) {
        if (id != 0 && id == m_askedId)
            fail(tr("Not read: %1").arg(displayText(error)));
    });
    refresh();
}

void RecordsPage::buildBar()
{
    auto *bar = new FlowLayout;
    bar->setContentsMargins(8, 0, 8, 0);
    bar->setSpacing(6);
    m_side->setAccessibleName(tr("Whose records"));
    m_side->setToolTip(tr("Nothing is compared: the records of which side are listed"));
    m_side->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    bar->addWidget(m_side);
    m_step->setAccessibleName(tr("Step"));
    m_rank->setAccessibleName(tr("Rank"));
    m_stage->setAccessibleName(tr("Stage"));
    for (QComboBox *box : {m_step, m_rank, m_stage}) {
        box->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
        box->setMinimumContentsLength(box == m_stage ? 10 : 7);
        bar->addWidget(box);
    }
    m_previous = button(tr("◂ difference"), tr("Previous difference (Shift+F8 in the list)"), this);
    m_next = button(tr("difference ▸"), tr("Next difference (F8 in the list)"), this);
    m_earlier = button(tr("▴ earlier"), tr("Earlier records of the step"), this);
    m_later = button(tr("▾ later"), tr("Later records of the step"), this);
    for (QToolButton *each : {m_previous, m_next, m_earlier, m_later})
        bar->addWidget(each);
    static_cast<QVBoxLayout *>(layout())->addLayout(bar);

    connect(m_side, &QComboBox::activated, this, [this](int index) {
        const auto sides = sidesAlone();
        if (std::size_t(index) < sides.size())
            startAlone(sides[std::size_t(index)] == Side::A ? RecordQuery::Of::A
                                                            : RecordQuery::Of::B);
    });
    connect(m_step, &QComboBox::activated, this, [this](int index) {
        const auto at = std::size_t(index);
        if (at < m_steps.size())
            showPlace(m_steps[at], {});
        if (at < m_steps.size())
            m_context->selectStep(m_steps[at]);
    });
    connect(m_rank, &QComboBox::activated, this, [this](int index) {
        RecordQuery query = m_query;
        query.rank = std::size_t(index);
        query.seek = Seek::FirstDifference;
        query.sought = {};
        ask(std::move(query));
    });
    connect(m_stage, &QComboBox::activated, this, [this](int index) {
        RecordQuery query = m_query;
        query.stage = index > 0 ? m_stage->itemData(index).toByteArray().toStdString() : "";
        query.seek = Seek::FirstDifference;
        query.sought = {};
        ask(std::move(query));
    });
    connect(m_previous, &QToolButton::clicked, this, [this] { goToDifference(true); });
    connect(m_next, &QToolButton::clicked, this, [this] { goToDifference(false); });
    connect(m_earlier, &QToolButton::clicked, this, [this] { askForMore(true); });
    connect(m_later, &QToolButton::clicked, this, [this] { askForMore(false); });
}

void RecordsPage::buildActions()
{
    const auto add = [this](const QString &text, auto done) {
        auto *action = new QAction(text, m_view);
        action->setEnabled(false);
        m_view->addAction(action);
        connect(action, &QAction::triggered, this, done);
        return action;
    };
    m_openTensor = add(tr("Open the whole tensor"), [this] { openTensor(); });
    m_namesake = add(tr("Next record of this name on the other side"), [this] { goToNamesake(); });
    connect(m_view, &QTreeView::activated, this, [this] { openTensor(); });
    addTableActions(m_view, m_context, QStringLiteral("records"),
                    [this](const QString &text) { Q_EMIT message(text); });
}

// --- what there is --------------------------------------------------------------------------------

const TraceComparison *RecordsPage::trace() const
{
    return m_trace.get();
}

bool RecordsPage::hasTraces() const
{
    return (m_trace || m_outline) && !m_context->isReport();
}

const RecordRow *RecordsPage::row() const
{
    const int current = m_view->currentIndex().row();
    return m_window && current >= 0 && std::size_t(current) < m_window->rows.size()
        ? &m_window->rows[std::size_t(current)]
        : nullptr;
}

QString RecordsPage::summary() const
{
    return m_stack->currentWidget() == m_instead ? m_instead->text() : m_counts->text();
}

void RecordsPage::refresh()
{
    const auto comparison = m_context->comparison();
    const auto trace = comparison ? comparison->trace : nullptr;
    const bool wasFinished = m_trace && m_trace->finished;
    m_trace = trace;
    if (!trace)
        forget();
    fillCombos();
    if (trace && trace->finished && !wasFinished)
        start();
    describe();
    refreshAlone();
}

void RecordsPage::forget()
{
    m_askedId = 0;
    m_isPending = m_steered = false;
    m_query = {};
    m_of = RecordQuery::Of::Both;
    m_outline.reset();
    m_window.reset();
    m_model->setRows({});
    Q_EMIT rowChanged();
}

void RecordsPage::start()
{
    RecordQuery query;
    const TraceComparison &comparison = *m_trace;
    if (comparison.firstRank) {
        query.rank = *comparison.firstRank;
        query.iteration = comparison.ranks[query.rank].first->record.iteration;
    } else if (!m_steps.empty()) {
        const auto selected = m_context->selectedStep();
        const bool known =
            selected && std::binary_search(m_steps.begin(), m_steps.end(), *selected);
        query.iteration = known ? *selected : m_steps.front();
    }
    if (!comparison.refusal.empty() || comparison.ranks.empty())
        return;
    ask(std::move(query));
}

/// The step that was chosen elsewhere, unless it is the one that the window opened with.
void RecordsPage::followStep()
{
    const auto comparison = m_context->comparison();
    const auto step = m_context->selectedStep();
    const bool isOpening = !m_steered && comparison && step == comparison->shownStep;
    if (!hasTraces() || !step || isOpening || step == m_query.iteration
        || !std::binary_search(m_steps.begin(), m_steps.end(), *step))
        return;
    showPlace(*step, {});
}

void RecordsPage::fillCombos()
{
    m_steps = m_outline ? m_outline->iterations
        : trace()       ? stepsOf(trace()->coverage)
                        : std::vector<std::int64_t>();
    const std::size_t listed = std::min(m_steps.size(), MostSteps);
    QStringList steps, rankTexts;
    for (std::size_t i = 0; i < listed; ++i)
        steps += tr("step %1").arg(m_steps[i]);
    fill(*m_step, steps);
    const std::size_t ranks = rankCount();
    qsizetype longest = 0;
    for (std::size_t i = 0; i < ranks; ++i) {
        rankTexts += rankText(i);
        longest = std::max(longest, rankTexts.back().size());
    }
    if (fill(*m_rank, rankTexts))
        m_rank->setMinimumContentsLength(int(std::min<qsizetype>(longest, MostRankCharacters)));
    m_rank->setVisible(ranks > 1);
    m_rank->setCurrentIndex(int(m_query.rank));
    const auto at = m_query.iteration
        ? std::lower_bound(m_steps.begin(), m_steps.end(), *m_query.iteration) - m_steps.begin()
        : -1;
    m_step->setVisible(listed > 0);
    m_step->setCurrentIndex(std::size_t(at) < listed ? int(at) : -1);
    m_stage->clear();
    m_stage->addItem(tr("all stages"));
    static const std::vector<std::string> None;
    for (const std::string &stage : m_window ? m_window->stages : None) {
        m_stage->addItem(displayText(stage), QByteArray::fromStdString(stage));
        if (stage == m_query.stage)
            m_stage->setCurrentIndex(m_stage->count() - 1);
    }
}

// --- what came of it ------------------------------------------------------------------------------

void RecordsPage::fail(const QString &problem)
{
    m_askedId = 0;
    m_window.reset();
    m_model->setRows({});
    m_instead->setText(problem);
    m_stack->setCurrentWidget(m_instead);
    m_counts->clear();
    Q_EMIT rowChanged();
}

void RecordsPage::take(std::shared_ptr<const RecordWindow> window, bool isNew)
{
    const RecordRow *before = row();
    const std::optional<std::uint64_t> number =
        !isNew && before ? std::optional(before->number) : std::nullopt;
    const int scrolled = m_view->verticalScrollBar()->value();
    m_window = std::move(window);
    std::vector<CellRow> rows;
    std::size_t current = m_window->found.value_or(0);
    for (std::size_t i = 0; i < m_window->rows.size(); ++i) {
        rows.push_back(recordCells(m_window->rows[i]));
        if (number && m_window->rows[i].number == *number)
            current = i;
    }
    m_model->setRows(std::move(rows));
    fillCombos();
    const QModelIndex index = m_model->index(int(current), 0);
    m_view->setCurrentIndex(index);
    if (isNew)
        centre();
    else
        m_view->verticalScrollBar()->setValue(scrolled);
    describe();
    Q_EMIT rowChanged();
}

/// With what stands before it, once the layout has settled.
void RecordsPage::centre()
{
    QTimer::singleShot(0, this, [this] {
        m_view->scrollTo(m_view->currentIndex(), QAbstractItemView::PositionAtCenter);
    });
}

void RecordsPage::describe()
{
    const bool more = m_window && m_window->complete;
    const auto end = m_window ? m_window->rowsBefore + m_window->rows.size() : 0;
    m_earlier->setVisible(more && m_window->rowsBefore > 0);
    m_later->setVisible(more && end < m_window->counts.rows);
    for (QToolButton *each : {m_next, m_previous}) {
        each->setEnabled(m_window != nullptr);
        each->setVisible(!isAlone());
    }
    QString instead;
    if (!hasTraces())
        instead = tr("Records are listed where both sides have a trace.");
    else if (isAlone())
        instead = m_window ? QString() : tr("Reading records…");
    else if (!m_trace->refusal.empty())
        instead = tr("Not compared: %1").arg(displayText(m_trace->refusal));
    else if (m_trace->finished && m_trace->ranks.empty())
        instead = tr("No rank is on both sides.");
    else if (!m_window)
        instead = m_trace->finished ? tr("Reading records…") : tr("The traces are being compared…");
    if (m_window && m_window->rows.empty() && m_window->complete)
        instead = tr("No record of this step, rank and stage.");
    m_instead->setText(instead);
    m_stack->setCurrentWidget(instead.isEmpty() ? static_cast<QWidget *>(m_view) : m_instead);
    m_counts->setText(m_window ? countsText(*m_window) : QString());
}

// --- events ---------------------------------------------------------------------------------------

void RecordsPage::showEvent(QShowEvent *event)
{
    QWidget::showEvent(event);
    if (m_isPending)
        ask(m_query);
}

void RecordsPage::resizeEvent(QResizeEvent *event)
{
    QWidget::resizeEvent(event);
    makeRoom();
}

void RecordsPage::makeRoom()
{
    fitRecordColumns(m_view, m_of, width());
}

} // namespace forkpoint
