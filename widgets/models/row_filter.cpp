// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/models/row_filter.h"

#include <algorithm>

namespace forkpoint {

void appendLowerCase(std::string &to, std::string_view text)
{
    std::transform(text.begin(), text.end(), std::back_inserter(to),
                   [](char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; });
}

RowFilter::RowFilter(const QString &text, bool onlyDiffering, bool onlyRecipe)
    : m_onlyDiffering(onlyDiffering),
      m_onlyRecipe(onlyRecipe)
{
    for (const QString &word : text.split(u' ', Qt::SkipEmptyParts))
        appendLowerCase(m_words.emplace_back(), word.toStdString());
}

bool RowFilter::acceptsStatus(ItemStatus status, bool finished) const
{
    if (!m_onlyDiffering)
        return true;
    if (status == ItemStatus::NotCompared)
        return finished;
    return status != ItemStatus::Identical;
}

} // namespace forkpoint
