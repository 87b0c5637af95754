// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/places.h"

namespace forkpoint {

void Places::visit(const Place &place)
{
    if (!m_places.empty()) {
        if (m_places[m_at] == place)
            return;
        m_places.resize(m_at + 1);
    }
    m_places.push_back(place);
    if (m_places.size() > Most)
        m_places.erase(m_places.begin());
    m_at = m_places.size() - 1;
}

void Places::clear()
{
    m_places.clear();
    m_at = 0;
}

const Place &Places::back()
{
    return m_places[--m_at];
}

const Place &Places::forward()
{
    return m_places[++m_at];
}

} // namespace forkpoint
