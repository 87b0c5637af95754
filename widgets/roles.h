// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <Qt>

namespace forkpoint {

/// Roles that every table of the viewer answers alike.
enum ViewRole {
    SortRole = Qt::UserRole + 1, ///< the raw value of a cell, never its text
    BarRole,                     ///< double in [0, 1]: the bar of a cell, none for 0; every cell of
                                 ///< a column of bars has it, so that their numbers line up
    ColorRole,                   ///< ThemeColor of the cell's text or bar
    NameRole,                    ///< QString: the full logical name of the row
    RowRole,                     ///< qulonglong: row of the comparison; invalid for modules
};

/// Which colour of the theme a cell asks for; models do not know palettes.
enum class ThemeColor { Text, Muted, A, B, Difference, Equal, Unknown };

} // namespace forkpoint
