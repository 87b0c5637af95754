// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include <cstdint>
#include <functional>
#include <span>

class QAbstractItemModel;
class QKeySequence;
class QTreeView;
class QWidget;
class QAction;

namespace forkpoint {

/// A table or tree as all views of the window have them: uniform rows, elided in the middle,
/// resizable columns that can be hidden from the header's menu, own delegate.
QTreeView *makeTable(QAbstractItemModel *model, const QString &accessibleName, QWidget *parent);

/// Widths that follow the font: one number of characters a column, 0 for the one that stretches.
void setColumnWidths(QTreeView *view, std::span<const int> characters);
/// Pixels of a column that holds so many characters.
int columnWidth(const QTreeView *view, int characters);

/// The selected rows as lines of tab-separated cells, in the order of the view.
QString selectionAsText(const QTreeView *view);

/// Ctrl+C on the view copies its selected rows. `copied` (may be empty) hears how many.
QAction *addCopyRows(QTreeView *view, std::function<void(std::uint64_t rows)> copied = {});

/// An action with a shortcut that works in the whole window, shown in the tooltip.
QAction *makeAction(QWidget *owner, const QString &text, const QKeySequence &shortcut);

} // namespace forkpoint
