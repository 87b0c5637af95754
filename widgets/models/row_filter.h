// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/models/row_source.h"

#include <QString>

#include <optional>
#include <string>
#include <vector>

namespace forkpoint {

/// What a user typed into a filter line, and what was chosen beside it. Every word must occur in the
/// name; ASCII letters match in either case.
class RowFilter
{
public:
    RowFilter() = default;
    RowFilter(const QString &text, bool onlyDiffering,
              std::optional<StateClass> onlyClass = std::nullopt);

    void setOnlyPinned(bool only) { m_onlyPinned = only; }
    void setWithoutExpected(bool without) { m_withoutExpected = without; }

    const std::vector<std::string> &words() const { return m_words; } ///< lower case
    /// What is not compared may differ, so "only differing" shows it once the comparison ended.
    bool acceptsMark(RowSource::Mark mark, bool finished) const;

private:
    std::vector<std::string> m_words;
    bool m_onlyDiffering = false, m_onlyPinned = false, m_withoutExpected = false;
    std::optional<StateClass> m_onlyClass;
};

/// ASCII letters in lower case, the other bytes as they are.
void appendLowerCase(std::string &to, std::string_view text);

} // namespace forkpoint
