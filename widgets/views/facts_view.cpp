// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/facts_view.h"

#include "widgets/display_text.h"
#include "widgets/theme.h"
#include "widgets/views/table_actions.h"

#include <QHeaderView>
#include <QStyledItemDelegate>

namespace forkpoint {

namespace {

class FactDelegate : public QStyledItemDelegate
{
public:
    using QStyledItemDelegate::QStyledItemDelegate;

protected:
    void initStyleOption(QStyleOptionViewItem *option, const QModelIndex &index) const override
    {
        QStyledItemDelegate::initStyleOption(option, index);
        option->text = cellText(option->text);
    }
};

} // namespace

FactsView::FactsView(ViewContext *context, QWidget *parent) : QTreeWidget(parent)
{
    setHeaderLabels({tr("fact"), tr("A, or both"), tr("B")});
    setRootIsDecorated(false);
    setIndentation(8);
    setFrameShape(QFrame::NoFrame);
    setItemDelegate(new FactDelegate(this));
    setAccessibleName(tr("Facts"));
    setTextElideMode(Qt::ElideMiddle);
    setSelectionMode(QAbstractItemView::ExtendedSelection);
    setAllColumnsShowFocus(true);
    header()->setStretchLastSection(false);
    for (const int side : {1, 2})
        header()->setSectionResizeMode(side, QHeaderView::Stretch);
    addTableActions(this, context, QStringLiteral("facts"));
}

void FactsView::setFacts(const std::vector<Fact> &facts)
{
    clear();
    const Theme theme = Theme::of(palette());
    QFont bold = font();
    bold.setBold(true);
    for (const Fact &fact : facts) {
        auto *item = new QTreeWidgetItem(this, {fact.name, fact.a, fact.b});
        if (fact.isSection)
            item->setFont(0, bold);
        else
            item->setForeground(0, theme.muted);
        const bool sided = !fact.b.isEmpty();
        for (int column : {1, 2}) {
            item->setFont(column, monospaced(font()));
            item->setToolTip(column, plainToolTip(item->text(column)));
            if (sided && fact.a != fact.b)
                item->setForeground(column, column == 1 ? theme.a : theme.b);
        }
        item->setFirstColumnSpanned(fact.isSection);
        item->setSizeHint(0, QSize(0, forkpoint::rowHeight(font())));
    }
    setColumnWidth(0, fontMetrics().averageCharWidth() * 28);
}

} // namespace forkpoint
