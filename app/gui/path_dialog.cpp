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
    if (auto *buttons = findChild<QDialogButtonBox *>()) {
        QPushButton *folder =
            buttons->addButton(tr("Choose this &folder"), QDialogButtonBox::ActionRole);
        folder->setToolTip(tr("The folder that is selected, or the one that is shown: a series of "
                              "checkpoints, or one in several files"));
        connect(folder, &QPushButton::clicked, this, &PathDialog::chooseFolder);
    }
}

void PathDialog::chooseFolder()
{
    const QStringList selected = selectedFiles();
    const bool one = selected.size() == 1 && QFileInfo(selected.front()).isDir();
    const QString path = one ? selected.front() : directory().absolutePath();
    Q_EMIT pathChosen(path);
    reject();
}

} // namespace forkpoint
