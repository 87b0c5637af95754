// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/facts_view.h"

#include "widgets/display_text.h"
#include "widgets/theme.h"
#include "widgets/views/table_actions.h"

#include <QHeaderView>
#include <QStyledItemDelegate>

#include <algorithm>

namespace forkpoint {

namespace {

/// Names have no blanks to wrap at: they may break behind a separator, which a point within a number
/// is not, and anywhere after many characters without one.
QString breakable(const QString &text)
{
    constexpr int MostTogether = 8; // of large letters a narrow column has room for few
    constexpr QChar Break(0x200b);  // no width
    QString result;
    int together = 0;
    for (qsizetype i = 0; i < text.size(); ++i) {
        const QChar each = text[i];
        const bool isInside = each.isLowSurrogate() || each.isMark();
        if (together >= MostTogether && !isInside) {
            result += Break;
            together = 0;
        }
        result += each;
        together = each.isSpace() ? 0 : together + 1;
        const bool isPoint = each == u'.' && i > 0 && i + 1 < text.size() && text[i - 1].isDigit()
            && text[i + 1].isDigit();
        if (QStringView(u"./_:").contains(each) && !isPoint) {
            result += Break;
            together = 0;
        }
    }
    return result;
}

class FactDelegate : public QStyledItemDelegate
{
public:
    using QStyledItemDelegate::QStyledItemDelegate;

protected:
    void initStyleOption(QStyleOptionViewItem *option, const QModelIndex &index) const override
    {
        QStyledItemDelegate::initStyleOption(option, index);
        constexpr int MostCharacters = 240; // of a name; the tooltip and a copy have more
        option->text = breakable(elidedMiddle(option->text, MostCharacters));
    }

public:
    QSize sizeHint(const QStyleOptionViewItem &option, const QModelIndex &index) const override
    {
        constexpr int Tall = 1 << 20; // a tree gives no room to wrap in by itself
        QStyleOptionViewItem wrapped = option;
        const auto *view = static_cast<const QTreeView *>(option.widget);
        const int indent = index.column() == 0 ? view->indentation() : 0;
        wrapped.rect = QRect(0, 0, view->columnWidth(index.column()) - indent, Tall);
        const QSize hint = QStyledItemDelegate::sizeHint(wrapped, index);
        const int row = forkpoint::rowHeight(option.font);
        const int around = row - QFontMetrics(option.font).height(); // as of a row of one line
        return {hint.width(), std::max(row, hint.height() + around)};
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
    setWordWrap(true);
    setVerticalScrollMode(ScrollPerPixel); // rows of several lines
    setSelectionMode(QAbstractItemView::ExtendedSelection);
    setAllColumnsShowFocus(true);
    header()->setStretchLastSection(false);
    for (const int side : {1, 2})
        header()->setSectionResizeMode(side, QHeaderView::Stretch);
    connect(header(), &QHeaderView::sectionResized, this, [this] { scheduleDelayedItemsLayout(); });
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
        const bool isLong = std::max(fact.a.size(), fact.b.size()) > 60;
        for (int column = 0; isLong && column < 3; ++column)
            item->setTextAlignment(column, Qt::AlignTop | Qt::AlignLeft); // the name in sight
        const bool sided = !fact.b.isEmpty();
        for (int column : {1, 2}) {
            item->setFont(column, monospaced(font()));
            item->setToolTip(column, plainToolTip(item->text(column)));
            if (sided && fact.a != fact.b)
                item->setForeground(column, column == 1 ? theme.a : theme.b);
        }
        item->setFirstColumnSpanned(fact.isSection);
    }
    setColumnWidth(0, fontMetrics().averageCharWidth() * 28);
}

} // namespace forkpoint
