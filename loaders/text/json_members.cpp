// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/text/json_members.h"

#include "loaders/text/json_scanner.h"

#include <algorithm>

namespace forkpoint {

JsonMembers::JsonMembers(std::string_view object) : m_rest(object)
{
    if (object.size() > limits::JsonBytes || !skip('{'))
        m_last = Step::CannotTell;
}

void JsonMembers::skipSpace()
{
    m_rest.remove_prefix(std::min(m_rest.find_first_not_of(" \n\r\t"), m_rest.size()));
}

/// Takes the mark and the white space around it, if it is there.
bool JsonMembers::skip(char mark)
{
    skipSpace();
    if (!m_rest.starts_with(mark))
        return false;
    m_rest.remove_prefix(1);
    skipSpace();
    return true;
}

bool JsonMembers::takeFirst(JsonDocument &document)
{
    const auto length =
        JsonScanner(m_rest, RepeatedKeys::Refuse, NonFinite::Refuse, document).scanFirst(1);
    m_rest.remove_prefix(length.value_or(0));
    return length.has_value();
}

JsonMembers::Step JsonMembers::takeMember()
{
    if (skip('}'))
        return m_rest.empty() ? Step::End : Step::CannotTell;
    if (!std::exchange(m_isFirst, false) && !skip(','))
        return Step::CannotTell;
    const bool hasKey = m_rest.starts_with('"') && takeFirst(m_key);
    return hasKey && skip(':') && takeFirst(m_value) ? Step::Member : Step::CannotTell;
}

JsonMembers::Step JsonMembers::next()
{
    if (m_last == Step::Member)
        m_last = takeMember();
    return m_last;
}

} // namespace forkpoint
