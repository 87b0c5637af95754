// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>

class QTreeView;

namespace forkpoint {

/// Which columns of the lists of tensors there is room and use for.
struct ColumnRoom
{
    std::size_t givenWay = 0; ///< columns that leave their room to names, in their order
    bool isAlone = false;     ///< nothing is compared: no column of differences

    bool operator==(const ColumnRoom &) const = default;
};

void setTensorColumnWidths(QTreeView *view);
/// Columns give way to names while there is little room: their facts are in the tool tip, and the
/// header's menu brings them back.
ColumnRoom tensorColumnRoom(const QTreeView *view, int width, bool isAlone);
void showTensorColumns(QTreeView *view, const ColumnRoom &room);

void setValueColumnWidths(QTreeView *view);
/// What is left over beside names goes to the values of A and B.
void fitValueColumns(QTreeView *view, int width);

} // namespace forkpoint
