// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/view_context.h"

#include <functional>

class QTreeView;
class QUrl;

namespace forkpoint {

/// What every table offers, as actions of the view: copy the selected rows (Ctrl+C), the cell and
/// the name of the current one, the command; save the table as CSV; show the folder of a side.
/// `file` names the table's file; `message` (may be empty) hears what was done.
void addTableActions(QTreeView *view, ViewContext *context, const QString &file,
                     std::function<void(const QString &)> message = {});

/// Where a side lies, by its name alone: a series itself, else the folder that it is in.
QUrl folderUrl(const ViewContext &context, Side side);
/// Shows it in the desktop's file manager.
void openFolderOf(const ViewContext &context, Side side);

} // namespace forkpoint
