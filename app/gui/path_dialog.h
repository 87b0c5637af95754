// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFileDialog>

namespace forkpoint {

/// Chooses one file or one folder: a checkpoint may be either. Show it with open().
class PathDialog final : public QFileDialog
{
    Q_OBJECT

public:
    PathDialog(const QString &title, QWidget *parent);

Q_SIGNALS:
    void pathChosen(const QString &path);

private:
    void chooseFolder();

    QString m_selected; ///< in the folder that is shown; whatever it is, the loaders look at it
};

} // namespace forkpoint
