// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/tensor_list.h"

#include "widgets/display_text.h"
#include "widgets/models/tensor_table_model.h"
#include "widgets/models/tensor_tree_model.h"
#include "widgets/models/value_table_model.h"
#include "widgets/models/value_tree_model.h"
#include "widgets/roles.h"
#include "widgets/theme.h"
#include "widgets/views/card.h"
#include "widgets/views/flow_layout.h"
#include "widgets/views/hinted_line_edit.h"
#include "widgets/views/list_counts.h"
#include "widgets/views/metrics_page.h"
#include "widgets/views/pairing_page.h"
#include "widgets/views/records_page.h"
#include "widgets/views/row_menu.h"
#include "widgets/views/shown_lists.h"
#include "widgets/views/table_actions.h"
#include "widgets/views/tensor_columns.h"
#include "widgets/views/view_setup.h"

#include <QAction>
#include <QCheckBox>
#include <QHeaderView>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QPainter>
#include <QResizeEvent>
#include <QScrollBar>
#include <QStackedWidget>
#include <QTabBar>
#include <QTimer>
#include <QToolButton>
#include <QTreeView>
#include <QVBoxLayout>

namespace forkpoint {

namespace {

/// Trees up to this many rows are shown open.
constexpr std::size_t OpenTreeRows = 300;
QString stepText(const ViewContext *context)
{
    const std::optional<Step> step = context->selectedStep();
    return step ? TensorList::tr("step %1 · ").arg(*step) : QString();
}

/// Of an empty page.
QString whyNone(const CheckpointComparison &comparison, bool values)
{
    const Verdict &verdict = comparison.verdict;
    if (comparison.values.empty() && verdict.outcome == Outcome::NotCompared
        && !verdict.reason.empty())
        return TensorList::tr("Nothing to list: %1.").arg(displayText(verdict.reason));
    return values ? TensorList::tr("There are no values beside the tensors.")
                  : TensorList::tr("No tensors.");
}

} // namespace

TensorList::TensorList(ViewContext *context, QWidget *parent)
    : QWidget(parent),
      m_context(context),
      m_table(new TensorTableModel(this, &context->notes())),
      m_tree(new TensorTreeModel(this, &context->notes())),
      m_values(new ValueTableModel(this, &context->notes())),
      m_valueTree(new ValueTreeModel(this, &context->notes()))
{
    setObjectName(QStringLiteral("tensorList"));
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(1, 6, 1, 1);
    layout->setSpacing(4);
    buildBar();

    m_stack = new QStackedWidget(this);
    m_tableView = buildView(m_table, QStringLiteral("tensorTable"), tr("Tensors"));
    m_treeView = buildView(m_tree, QStringLiteral("moduleTree"), tr("Tensors by module"));
    m_valueView = buildView(m_values, QStringLiteral("valueTable"), tr("Values"));
    m_valueTreeView = buildView(m_valueTree, QStringLiteral("valueTree"), tr("Values as a tree"));
    for (QTreeView *view : {m_tableView, m_treeView})
        setTensorColumnWidths(view);
    for (QTreeView *view : {m_valueView, m_valueTreeView})
        setValueColumnWidths(view);
    for (QTreeView *view : {m_treeView, m_valueTreeView}) {
        view->setRootIsDecorated(true);
        view->setTreePosition(1); // the name
        view->setSortingEnabled(false);
    }
    m_pairing = new PairingPage(context, m_stack);
    m_stack->addWidget(m_pairing);
    m_records = new RecordsPage(context, m_stack);
    m_stack->addWidget(m_records);
    m_metrics = new MetricsPage(context, m_stack);
    m_stack->addWidget(m_metrics);
    m_placeholder = new QLabel(m_stack);
    m_placeholder->setTextFormat(Qt::PlainText);
    m_placeholder->setAlignment(Qt::AlignCenter);
    m_placeholder->setWordWrap(true);
    m_placeholder->setMargin(24);
    m_placeholder->setForegroundRole(QPalette::PlaceholderText);
    m_stack->addWidget(m_placeholder);
    layout->addWidget(m_stack, 1);
    connectModels();
    refresh();
}

void TensorList::connectModels()
{
    for (RowTableModel *model : std::initializer_list<RowTableModel *>{m_table, m_values}) {
        connect(model, &RowTableModel::rowsChanged, this, [this] {
            fillTree();
            updateHeader();
            updatePlaceholder();
            selectFromContext();
        });
    }
    connect(m_table, &RowTableModel::cellsChanged, this,
            [this] { m_tree->updateComparison(m_table->comparison()); });
    connect(m_values, &RowTableModel::cellsChanged, this,
            [this] { m_valueTree->updateComparison(m_values->comparison()); });
    connect(m_pairing, &PairingPage::rowsChanged, this, [this] { updatePlaceholder(); });
    connect(m_records, &RecordsPage::message, this, &TensorList::message);
    connect(m_metrics, &MetricsPage::message, this, &TensorList::message);
    connect(m_records, &RecordsPage::tensorRequested, this, [this] { showPage(Page::Tensors); });
    connect(m_context, &ViewContext::comparisonChanged, this, &TensorList::showControls);
    connect(m_context, &ViewContext::sideChanged, this, [this] {
        showControls();
        updatePlaceholder();
    });
    connect(m_context, &ViewContext::stepComparisonChanged, this, [this] { refresh(); });
    connect(m_context, &ViewContext::selectedStepChanged, this, [this] { refresh(); });
    connect(m_context, &ViewContext::selectedTensorChanged, this, [this] { selectFromContext(); });
    connect(m_context, &ViewContext::jobChanged, this, [this] { updatePlaceholder(); });
    connect(&m_context->notes(), &PairNotes::changed, this, [this] { refresh(); });
}

/// Trees are built for those who look at them.
void TensorList::fillTree()
{
    if (!isTree())
        return;
    const bool values = page() == Page::Values;
    RowTableModel *rows = values ? static_cast<RowTableModel *>(m_values) : m_table;
    const std::size_t count = rows->visibleRows().size();
    if (values)
        m_valueTree->setRows(m_values->comparison(), m_values->visibleRows());
    else
        m_tree->setRows(m_table->comparison(), m_table->visibleRows());
    (values ? m_valueTreeView : m_treeView)->expandToDepth(count <= OpenTreeRows ? 64 : 0);
}

QTreeView *TensorList::buildView(QAbstractItemModel *model, const QString &objectName,
                                 const QString &name)
{
    QTreeView *view = makeTable(model, name, m_stack);
    view->setObjectName(objectName);
    view->header()->setSortIndicator(int(TensorColumn::Name), Qt::AscendingOrder);
    view->setSortingEnabled(true);
    m_stack->addWidget(view);
    addTableActions(view, m_context, name, [this](const QString &text) { Q_EMIT message(text); });
    view->setContextMenuPolicy(Qt::CustomContextMenu);
    connect(view, &QTreeView::customContextMenuRequested, this,
            [this](const QPoint &position) { showMenu(position); });
    if (model == m_table || model == m_tree) {
        connect(view->selectionModel(), &QItemSelectionModel::currentChanged, this,
                [this](const QModelIndex &current) { selectFromView(current); });
        connect(view, &QTreeView::activated, this, [this](const QModelIndex &index) {
            if (index.data(RowRole).isValid()) // a module opens instead
                Q_EMIT tensorActivated();
        });
    }
    return view;
}

TensorList::Page TensorList::page() const
{
    return Page(m_tabs->currentIndex());
}

bool TensorList::isTree() const
{
    return m_treeAction->isChecked() && page() < Page::Pairing;
}

/// What can be chosen on the page; the pages of records and metrics are there where these are.
void TensorList::showControls()
{
    const std::pair<Page, bool> some[] = {{Page::Records, m_records->hasTraces()},
                                          {Page::Metrics, m_metrics->hasMetrics()}};
    for (const auto &[optional, isThere] : some) {
        if (page() == optional && !isThere)
            m_tabs->setCurrentIndex(int(Page::Tensors)); // before its neighbour takes over
        // Of Qt 6.4 a call that changes nothing takes back that the tabs are to be laid out.
        if (m_tabs->isTabVisible(int(optional)) != isThere)
            m_tabs->setTabVisible(int(optional), isThere);
    }
    const bool isList = page() < Page::Records;
    m_treeAction->setEnabled(page() < Page::Pairing);
    m_onlyDifferingAction->setEnabled(isList);
    m_filterAction->setEnabled(isList);
    for (QWidget *control :
         std::initializer_list<QWidget *>{m_filter, m_onlyDiffering, m_treeButton, m_show})
        control->setVisible(isList);
    m_tabs->updateGeometry(); // a tab more or less is another width
    layout()->invalidate();
}

QTreeView *TensorList::currentView() const
{
    if (page() == Page::Pairing)
        return m_pairing->view();
    if (page() == Page::Records)
        return m_records->view();
    if (page() == Page::Metrics)
        return m_metrics->view();
    if (page() == Page::Values)
        return isTree() ? m_valueTreeView : m_valueView;
    return isTree() ? m_treeView : m_tableView;
}

void TensorList::refresh()
{
    const auto comparison = m_context->stepComparison();
    const int scrolled = m_tableView->verticalScrollBar()->value();
    m_selecting = true; // a reset is not the user choosing another tensor
    m_table->setComparison(comparison);
    m_values->setComparison(comparison);
    m_selecting = false;
    m_tableView->verticalScrollBar()->setValue(scrolled);
    selectFromContext();
    updateHeader();
    updatePlaceholder();
    makeRoom();
}

RowFilter TensorList::rowFilter() const
{
    RowFilter filter(m_filter->text(), m_onlyDiffering->isChecked(), m_onlyClass);
    filter.setOnlyPinned(m_onlyPinned->isChecked());
    filter.setWithoutExpected(m_withoutExpected->isChecked());
    return filter;
}

void TensorList::applyFilter()
{
    m_selecting = true;
    m_table->setFilter(rowFilter());
    m_values->setFilter(rowFilter());
    m_pairing->setFilter(RowFilter(m_filter->text(), m_onlyDiffering->isChecked()));
    m_selecting = false;
    selectFromContext();
    updateHeader();
    updatePlaceholder();
}

/// The caller applies it.
void TensorList::clearFilter()
{
    m_onlyClass.reset();
    const QSignalBlocker filter(m_filter), pinned(m_onlyPinned), expected(m_withoutExpected);
    m_filter->clear();
    m_onlyPinned->setChecked(false);
    m_withoutExpected->setChecked(false);
    m_onlyDiffering->setChecked(false);
}

void TensorList::updateHeader()
{
    const auto comparison = m_context->stepComparison();
    m_counts->setVisible(page() < Page::Pairing);
    if (!comparison || page() >= Page::Pairing) {
        m_counts->clear();
        return;
    }
    const bool values = page() == Page::Values;
    const RowTableModel *rows = values ? static_cast<const RowTableModel *>(m_values) : m_table;
    const auto shown = std::size_t(rows->rowCount());
    if (comparison->tensors.empty() && comparison->values.empty()) {
        m_counts->setText(stepText(m_context) + tr("nothing to list"));
        return;
    }
    // What nothing is set against has nothing to count but itself.
    const Verdict &verdict = comparison->verdict;
    const bool isCompared = m_context->comparison()
        && (verdict.outcome != Outcome::NotCompared || verdict.reason.empty());
    m_counts->setText(
        stepText(m_context)
        + (isCompared ? countsText(*comparison, values, m_context->notes(), shown, m_onlyClass)
                      : listedText(*comparison, values, shown)));
}

void TensorList::updatePlaceholder()
{
    if (page() >= Page::Records) {
        m_stack->setCurrentWidget(page() == Page::Records ? static_cast<QWidget *>(m_records)
                                                          : m_metrics);
        return;
    }
    const auto comparison = m_table->comparison();
    QTreeView *view = currentView();
    QString text;
    if (!comparison) {
        const JobState job = m_context->job();
        const QString failed = failedSidesText(*m_context);
        if (job.phase == JobState::Phase::Running)
            text = tr("Reading…");
        else if (job.phase == JobState::Phase::Cancelled) // a side may have failed for that alone
            text = tr("Cancelled before anything was compared. F5 reads both sides again.");
        else if (!failed.isEmpty())
            text = tr("Nothing to list: %1 could not be opened.").arg(failed);
        else if (job.phase == JobState::Phase::Failed)
            text = tr("Not compared: %1").arg(displayText(job.error));
        else
            text = tr("Open a checkpoint or a run on both sides to compare them.");
    } else if (page() != Page::Pairing && view->model()->rowCount() == 0) {
        const bool values = page() == Page::Values;
        const std::size_t total = values ? comparison->values.size() : comparison->tensors.size();
        if (total == 0)
            text = whyNone(*comparison, values);
        else if (m_onlyDiffering->isChecked() && m_filter->text().isEmpty())
            text = comparison->finished ? tr("Nothing differs here.") : tr("Nothing differs yet.");
        else
            text = tr("No name matches the filter.");
    }
    m_placeholder->setText(text);
    QWidget *shown = page() == Page::Pairing ? m_pairing : static_cast<QWidget *>(view);
    m_stack->setCurrentWidget(text.isEmpty() ? shown : m_placeholder);
}

void TensorList::selectFromView(const QModelIndex &current)
{
    if (m_selecting)
        return;
    const QVariant row = current.data(RowRole);
    const auto shown = m_table->comparison(), now = m_context->stepComparison();
    if (!row.isValid() || !shown || !now)
        return;
    // A large table may still show the rows of another step.
    const auto at = std::size_t(row.toULongLong());
    if (at < now->tensors.size() && now->tensors[at].name == shown->tensors[at].name)
        m_context->selectTensor(at);
}

void TensorList::selectFromContext()
{
    const std::optional<std::size_t> row = m_context->selectedTensor();
    if (!row || page() != Page::Tensors)
        return;
    QTreeView *view = currentView();
    QModelIndex index;
    if (isTree())
        index = m_tree->indexOf(*row);
    else if (const int position = m_table->rowOf(*row); position >= 0)
        index = m_table->index(position, int(TensorColumn::Name));
    if (!index.isValid())
        return;
    // A view makes its first row the current one by itself, without selecting it.
    const bool already = view->currentIndex().data(RowRole) == index.data(RowRole)
        && view->selectionModel()->isSelected(view->currentIndex());
    if (!already) {
        m_selecting = true;
        view->setCurrentIndex(index);
        m_selecting = false;
    }
    if (!already || !view->isVisible())
        showSelection();
}

/// Brings the selected row into view once the layout has settled: before, the view may still have
/// the height of a page that was never shown.
void TensorList::showSelection()
{
    QTimer::singleShot(0, this, [this] {
        QTreeView *view = currentView();
        if (page() == Page::Tensors && view->currentIndex().isValid())
            view->scrollTo(view->currentIndex());
    });
}

void TensorList::showMenu(const QPoint &position)
{
    QTreeView *view = currentView();
    const QVariant row = view->currentIndex().data(RowRole);
    const bool values = page() == Page::Values;
    const auto comparison = values ? m_values->comparison() : m_table->comparison();
    std::string name;
    if (row.isValid() && comparison) {
        const auto at = std::size_t(row.toULongLong());
        name = values ? comparison->values[at].name : comparison->tensors[at].name;
    }
    showRowMenu(view, m_context, position, name, !values);
}

void TensorList::paintEvent(QPaintEvent *)
{
    paintCard(this);
}

void TensorList::changeEvent(QEvent *event)
{
    QWidget::changeEvent(event);
    if (event->type() == QEvent::FontChange)
        makeRoom();
}

void TensorList::resizeEvent(QResizeEvent *event)
{
    QWidget::resizeEvent(event);
    makeRoom();
    const QRect selected = currentView()->visualRect(currentView()->currentIndex());
    if (currentView()->viewport()->rect().intersects(selected))
        showSelection(); // a lower list must not lose it
}

/// What the user shows and hides meanwhile stays.
void TensorList::makeRoom()
{
    const auto comparison = m_context->stepComparison();
    const bool isRefused = comparison && comparison->verdict.outcome == Outcome::NotCompared
        && !comparison->verdict.reason.empty();
    const ColumnRoom room =
        tensorColumnRoom(m_tableView, width(), isRefused || isOneSideAlone(*m_context));
    if (room != m_room) {
        m_room = room;
        for (QTreeView *view : {m_tableView, m_treeView})
            showTensorColumns(view, room);
    }
    for (QTreeView *view : {m_valueView, m_valueTreeView})
        fitValueColumns(view, width());
}

void TensorList::keyPressEvent(QKeyEvent *event)
{
    if (event->key() != Qt::Key_Escape) {
        QWidget::keyPressEvent(event);
        return;
    }
    clearFilter();
    applyFilter();
    currentView()->setFocus();
}

} // namespace forkpoint
