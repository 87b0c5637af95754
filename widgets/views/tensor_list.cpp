// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/tensor_list.h"

#include "widgets/display_text.h"
#include "widgets/models/tensor_table_model.h"
#include "widgets/models/tensor_tree_model.h"
#include "widgets/models/value_table_model.h"
#include "widgets/roles.h"
#include "widgets/theme.h"
#include "widgets/views/card.h"
#include "widgets/views/view_setup.h"

#include <QAction>
#include <QCheckBox>
#include <QClipboard>
#include <QGuiApplication>
#include <QHBoxLayout>
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

#include <array>

namespace forkpoint {

namespace {

/// Trees up to this many rows are shown open.
constexpr std::size_t OpenTreeRows = 300;
/// Characters of a name that stay legible before any other column is shown.
constexpr int NameCharacters = 24;
/// Widths of the columns of tensors in characters; the name's is what is left.
constexpr int TensorWidths[int(TensorColumn::Count)] = {2, 0, 9, 8, 8, 17, 8, 9};
/// Who gives way to names first, while there is little room.
constexpr TensorColumn GivingWay[] = {TensorColumn::Class, TensorColumn::DType,
                                      TensorColumn::MaxUlp, TensorColumn::Shape};

QString stepText(const ViewContext *context)
{
    const std::optional<Step> step = context->selectedStep();
    return step ? TensorList::tr("step %1 · ").arg(*step) : QString();
}

} // namespace

TensorList::TensorList(ViewContext *context, QWidget *parent)
    : QWidget(parent),
      m_context(context),
      m_table(new TensorTableModel(this)),
      m_tree(new TensorTreeModel(this)),
      m_values(new ValueTableModel(this))
{
    setObjectName(QStringLiteral("tensorList"));
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(1, 6, 1, 1);
    layout->setSpacing(4);
    buildBar();

    m_stack = new QStackedWidget(this);
    m_tableView = buildView(m_table, tr("Tensors"));
    m_treeView = buildView(m_tree, tr("Tensors by module"));
    m_treeView->setRootIsDecorated(true);
    m_treeView->setTreePosition(int(TensorColumn::Name));
    m_valueView = buildView(m_values, tr("Values"));
    m_tableView->setObjectName(QStringLiteral("tensorTable"));
    m_treeView->setObjectName(QStringLiteral("moduleTree"));
    m_valueView->setObjectName(QStringLiteral("valueTable"));
    setColumnWidths(m_tableView, TensorWidths);
    setColumnWidths(m_treeView, TensorWidths);
    setColumnWidths(m_valueView, std::array{2, 0, 19, 19, 10});
    m_treeView->setSortingEnabled(false);
    m_placeholder = new QLabel(m_stack);
    m_placeholder->setTextFormat(Qt::PlainText);
    m_placeholder->setAlignment(Qt::AlignCenter);
    m_placeholder->setWordWrap(true);
    m_placeholder->setMargin(24);
    m_placeholder->setForegroundRole(QPalette::PlaceholderText);
    m_stack->addWidget(m_placeholder);
    layout->addWidget(m_stack, 1);

    connect(m_table, &TensorTableModel::rowsChanged, this, [this] {
        m_tree->setRows(m_table->comparison(), m_table->visibleRows());
        m_treeView->expandToDepth(m_table->visibleRows().size() <= OpenTreeRows ? 64 : 0);
        updateHeader();
        updatePlaceholder();
        selectFromContext();
    });
    connect(m_table, &TensorTableModel::cellsChanged, this,
            [this] { m_tree->updateComparison(m_table->comparison()); });
    connect(m_values, &ValueTableModel::rowsChanged, this, [this] {
        updateHeader();
        updatePlaceholder();
    });
    connect(context, &ViewContext::stepComparisonChanged, this, [this] { refresh(); });
    connect(context, &ViewContext::selectedStepChanged, this, [this] { refresh(); });
    connect(context, &ViewContext::selectedTensorChanged, this, [this] { selectFromContext(); });
    connect(context, &ViewContext::jobChanged, this, [this] { updatePlaceholder(); });
    refresh();
}

void TensorList::buildBar()
{
    auto *bar = new QHBoxLayout;
    bar->setContentsMargins(8, 0, 8, 0);
    bar->setSpacing(8);
    m_tabs = new QTabBar(this);
    m_tabs->setDocumentMode(true);
    m_tabs->setDrawBase(false);
    m_tabs->setExpanding(false);
    m_tabs->addTab(tr("Tensors"));
    m_tabs->addTab(tr("Values"));
    m_tabs->setAccessibleName(tr("Tensors or values"));
    m_filter = new QLineEdit(this);
    m_filter->setPlaceholderText(tr("Filter (Ctrl+F)"));
    m_filter->setClearButtonEnabled(true);
    m_filter->setAccessibleName(tr("Filter by name"));
    m_onlyDiffering = new QCheckBox(tr("only differing"), this);
    m_onlyDiffering->setToolTip(tr("Hide what is identical (Ctrl+D)"));
    m_treeButton = new QToolButton(this);

    m_filterAction = makeAction(this, tr("Filter tensors and values"), QKeySequence::Find);
    m_treeAction = makeAction(this, tr("Tensors by module"), Qt::CTRL | Qt::Key_T);
    m_treeAction->setIconText(tr("Modules"));
    m_treeAction->setCheckable(true);
    m_onlyDifferingAction = makeAction(this, tr("Only differing"), Qt::CTRL | Qt::Key_D);
    m_onlyDifferingAction->setCheckable(true);
    m_treeButton->setDefaultAction(m_treeAction);
    m_treeButton->setAutoRaise(true);
    m_treeButton->setFocusPolicy(Qt::TabFocus);

    bar->addWidget(m_tabs);
    bar->addWidget(m_filter, 1);
    bar->addWidget(m_onlyDiffering);
    bar->addWidget(m_treeButton);
    static_cast<QVBoxLayout *>(layout())->addLayout(bar);
    m_counts = new QLabel(this);
    m_counts->setTextFormat(Qt::PlainText);
    m_counts->setForegroundRole(QPalette::PlaceholderText);
    m_counts->setIndent(10);
    layout()->addWidget(m_counts);

    connect(m_tabs, &QTabBar::currentChanged, this, [this] {
        m_treeAction->setEnabled(page() == Page::Tensors);
        updateHeader();
        updatePlaceholder();
    });
    connect(m_filter, &QLineEdit::textChanged, this, [this] { applyFilter(); });
    connect(m_onlyDiffering, &QCheckBox::toggled, m_onlyDifferingAction, &QAction::setChecked);
    connect(m_onlyDifferingAction, &QAction::toggled, m_onlyDiffering, &QCheckBox::setChecked);
    connect(m_onlyDiffering, &QCheckBox::toggled, this, [this] { applyFilter(); });
    connect(m_treeAction, &QAction::toggled, this, [this](bool on) { setTree(on); });
    connect(m_filterAction, &QAction::triggered, this, [this] {
        m_filter->setFocus(Qt::ShortcutFocusReason);
        m_filter->selectAll();
    });
}

QTreeView *TensorList::buildView(QAbstractItemModel *model, const QString &name)
{
    QTreeView *view = makeTable(model, name, m_stack);
    view->header()->setSortIndicator(int(TensorColumn::Name), Qt::AscendingOrder);
    view->setSortingEnabled(true);
    m_stack->addWidget(view);
    addCopyRows(view, [this](std::uint64_t rows) {
        Q_EMIT message(tr("Copied %1").arg(countedText(rows, "row", "rows")));
    });
    view->setContextMenuPolicy(Qt::CustomContextMenu);
    connect(view, &QTreeView::customContextMenuRequested, this,
            [this](const QPoint &position) { showMenu(position); });
    if (model != m_values) {
        connect(view->selectionModel(), &QItemSelectionModel::currentChanged, this,
                [this](const QModelIndex &current) { selectFromView(current); });
    }
    return view;
}

TensorList::Page TensorList::page() const
{
    return m_tabs->currentIndex() == 0 ? Page::Tensors : Page::Values;
}

QTreeView *TensorList::currentView() const
{
    if (page() == Page::Values)
        return m_valueView;
    return m_treeAction->isChecked() ? m_treeView : m_tableView;
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
}

void TensorList::applyFilter()
{
    const QString text = m_filter->text();
    m_selecting = true;
    m_table->setFilter(RowFilter(text, m_onlyDiffering->isChecked()));
    m_values->setFilter(RowFilter(text, m_onlyDiffering->isChecked(), m_recipeOnly));
    m_selecting = false;
    selectFromContext();
    updateHeader();
    updatePlaceholder();
}

void TensorList::updateHeader()
{
    const auto comparison = m_table->comparison();
    if (!comparison) {
        m_counts->clear();
        return;
    }
    const bool values = page() == Page::Values;
    std::uint64_t differing = 0, unknown = 0;
    const auto count = [&](ItemStatus status) {
        unknown += status == ItemStatus::NotCompared ? 1 : 0;
        differing += status == ItemStatus::NotCompared || status == ItemStatus::Identical ? 0 : 1;
    };
    for (const TensorRow &row : comparison->tensors)
        values ? void() : count(row.status);
    for (const ValueRow &row : comparison->values)
        values ? count(row.status) : void();
    const std::size_t total = values ? comparison->values.size() : comparison->tensors.size();
    const int shown = values ? m_values->rowCount() : m_table->rowCount();
    QString text =
        stepText(m_context) + tr("%1 of %2 differ").arg(groupedText(differing), groupedText(total));
    if (unknown > 0) {
        text += comparison->finished ? tr(" · %1 not compared").arg(groupedText(unknown))
                                     : tr(" · %1 not compared yet").arg(groupedText(unknown));
    }
    if (std::size_t(shown) != total)
        text += tr(" · %1 shown").arg(groupedText(std::uint64_t(shown)));
    if (values && m_recipeOnly)
        text += tr(" (recipe only; Esc in the filter shows all)");
    m_counts->setText(text);
}

void TensorList::updatePlaceholder()
{
    const auto comparison = m_table->comparison();
    QTreeView *view = currentView();
    QString text;
    if (!comparison) {
        const JobState job = m_context->job();
        if (job.phase == JobState::Phase::Running)
            text = tr("Reading…");
        else if (job.phase == JobState::Phase::Failed)
            text = tr("Not compared: %1").arg(displayText(job.error));
        else if (job.phase == JobState::Phase::Cancelled)
            text = tr("Cancelled before anything was compared.");
        else
            text = tr("Open a checkpoint or a run on both sides to compare them.");
    } else if (view->model()->rowCount() == 0) {
        const bool values = page() == Page::Values;
        const std::size_t total = values ? comparison->values.size() : comparison->tensors.size();
        if (total == 0)
            text = values ? tr("There are no values beside the tensors.") : tr("No tensors.");
        else if (m_onlyDiffering->isChecked() && m_filter->text().isEmpty())
            text = comparison->finished ? tr("Nothing differs here.") : tr("Nothing differs yet.");
        else
            text = tr("No name matches the filter.");
    }
    m_placeholder->setText(text);
    m_stack->setCurrentWidget(text.isEmpty() ? static_cast<QWidget *>(view) : m_placeholder);
}

void TensorList::setTree(bool)
{
    updatePlaceholder();
    selectFromContext();
}

void TensorList::selectFromView(const QModelIndex &current)
{
    if (m_selecting)
        return;
    const QVariant row = current.data(RowRole);
    if (row.isValid())
        m_context->selectTensor(std::size_t(row.toULongLong()));
}

void TensorList::selectFromContext()
{
    const std::optional<std::size_t> row = m_context->selectedTensor();
    if (!row || page() != Page::Tensors)
        return;
    QTreeView *view = currentView();
    QModelIndex index;
    if (m_treeAction->isChecked())
        index = m_tree->indexOf(*row);
    else if (const int position = m_table->rowOf(*row); position >= 0)
        index = m_table->index(position, int(TensorColumn::Name));
    if (!index.isValid())
        return;
    const bool already = view->currentIndex().data(RowRole) == index.data(RowRole);
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

void TensorList::showPage(Page shown)
{
    m_tabs->setCurrentIndex(shown == Page::Tensors ? 0 : 1);
    currentView()->setFocus();
}

void TensorList::showRecipe()
{
    m_recipeOnly = true;
    m_filter->clear();
    m_onlyDiffering->setChecked(true);
    applyFilter();
    showPage(Page::Values);
}

bool TensorList::showItem(const QString &name)
{
    const auto comparison = m_table->comparison();
    if (!comparison)
        return false;
    const auto isNamed = [&](const auto &row) { return displayText(row.name) == name; };
    const auto &tensors = comparison->tensors;
    const auto &values = comparison->values;
    const auto tensor = std::find_if(tensors.begin(), tensors.end(), isNamed);
    const auto value = std::find_if(values.begin(), values.end(), isNamed);
    if (tensor == tensors.end() && value == values.end())
        return false;
    m_recipeOnly = false;
    m_filter->clear();
    m_onlyDiffering->setChecked(false);
    applyFilter();
    if (tensor != tensors.end()) {
        showPage(Page::Tensors);
        m_context->selectTensor(std::size_t(tensor - tensors.begin()));
        selectFromContext();
    } else {
        showPage(Page::Values);
        const int row = m_values->rowOf(std::size_t(value - values.begin()));
        m_valueView->setCurrentIndex(m_values->index(row, 1));
    }
    return true;
}

void TensorList::showMenu(const QPoint &position)
{
    QTreeView *view = currentView();
    const QModelIndex current = view->currentIndex();
    auto *menu = new QMenu(this);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    if (current.isValid()) {
        const QString name = current.data(NameRole).toString();
        const QString cell = current.data(Qt::DisplayRole).toString();
        connect(menu->addAction(tr("Copy name")), &QAction::triggered, this,
                [name] { QGuiApplication::clipboard()->setText(name); });
        connect(menu->addAction(tr("Copy cell")), &QAction::triggered, this,
                [cell] { QGuiApplication::clipboard()->setText(cell); });
        menu->addActions(view->actions());
    }
    connect(menu->addAction(tr("Copy forkpoint-cli command")), &QAction::triggered, this,
            [this] { QGuiApplication::clipboard()->setText(m_context->commandLine()); });
    menu->popup(view->viewport()->mapToGlobal(position));
}

void TensorList::paintEvent(QPaintEvent *)
{
    paintCard(this);
}

void TensorList::resizeEvent(QResizeEvent *event)
{
    QWidget::resizeEvent(event);
    makeRoomForNames();
    const QRect selected = currentView()->visualRect(currentView()->currentIndex());
    if (currentView()->viewport()->rect().intersects(selected))
        showSelection(); // a lower list must not lose it
}

/// Columns give way to names while there is little room: their facts are in the tool tip, and the
/// header's menu brings them back.
void TensorList::makeRoomForNames()
{
    int needed = columnWidth(m_tableView, NameCharacters)
        + m_tableView->style()->pixelMetric(QStyle::PM_ScrollBarExtent);
    for (int characters : TensorWidths)
        needed += characters > 0 ? columnWidth(m_tableView, characters) : 0;
    std::size_t hidden = 0;
    while (hidden < std::size(GivingWay) && needed > width())
        needed -= columnWidth(m_tableView, TensorWidths[int(GivingWay[hidden++])]);
    if (hidden == m_columnsHidden)
        return; // what the user shows and hides meanwhile stays
    m_columnsHidden = hidden;
    for (QTreeView *view : {m_tableView, m_treeView})
        for (std::size_t i = 0; i < std::size(GivingWay); ++i)
            view->setColumnHidden(int(GivingWay[i]), i < hidden);
}

void TensorList::keyPressEvent(QKeyEvent *event)
{
    if (event->key() != Qt::Key_Escape) {
        QWidget::keyPressEvent(event);
        return;
    }
    m_recipeOnly = false;
    m_filter->clear();
    applyFilter();
    currentView()->setFocus();
}

} // namespace forkpoint
