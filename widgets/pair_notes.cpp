// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/pair_notes.h"

namespace forkpoint {

void PairNotes::setPinned(const std::string &name, bool pinned)
{
    set(m_pinned, name, pinned);
}

void PairNotes::setExpected(const std::string &name, bool expected)
{
    set(m_expected, name, expected);
}

void PairNotes::set(Names &names, const std::string &name, bool in)
{
    const bool changes = in ? names.insert(name).second : names.erase(name) > 0;
    if (!changes)
        return;
    Q_EMIT changed();
    Q_EMIT changedByUser();
}

void PairNotes::replace(Names pinned, Names expected)
{
    if (pinned == m_pinned && expected == m_expected)
        return;
    m_pinned = std::move(pinned);
    m_expected = std::move(expected);
    Q_EMIT changed();
}

} // namespace forkpoint
