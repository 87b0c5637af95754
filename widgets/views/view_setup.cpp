// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/view_setup.h"

#include "widgets/views/cell_delegate.h"

#include <QAction>
#include <QClipboard>
#include <QEvent>
#include <QGuiApplication>
#include <QHeaderView>
#include <QMenu>
#include <QTreeView>

#include <vector>

namespace forkpoint {

namespace {

void showHeaderMenu(QTreeView *view, const QPoint &position)
{
    auto *menu = new QMenu(view);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    QHeaderView *header = view->header();
    for (int column = 0; column < header->count(); ++column) {
        const QString title =
            view->model()->headerData(column, Qt::Horizontal, Qt::DisplayRole).toString();
        if (title.isEmpty())
            continue;
        QAction *action = menu->addAction(title);
        action->setCheckable(true);
        action->setChecked(!header->isSectionHidden(column));
        QObject::connect(action, &QAction::toggled, header, [header, column](bool shown) {
            header->setSectionHidden(column, !shown);
        });
    }
    menu->popup(header->mapToGlobal(position));
}

/// Widths of columns that follow the view's font.
class ColumnWidths final : public QObject
{
public:
    ColumnWidths(QTreeView *view, std::vector<int> characters)
        : QObject(view),
          m_view(view),
          m_characters(std::move(characters))
    {
        for (int column = 0; column < int(m_characters.size()); ++column)
            if (m_characters[std::size_t(column)] == 0)
                view->header()->setSectionResizeMode(column, QHeaderView::Stretch);
        view->installEventFilter(this);
        apply();
    }

    bool eventFilter(QObject *object, QEvent *event) override
    {
        if (event->type() == QEvent::FontChange)
            apply();
        return QObject::eventFilter(object, event);
    }

private:
    void apply()
    {
        for (int column = 0; column < int(m_characters.size()); ++column)
            if (const int count = m_characters[std::size_t(column)])
                m_view->setColumnWidth(column, columnWidth(m_view, count));
    }

    QTreeView *m_view;
    std::vector<int> m_characters; ///< 0 stretches
};

} // namespace

QTreeView *makeTable(QAbstractItemModel *model, const QString &accessibleName, QWidget *parent)
{
    auto *view = new QTreeView(parent);
    view->setModel(model);
    view->setAccessibleName(accessibleName);
    view->setItemDelegate(new CellDelegate(view));
    view->setUniformRowHeights(true);
    view->setRootIsDecorated(false);
    view->setTextElideMode(Qt::ElideMiddle);
    view->setSelectionMode(QAbstractItemView::ExtendedSelection);
    view->setSelectionBehavior(QAbstractItemView::SelectRows);
    view->setAllColumnsShowFocus(true);
    view->setFrameShape(QFrame::NoFrame);
    view->setVerticalScrollMode(QAbstractItemView::ScrollPerItem);
    view->setEditTriggers(QAbstractItemView::NoEditTriggers);
    QHeaderView *header = view->header();
    header->setMinimumSectionSize(20);
    header->setStretchLastSection(false);
    header->setHighlightSections(false);
    header->setContextMenuPolicy(Qt::CustomContextMenu);
    QObject::connect(header, &QHeaderView::customContextMenuRequested, view,
                     [view](const QPoint &position) { showHeaderMenu(view, position); });
    return view;
}

int columnWidth(const QTreeView *view, int characters)
{
    constexpr int Padding = 12;
    return characters * (view->fontMetrics().averageCharWidth() + 1) + Padding;
}

void setColumnWidths(QTreeView *view, std::span<const int> characters)
{
    new ColumnWidths(view, {characters.begin(), characters.end()});
}

QString selectionAsText(const QTreeView *view)
{
    const QAbstractItemModel *model = view->model();
    QStringList lines;
    for (QModelIndex row = model->index(0, 0); row.isValid(); row = view->indexBelow(row)) {
        if (!view->selectionModel()->isSelected(row))
            continue;
        QStringList cells;
        for (int column = 0; column < model->columnCount(); ++column) {
            if (view->isColumnHidden(column))
                continue;
            QString cell = row.siblingAtColumn(column).data(Qt::DisplayRole).toString();
            cells += cell.replace(u'\t', u' ');
        }
        lines += cells.join(u'\t');
    }
    return lines.join(u'\n');
}

QAction *addCopyRows(QTreeView *view, std::function<void(std::uint64_t rows)> copied)
{
    auto *copy = new QAction(QObject::tr("Copy rows"), view);
    copy->setShortcut(QKeySequence::Copy);
    copy->setShortcutContext(Qt::WidgetShortcut);
    view->addAction(copy);
    QObject::connect(copy, &QAction::triggered, view, [view, copied = std::move(copied)] {
        const QString text = selectionAsText(view);
        if (text.isEmpty())
            return;
        QGuiApplication::clipboard()->setText(text);
        if (copied)
            copied(std::uint64_t(text.count(u'\n') + 1));
    });
    return copy;
}

QAction *makeAction(QWidget *owner, const QString &text, const QKeySequence &shortcut)
{
    auto *action = new QAction(text, owner);
    action->setShortcut(shortcut);
    action->setShortcutContext(Qt::WindowShortcut);
    action->setToolTip(
        QStringLiteral("%1 (%2)").arg(text, shortcut.toString(QKeySequence::NativeText)));
    owner->addAction(action);
    return action;
}

} // namespace forkpoint
