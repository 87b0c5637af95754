// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QList>
#include <QString>
#include <QStringList>

namespace forkpoint {

/// The two paths of a pair, short enough for a line.
struct PairText
{
    QString a, b;

    bool operator==(const PairText &) const = default;
};

/// Texts for pairs of paths ("A\nB" each) that are shown in one list. A path of up to `room` characters
/// is shown whole. Of a longer one folders that tell nothing become "…": never those in which A and B
/// differ, nor those in which a pair differs from another one that would look the same, for which
/// more room is taken. A name that is very long itself shows the characters in which it differs.
QList<PairText> pairTexts(const QStringList &pairs, int room);

} // namespace forkpoint
