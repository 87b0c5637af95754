// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/settings.h"

namespace forkpoint {

namespace {

const QString GeometryKey = QStringLiteral("window/geometry");
const QString StateKey = QStringLiteral("window/state");
const QString SplitterKey = QStringLiteral("window/splitter");
const QString ThemeKey = QStringLiteral("window/theme");
const QString RecentKey = QStringLiteral("recentPairs");

} // namespace

QByteArray Settings::geometry() const
{
    return m_store.value(GeometryKey).toByteArray();
}

void Settings::setGeometry(const QByteArray &geometry)
{
    m_store.setValue(GeometryKey, geometry);
}

QByteArray Settings::windowState() const
{
    return m_store.value(StateKey).toByteArray();
}

void Settings::setWindowState(const QByteArray &state)
{
    m_store.setValue(StateKey, state);
}

QByteArray Settings::splitterState() const
{
    return m_store.value(SplitterKey).toByteArray();
}

void Settings::setSplitterState(const QByteArray &state)
{
    m_store.setValue(SplitterKey, state);
}

ThemeChoice Settings::theme() const
{
    const QString name = m_store.value(ThemeKey).toString();
    if (name == QLatin1String("light"))
        return ThemeChoice::Light;
    if (name == QLatin1String("dark"))
        return ThemeChoice::Dark;
    return ThemeChoice::System;
}

void Settings::setTheme(ThemeChoice theme)
{
    const char *name = theme == ThemeChoice::Light ? "light"
        : theme == ThemeChoice::Dark               ? "dark"
                                                   : "system";
    m_store.setValue(ThemeKey, QString::fromLatin1(name));
}

QStringList Settings::recentPairs() const
{
    QStringList pairs;
    for (const QString &pair : m_store.value(RecentKey).toStringList())
        if (pair.count(u'\n') == 1 && pairs.size() < RecentPairs)
            pairs.append(pair);
    return pairs;
}

void Settings::addRecentPair(const QString &pathA, const QString &pathB)
{
    if (pathA.contains(u'\n') || pathB.contains(u'\n'))
        return; // legal in a path, but not worth another encoding
    const QString pair = pathA + u'\n' + pathB;
    QStringList pairs = recentPairs();
    pairs.removeAll(pair);
    pairs.prepend(pair);
    m_store.setValue(RecentKey, QStringList(pairs.mid(0, RecentPairs)));
}

void Settings::clearRecentPairs()
{
    m_store.remove(RecentKey);
}

void Settings::sync()
{
    m_store.sync();
}

} // namespace forkpoint
