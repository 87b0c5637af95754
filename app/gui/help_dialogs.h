// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

class QWidget;

namespace forkpoint {

/// Every action of the window's menus with its shortcut, in a window of its own.
void showShortcuts(QWidget *window);
/// Version, licence, and what Forkpoint is built on.
void showAbout(QWidget *window);

} // namespace forkpoint
