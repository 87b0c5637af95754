// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/pair_texts.h"

#include "widgets/display_text.h"

#include <algorithm>
#include <vector>

namespace forkpoint {

namespace {

constexpr qsizetype LongestName = 40; ///< of one folder; of longer ones a part is shown
constexpr qsizetype Telling = 28;     ///< of such a one around what tells it from another

qsizetype commonStart(const QString &left, const QString &right)
{
    const auto [end, other] = std::mismatch(left.begin(), left.end(), right.begin(), right.end());
    return end - left.begin();
}

qsizetype commonEnd(const QString &left, const QString &right, qsizetype most)
{
    qsizetype count = 0;
    while (count < most && left[left.size() - 1 - count] == right[right.size() - 1 - count])
        ++count;
    return count;
}

/// A folder of a path, or its last name.
class Name
{
public:
    explicit Name(QString text) : m_text(std::move(text)) {}

    const QString &text() const { return m_text; }
    /// Where it differs from another one is to be seen.
    void tellFrom(const QString &other)
    {
        const qsizetype start = commonStart(m_text, other);
        const qsizetype most = std::min(m_text.size(), other.size()) - start;
        const qsizetype end = m_text.size() - commonEnd(m_text, other, most);
        m_from = m_from < 0 ? start : std::min(m_from, start);
        m_to = std::max(m_to, end);
    }
    QString shown() const
    {
        if (m_text.size() <= LongestName)
            return m_text;
        if (m_from < 0)
            return elidedMiddle(m_text, int(LongestName));
        const qsizetype around = std::max<qsizetype>(4, (Telling - (m_to - m_from)) / 2);
        const qsizetype from = std::max<qsizetype>(0, m_from - around);
        const qsizetype to = std::min(m_text.size(), m_to + around);
        return (from > 0 ? QStringLiteral("…") : QString())
            + elidedMiddle(m_text.mid(from, to - from), int(LongestName))
            + (to < m_text.size() ? QStringLiteral("…") : QString());
    }

private:
    QString m_text;
    qsizetype m_from = -1, m_to = -1; ///< the characters that tell it from others
};

/// A path and which of its names are to be seen.
class Path
{
public:
    explicit Path(const QString &path)
    {
        for (const QString &name : displayText(path).split(u'/'))
            m_names.emplace_back(name);
        m_needed.assign(m_names.size(), false);
        // A path that ends with a slash has an empty last name.
        const bool endsInFolder = m_names.size() > 1 && m_names.back().text().isEmpty();
        m_needed[m_names.size() - (endsInFolder ? 2 : 1)] = true;
    }

    /// What lies between the folders that both begin with and those that both end with.
    void tellFrom(const Path &other)
    {
        const std::size_t size = m_names.size(), least = std::min(size, other.m_names.size());
        std::size_t start = 0, end = 0;
        while (start < least && m_names[start].text() == other.m_names[start].text())
            ++start;
        while (end < least - start
               && m_names[size - 1 - end].text()
                   == other.m_names[other.m_names.size() - 1 - end].text())
            ++end;
        const bool isAsDeep = size == other.m_names.size();
        for (std::size_t i = start; i + end < size; ++i) {
            if (isAsDeep && m_names[i].text() == other.m_names[i].text())
                continue;
            m_needed[i] = true;
            if (i + end < other.m_names.size())
                m_names[i].tellFrom(other.m_names[i].text());
        }
    }

    /// With as many of the folders before the last name as there is room for.
    QString shown(qsizetype room) const
    {
        std::vector<bool> seen(m_names.size(), true);
        QString text = joined(seen);
        if (text.size() <= room)
            return text;
        seen = m_needed;
        text = joined(seen);
        for (std::size_t i = m_names.size(); i-- > 0;) {
            if (seen[i])
                continue;
            seen[i] = true;
            const QString longer = joined(seen);
            if (longer.size() > room)
                break;
            text = longer;
        }
        return text;
    }

private:
    QString joined(const std::vector<bool> &seen) const
    {
        QStringList parts;
        for (std::size_t i = 0; i < m_names.size(); ++i) {
            if (seen[i])
                parts += m_names[i].shown();
            else if (i == 0 || seen[i - 1])
                parts += QStringLiteral("…");
        }
        return parts.join(u'/');
    }

    std::vector<Name> m_names;
    std::vector<bool> m_needed;
};

struct Pair
{
    Path a, b;
    PairText text;
};

void show(std::vector<Pair> &pairs, int room)
{
    for (Pair &pair : pairs)
        pair.text = {pair.a.shown(room), pair.b.shown(room)};
}

/// Of those that look the same; false where there are none.
bool tellApart(std::vector<Pair> &pairs)
{
    bool some = false;
    for (Pair &pair : pairs) {
        for (const Pair &other : pairs) {
            if (&other == &pair || !(other.text == pair.text))
                continue;
            pair.a.tellFrom(other.a);
            pair.b.tellFrom(other.b);
            some = true;
        }
    }
    return some;
}

} // namespace

QList<PairText> pairTexts(const QStringList &pairs, int room)
{
    std::vector<Pair> all;
    for (const QString &pair : pairs) {
        all.push_back({Path(pair.section(u'\n', 0, 0)), Path(pair.section(u'\n', 1)), {}});
        all.back().a.tellFrom(all.back().b);
        all.back().b.tellFrom(all.back().a);
    }
    show(all, room);
    // What is told apart may look like another one then: once per pair is enough.
    for (std::size_t i = 0; i < all.size() && tellApart(all); ++i)
        show(all, room);
    QList<PairText> texts;
    for (const Pair &pair : all)
        texts += pair.text;
    return texts;
}

} // namespace forkpoint
