// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/comparison.h"

#include <QString>

#include <string>
#include <vector>

namespace forkpoint {

/// What a user typed into a filter line, and the check boxes beside it. Every word must occur in
/// the name; ASCII letters match in either case.
class RowFilter
{
public:
    RowFilter() = default;
    RowFilter(const QString &text, bool onlyDiffering, bool onlyRecipe = false);

    bool onlyRecipe() const { return m_onlyRecipe; }
    const std::vector<std::string> &words() const { return m_words; } ///< lower case

    /// What is not compared may differ, so "only differing" shows it once the comparison ended.
    bool acceptsStatus(ItemStatus status, bool finished) const;

private:
    std::vector<std::string> m_words;
    bool m_onlyDiffering = false;
    bool m_onlyRecipe = false;
};

/// ASCII letters in lower case, the other bytes as they are.
void appendLowerCase(std::string &to, std::string_view text);

} // namespace forkpoint
