// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/pair_notes.h"
#include "widgets/theme.h"
#include "widgets/view_context.h"

#include <QByteArray>
#include <QSettings>
#include <QStringList>

namespace forkpoint {

/// Whether a run of the viewer leaves traces: one that makes pictures does not.
enum class Memory { On, Off };

/// What the viewer remembers, with its types. Never probes a path.
class Settings
{
public:
    static constexpr int RecentPairs = 10, NotedPairs = 50;

    QByteArray geometry() const;
    void setGeometry(const QByteArray &geometry);
    QByteArray windowState() const;
    void setWindowState(const QByteArray &state);
    QByteArray splitterState() const;
    void setSplitterState(const QByteArray &state);

    ThemeChoice theme() const;
    void setTheme(ThemeChoice theme);

    QStringList recentPairs() const; ///< "A\nB" each, newest first
    void addRecentPair(const QString &pathA, const QString &pathB);
    void clearRecentPairs();

    /// Notes of a pair, by "A\nB"; kept for the pairs that were noted last.
    PairNotes::Names pinned(const QString &pair) const;
    PairNotes::Names expected(const QString &pair) const;
    void setNotes(const QString &pair, const PairNotes::Names &pinned,
                  const PairNotes::Names &expected);

    QString lastFolder(FolderUse use) const; ///< empty: none yet
    void setLastFolder(FolderUse use, const QString &path);

    int fontPoints() const; ///< 0: the system's
    void setFontPoints(int points);

    bool usesIndex() const; ///< of fingerprints; yes, unless the user said no
    void setUsesIndex(bool use);

    void sync();

private:
    QSettings m_store{QStringLiteral("Forkpoint"), QStringLiteral("Forkpoint")};
};

} // namespace forkpoint
