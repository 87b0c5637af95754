// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/view_context.h"

#include <QPoint>

class QTreeView;

namespace forkpoint {

/// The menu of a row of tensors or values: what every table offers (table_actions.h); pin; expect. `name` is the item's logical name, empty for a module. `isTensor` adds what only tensors
/// have.
void showRowMenu(QTreeView *view, ViewContext *context, const QPoint &position,
                 const std::string &name, bool isTensor);

} // namespace forkpoint
