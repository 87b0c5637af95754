// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/models/row_filter.h"

#include <algorithm>

namespace forkpoint {

namespace {

char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c;
}

bool contains(std::string_view name, const std::string &word)
{
    return std::search(name.begin(), name.end(), word.begin(), word.end(),
                       [](char n, char w) { return lower(n) == w; })
        != name.end();
}

} // namespace

RowFilter::RowFilter(const QString &text, bool onlyDiffering, bool onlyRecipe)
    : m_onlyDiffering(onlyDiffering),
      m_onlyRecipe(onlyRecipe)
{
    for (const QString &word : text.split(u' ', Qt::SkipEmptyParts)) {
        std::string utf8 = word.toStdString();
        std::transform(utf8.begin(), utf8.end(), utf8.begin(), lower);
        m_words.push_back(std::move(utf8));
    }
}

bool RowFilter::acceptsName(std::string_view name) const
{
    return std::all_of(m_words.begin(), m_words.end(),
                       [name](const std::string &word) { return contains(name, word); });
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
