// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/text/json.h"

#include <string_view>

namespace forkpoint {

/// Walks over the members of one plain object (JsonScanner says what is plain) in memory that holds
/// one member, for objects of millions of them. Keys that stand twice are not noticed. Of anything
/// that is not plain, and of every error, it says that it cannot tell: JsonDocument then decides.
class JsonMembers
{
public:
    enum class Step : std::uint8_t {
        Member,    ///< key() and value() are the next one's
        End,       ///< the object is whole, and nothing but white space is behind it
        CannotTell ///< nor can any later call
    };

    /// `object`: must outlive this; at most JsonBytes.
    explicit JsonMembers(std::string_view object);

    Step next();
    std::string_view key() const { return *m_key.root().text(); } ///< until the next call
    JsonValue value() const { return m_value.root(); }            ///< until the next call

private:
    void skipSpace();
    bool skip(char mark);
    bool takeFirst(JsonDocument &document);
    Step takeMember();

    std::string_view m_rest;
    JsonDocument m_key, m_value;
    Step m_last = Step::Member;
    bool m_isFirst = true;
};

} // namespace forkpoint
