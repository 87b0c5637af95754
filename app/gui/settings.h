// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/theme.h"

#include <QByteArray>
#include <QSettings>
#include <QStringList>

namespace forkpoint {

/// What the viewer remembers, with its types. Never probes a path.
class Settings
{
public:
    static constexpr int RecentPairs = 10;

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

    void sync();

private:
    QSettings m_store{QStringLiteral("Forkpoint"), QStringLiteral("Forkpoint")};
};

} // namespace forkpoint
