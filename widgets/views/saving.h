// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/views/path_dialog.h"

#include <functional>

class QTreeView;

namespace forkpoint {

/// Asks where to save, in `parent`'s window; nothing comes of a cancelled dialog. `name` has no
/// suffix, and may be any text.
void askWhereToSave(ViewContext *context, QWidget *parent, const QString &title,
                    const QString &name, std::vector<PathDialog::Kind> kinds,
                    std::function<void(const QString &path)> save);

/// Asks, and saves what `picture` gives for the suffix that was chosen.
void askToSavePicture(ViewContext *context, QWidget *parent, const QString &name,
                      std::function<QByteArray(const QString &suffix)> picture);

/// A cell of a table (RFC 4180). A text that a spreadsheet would take for a formula begins with
/// \xNN.
QString csvCell(QString text);

/// All rows and columns of a table, or all rows that are shown of a tree, in the order of the view.
/// Rows are taken a few at a time, so that nothing waits; `written` has the whole, or nothing if the
/// table changed meanwhile.
void writeTable(QTreeView *view, std::function<void(const QByteArray &csv)> written);

} // namespace forkpoint
