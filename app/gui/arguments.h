// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/theme.h"

#include <QSize>
#include <QString>
#include <QStringList>

#include <optional>

namespace forkpoint {

/// The command line of the viewer.
struct Arguments
{
    enum class Mode { Show, Help, Version, Wrong };
    Mode mode = Mode::Show;
    QString problem; ///< with Wrong
    QStringList paths;
    QString mapping;      ///< the mapping sheet that they are read by; empty: none
    bool noIndex = false; ///< neither use nor write the index of fingerprints

    QString screenshot; ///< the file to write; empty: an ordinary start
    QSize size{1280, 800};
    std::optional<ThemeChoice> theme;
    QString select;
    QStringList show; ///< for MainWindow::showPart()
    bool early = false, cancel = false;
    int fontPoints = 0;
    std::optional<qint64> step;

    bool leadsSomewhere() const { return step || !select.isEmpty() || !show.isEmpty(); }
    /// `words` without the program's name. Needs no application object and no display.
    static Arguments parse(const QStringList &words);
    static QString help();
};

} // namespace forkpoint
