// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/layout_page.h"

#include "widgets/display_text.h"
#include "widgets/theme.h"
#include "widgets/views/layout_view.h"
#include "widgets/views/shown_subject.h"
#include "widgets/views/view_setup.h"

#include <QEvent>
#include <QGridLayout>
#include <QHeaderView>
#include <QLabel>
#include <QSplitter>
#include <QTreeWidget>
#include <QVBoxLayout>

#include <algorithm>
#include <set>

namespace forkpoint {

namespace {

constexpr int Margin = 8;

QString ownerOf(const LayoutPart &part)
{
    return part.owner.empty() ? LayoutPage::tr("no rank known") : displayText(part.owner);
}

std::set<QString> owners(const SideLayout &side, bool differingOnly)
{
    std::set<QString> found;
    for (const LayoutPart &part : side.parts) {
        if (!differingOnly || part.different.value_or(0) > 0)
            found.insert(ownerOf(part));
    }
    return found;
}

/// One file holds the whole tensor, and no rank is behind it.
bool isWhole(const SideLayout &side)
{
    return side.parts.size() == 1 && side.parts.front().owner.empty() && !side.cut;
}

bool isCounted(const LayoutPart &part)
{
    return part.different.has_value();
}

bool isPartlyCounted(const PairLayout &layout)
{
    return std::any_of(layout.a.parts.begin(), layout.a.parts.end(), isCounted)
        || std::any_of(layout.b.parts.begin(), layout.b.parts.end(), isCounted);
}

/// What the picture of one side shows, in a sentence.
QString sentenceOf(const SideLayout &side, const QString &name)
{
    if (isWhole(side))
        return LayoutPage::tr("%1: one file holds the whole tensor, %2.")
            .arg(name, displayText(side.parts.front().file));
    const std::set<QString> all = owners(side, false), differing = owners(side, true);
    const QString parts = countedText(side.parts.size(), "part", "parts");
    if (side.parts.empty())
        return LayoutPage::tr("%1 stores no elements.").arg(name);
    const auto counted =
        std::uint64_t(std::count_if(side.parts.begin(), side.parts.end(), isCounted));
    if (counted == 0)
        return LayoutPage::tr("%1: %2.").arg(name, parts);
    if (differing.empty() && counted < side.parts.size())
        return LayoutPage::tr("%1: %2 of %3 equal, %4 not counted.")
            .arg(name, groupedText(counted), parts, groupedText(side.parts.size() - counted));
    if (differing.empty())
        return LayoutPage::tr("%1: %2, all equal.").arg(name, parts);
    if (all.size() > 1 && differing.size() == 1)
        return LayoutPage::tr("%1: only %2 differs, of %3.").arg(name, *differing.begin(), parts);
    return LayoutPage::tr("%1: %2 of %3 with differences.")
        .arg(name, groupedText(differing.size()), countedText(all.size(), "owner", "owners"));
}

} // namespace

LayoutPage::LayoutPage(ViewContext *context, QWidget *parent)
    : QWidget(parent),
      m_context(context),
      m_description(new QLabel(this)),
      m_table(new QTreeWidget(this))
{
    setObjectName(QStringLiteral("layoutPage"));
    m_description->setTextFormat(Qt::PlainText);
    m_description->setWordWrap(true);
    m_description->setMargin(4);
    auto *splitter = new QSplitter(Qt::Vertical, this);
    splitter->setChildrenCollapsible(false);
    auto *pictures = m_pictures = new QWidget(splitter);
    auto *grid = new QGridLayout(pictures);
    grid->setContentsMargins(4, 0, 4, 0);
    grid->setSpacing(2);
    for (const Side side : {Side::A, Side::B}) {
        const int column = side == Side::A ? 0 : 1;
        m_titles[column] = new QLabel(pictures);
        m_titles[column]->setTextFormat(Qt::PlainText);
        m_titles[column]->setMargin(2);
        m_views[column] = new LayoutView(side, pictures);
        connect(m_views[column], &LayoutView::ownerActivated, this, &LayoutPage::choose);
        grid->addWidget(m_titles[column], 0, column);
        grid->addWidget(m_views[column], 1, column);
        grid->setColumnStretch(column, 1);
    }
    grid->setRowStretch(1, 1);
    m_table->setHeaderLabels({tr("side"), tr("owner"), tr("box"), tr("differences"), tr("file")});
    m_table->setRootIsDecorated(false);
    m_table->setFrameShape(QFrame::NoFrame);
    m_table->setAccessibleName(tr("Parts of both sides"));
    m_table->setTextElideMode(Qt::ElideMiddle);
    m_table->setSelectionMode(QAbstractItemView::ExtendedSelection);
    m_table->setAllColumnsShowFocus(true);
    m_table->setUniformRowHeights(true);
    addCopyRows(m_table);
    m_table->setContextMenuPolicy(Qt::ActionsContextMenu);
    splitter->addWidget(pictures);
    splitter->addWidget(m_table);
    splitter->setStretchFactor(0, 3);
    splitter->setStretchFactor(1, 2);
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(4, 2, 4, 0);
    layout->setSpacing(2);
    layout->addWidget(m_description);
    layout->addWidget(splitter, 1);

    connect(m_table, &QTreeWidget::itemSelectionChanged, this, [this] {
        const auto *item = m_table->currentItem();
        const QString owner = item && item->isSelected() ? item->text(1) : QString();
        for (LayoutView *view : m_views)
            view->setSelectedOwner(owner);
    });
    connect(context, &ViewContext::layoutReady, this, &LayoutPage::receive);
    connect(context, &ViewContext::requestFailed, this, [this](quint64 id, const QString &error) {
        if (id != 0 && id == m_askedId)
            showInstead(tr("Not drawn: %1").arg(displayText(error)));
    });
    connect(context, &ViewContext::selectedTensorChanged, this, &LayoutPage::ask);
    connect(context, &ViewContext::stepComparisonChanged, this, &LayoutPage::ask);
    showInstead({});
}

QString LayoutPage::description() const
{
    return m_description->text();
}

void LayoutPage::ask()
{
    if (!isVisible())
        return;
    m_comparison = m_context->stepComparison();
    const auto selected = m_context->selectedTensor();
    const bool there = m_comparison && selected && *selected < m_comparison->tensors.size();
    const TensorRow *row = there ? &m_comparison->tensors[*selected] : nullptr;
    const QString pair = row ? shownSubject(m_context->selectedStep().value_or(-1), *row)
            + QString::number(int(m_comparison->finished))
                             : QString();
    if (pair == m_pair)
        return;
    m_pair = pair;
    m_askedId = 0;
    m_layout.reset();
    if (!row || !row->a || !row->b) {
        showInstead(row ? tr("On one side only: there is nothing to set its parts against.")
                        : QString());
        return;
    }
    showInstead(tr("Looking at the parts…"));
    m_askedId = m_context->nextRequestId();
    m_context->requestLayout(m_askedId);
}

void LayoutPage::receive(quint64 id, std::shared_ptr<const PairLayout> layout)
{
    if (id == 0 || id != m_askedId)
        return;
    m_layout = std::move(layout);
    showInstead({});
}

void LayoutPage::showInstead(const QString &problem)
{
    const SideLayout *sides[2] = {m_layout ? &m_layout->a : nullptr,
                                  m_layout ? &m_layout->b : nullptr};
    const Theme theme = Theme::of(palette());
    const QString names[2] = {tr("A"), tr("B")};
    QStringList sentences;
    for (int i = 0; i < 2; ++i) {
        m_views[i]->setLayout(sides[i]);
        QPalette coloured = palette();
        coloured.setColor(QPalette::WindowText, i == 0 ? theme.a : theme.b);
        m_titles[i]->setPalette(coloured);
        m_titles[i]->setText(sides[i] && isWhole(*sides[i])
                                 ? tr("%1, whole: %2").arg(names[i], qs(sides[i]->shape.toString()))
                                 : sides[i]
                                 ? tr("%1, cut into %2 of %3")
                                       .arg(names[i],
                                            countedText(sides[i]->parts.size(), "part", "parts"),
                                            qs(sides[i]->shape.toString()))
                                 : names[i]);
        if (sides[i])
            sentences += sentenceOf(*sides[i], names[i]);
        if (sides[i] && sides[i]->cut)
            sentences += tr("More parts of %1 are not drawn.").arg(names[i]);
    }
    if (m_layout && !m_layout->notCounted.empty())
        sentences += (isPartlyCounted(*m_layout) ? tr("Not counted where ? stands: %1.")
                                                 : tr("Differences were not counted: %1."))
                         .arg(displayText(m_layout->notCounted));
    // Two plain boxes would tell nothing.
    m_pictures->setVisible(!m_layout || !isWhole(m_layout->a) || !isWhole(m_layout->b));
    m_description->setText(problem.isEmpty() ? sentences.join(u' ') : problem);
    fillTable();
}

void LayoutPage::fillTable()
{
    m_table->clear();
    if (!m_layout)
        return;
    const Theme theme = Theme::of(palette());
    QList<QTreeWidgetItem *> items;
    for (const auto &[name, side, colour] :
         {std::tuple(tr("A"), &m_layout->a, theme.a), std::tuple(tr("B"), &m_layout->b, theme.b)}) {
        for (const LayoutPart &part : side->parts) {
            const bool differs = part.different.value_or(0) > 0;
            auto *item = new QTreeWidgetItem(
                {name, isWhole(*side) ? QStringLiteral("–") : ownerOf(part), boxText(part.box),
                 (differs ? QStringLiteral("≠ ") : QString()) + differenceText(part),
                 displayText(part.file)});
            item->setSizeHint(0, QSize(0, forkpoint::rowHeight(font())));
            item->setForeground(0, colour);
            item->setForeground(3, differs ? theme.difference : theme.muted);
            for (int column = 1; column < 5; ++column)
                item->setToolTip(column, plainToolTip(item->text(column)));
            items += item;
        }
    }
    m_table->addTopLevelItems(items);
    for (int column = 0; column < 4; ++column) {
        m_table->resizeColumnToContents(column);
        // The title's hint leaves no room for the margin in which it is drawn.
        m_table->setColumnWidth(column, m_table->columnWidth(column) + Margin);
    }
}

void LayoutPage::choose(const QString &owner)
{
    const QSignalBlocker blocker(m_table);
    m_table->clearSelection();
    for (int i = 0; i < m_table->topLevelItemCount(); ++i) {
        QTreeWidgetItem *item = m_table->topLevelItem(i);
        if (owner.isEmpty() || item->text(1) != owner)
            continue;
        item->setSelected(true);
        m_table->scrollToItem(item);
    }
    for (LayoutView *view : m_views)
        view->setSelectedOwner(owner);
}

void LayoutPage::showEvent(QShowEvent *event)
{
    QWidget::showEvent(event);
    ask();
}

void LayoutPage::changeEvent(QEvent *event)
{
    if (event->type() == QEvent::PaletteChange)
        showInstead(m_layout ? QString() : m_description->text());
    QWidget::changeEvent(event);
}

} // namespace forkpoint
