// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/settings.h"

namespace forkpoint {

namespace {

const QString GeometryKey = QStringLiteral("window/geometry");
const QString StateKey = QStringLiteral("window/state");
const QString SplitterKey = QStringLiteral("window/splitter");
const QString ThemeKey = QStringLiteral("window/theme");
const QString FontKey = QStringLiteral("window/fontPoints");
const QString FolderKeys[] = {QStringLiteral("folders/open"), QStringLiteral("folders/save")};
const QString IndexKey = QStringLiteral("compare/fingerprintIndex");
const QString RecentKey = QStringLiteral("recentPairs");
const QString NotesKey = QStringLiteral("notes"); ///< an array, the pair noted last in front
const QString PairKey = QStringLiteral("pair");
const QString PinnedKey = QStringLiteral("pinned");
const QString ExpectedKey = QStringLiteral("expected");

/// Names are bytes, so they are stored as such.
PairNotes::Names namesOf(const QVariant &stored)
{
    PairNotes::Names names;
    for (const QVariant &name : stored.toList())
        names.insert(name.toByteArray().toStdString());
    return names;
}

QVariantList stored(const PairNotes::Names &names)
{
    QVariantList list;
    for (const std::string &name : names)
        list += QByteArray::fromStdString(name);
    return list;
}

QVariantMap notesOf(const QVariantList &notes, const QString &pair)
{
    for (const QVariant &entry : notes) {
        if (entry.toMap().value(PairKey) == pair)
            return entry.toMap();
    }
    return {};
}

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

PairNotes::Names Settings::pinned(const QString &pair) const
{
    return namesOf(notesOf(m_store.value(NotesKey).toList(), pair).value(PinnedKey));
}

PairNotes::Names Settings::expected(const QString &pair) const
{
    return namesOf(notesOf(m_store.value(NotesKey).toList(), pair).value(ExpectedKey));
}

void Settings::setNotes(const QString &pair, const PairNotes::Names &pinned,
                        const PairNotes::Names &expected)
{
    QVariantList notes = m_store.value(NotesKey).toList();
    notes.removeIf([&](const QVariant &entry) { return entry.toMap().value(PairKey) == pair; });
    if (!pinned.empty() || !expected.empty())
        notes.prepend(QVariantMap{
            {PairKey, pair}, {PinnedKey, stored(pinned)}, {ExpectedKey, stored(expected)}});
    m_store.setValue(NotesKey, QVariantList(notes.mid(0, NotedPairs)));
}

QString Settings::lastFolder(FolderUse use) const
{
    return m_store.value(FolderKeys[std::size_t(use)]).toString();
}

void Settings::setLastFolder(FolderUse use, const QString &path)
{
    m_store.setValue(FolderKeys[std::size_t(use)], path);
}

int Settings::fontPoints() const
{
    return m_store.value(FontKey).toInt();
}

void Settings::setFontPoints(int points)
{
    m_store.setValue(FontKey, points);
}

bool Settings::usesIndex() const
{
    return m_store.value(IndexKey, true).toBool();
}

void Settings::setUsesIndex(bool use)
{
    m_store.setValue(IndexKey, use);
}

void Settings::sync()
{
    m_store.sync();
}

} // namespace forkpoint
