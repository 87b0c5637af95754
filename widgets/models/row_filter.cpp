// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/models/row_filter.h"

#include <algorithm>

namespace forkpoint {

void appendLowerCase(std::string &to, std::string_view text)
{
    std::transform(text.begin(), text.end(), std::back_inserter(to),
                   [](char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; });
}

RowFilter::RowFilter(const QString &text, bool onlyDiffering, std::optional<StateClass> onlyClass)
    : m_onlyDiffering(onlyDiffering),
      m_onlyClass(onlyClass)
{
    for (const QString &word : text.split(u' ', Qt::SkipEmptyParts))
        appendLowerCase(m_words.emplace_back(), word.toStdString());
}

bool RowFilter::acceptsMark(RowSource::Mark mark, bool finished) const
{
    if (m_onlyClass && RowSource::classOf(mark) != *m_onlyClass)
        return false;
    if (m_onlyPinned && !(mark & RowSource::PinnedMark))
        return false;
    if (m_withoutExpected && (mark & RowSource::ExpectedMark))
        return false;
    const ItemStatus status = RowSource::statusOf(mark);
    if (!m_onlyDiffering)
        return true;
    return status == ItemStatus::NotCompared ? finished : status != ItemStatus::Identical;
}

} // namespace forkpoint
