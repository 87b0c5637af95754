// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/path_dialog.h"

#include <QDialogButtonBox>
#include <QPushButton>

namespace forkpoint {

PathDialog::PathDialog(const QString &title, QWidget *parent) : QFileDialog(parent, title)
{
    setAttribute(Qt::WA_DeleteOnClose);
    // Qt's own dialog: those of the desktops choose either files or folders, never both.
    setOption(QFileDialog::DontUseNativeDialog);
    setFileMode(QFileDialog::ExistingFile);
    connect(this, &QFileDialog::fileSelected, this, &PathDialog::pathChosen);
    connect(this, &QFileDialog::directoryEntered, this, [this] { m_selected.clear(); });
    connect(this, &QFileDialog::currentChanged, this,
            [this](const QString &path) { m_selected = path; });
    if (auto *buttons = findChild<QDialogButtonBox *>()) {
        QPushButton *folder =
            buttons->addButton(tr("Choose this &folder"), QDialogButtonBox::ActionRole);
        folder->setToolTip(tr("What is selected, or else the folder that is shown: a series of "
                              "checkpoints, or one in several files"));
        connect(folder, &QPushButton::clicked, this, &PathDialog::chooseFolder);
    }
}

void PathDialog::chooseFolder()
{
    Q_EMIT pathChosen(m_selected.isEmpty() ? directory().path() : m_selected);
    reject();
}

} // namespace forkpoint
