// SPDX-License-Identifier: GPL-3.0-or-later
// Mapping sheets in the window: for which text the editor opens.
#include "app/gui/main_window.h"
#include "widgets/views/mapping_dialog.h"
#include "widgets/views/path_dialog.h"

namespace forkpoint {

/// For the side that does not open, else the one that is open, else a path that is still to be named.
void MainWindow::chooseMapping(const QString &sheet)
{
    for (const auto phase : {SideState::Phase::Failed, SideState::Phase::Open}) {
        for (const Side side : {Side::A, Side::B}) {
            if (m_context.side(side).phase != phase)
                continue;
            editMapping(side, m_context.side(side).path, sheet);
            return;
        }
    }
    auto *dialog = new PathDialog(&m_context, PathDialog::Mode::Open,
                                  tr("Open a text, or a folder of them, as A"), this);
    connect(dialog, &PathDialog::pathChosen, this,
            [this, sheet](const QString &path) { editMapping(Side::A, path, sheet); });
    dialog->open();
}

void MainWindow::editMapping(Side side, const QString &path, const QString &sheet)
{
    auto *dialog = new MappingDialog(&m_context, side, path, this);
    if (!sheet.isEmpty())
        dialog->openSheet(sheet);
    dialog->open();
}

} // namespace forkpoint
