// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/text/json_members.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <string_view>

namespace forkpoint::test {

inline bool sameJson(const JsonValue &a, const JsonValue &b);

/// Whether two values say the same in every bit, in the same order, whatever they are called.
inline bool sameValue(const JsonValue &a, const JsonValue &b)
{
    const auto bits = [](const JsonValue &value) {
        const auto real = value.real();
        return real ? std::optional(std::bit_cast<std::uint64_t>(*real)) : std::nullopt;
    };
    if (a.kind() != b.kind() || a.boolean() != b.boolean()
        || a.unsignedInteger() != b.unsignedInteger() || a.negative() != b.negative()
        || bits(a) != bits(b) || a.text() != b.text())
        return false;
    const auto inA = a.children(), inB = b.children();
    return std::equal(inA.begin(), inA.end(), inB.begin(), inB.end(), sameJson);
}

/// The same, and their keys.
inline bool sameJson(const JsonValue &a, const JsonValue &b)
{
    return a.key() == b.key() && sameValue(a, b);
}

/// Whether the short way for plain texts and the general parser agree on a text, errors included.
inline bool bothParseAlike(std::string_view text, RepeatedKeys repeated = RepeatedKeys::Refuse)
{
    const auto quick = JsonDocument::parse(text, repeated);
    const auto general = JsonDocument::parseGeneral(text, repeated);
    if (quick.ok() != general.ok())
        return false;
    if (!quick.ok())
        return quick.error().place == general.error().place
            && quick.error().text == general.error().text;
    return sameJson(quick->root(), general->root());
}

/// Whether a walk over the members of a text ends only where the general parser reads an object, and
/// then met what that has.
inline bool membersAreAlike(std::string_view text)
{
    const auto general = JsonDocument::parseGeneral(text, RepeatedKeys::Keep);
    const auto expected = general.ok() ? general->root().children() : std::vector<JsonValue>();
    JsonMembers members(text);
    for (std::size_t i = 0;; ++i) {
        switch (members.next()) {
        case JsonMembers::Step::CannotTell: return true;
        case JsonMembers::Step::End:
            return general.ok() && general->root().isObject() && i == expected.size();
        case JsonMembers::Step::Member: break;
        }
        // What comes before an error is met, too.
        if (general.ok()
            && (i >= expected.size() || members.key() != expected[i].key()
                || !sameValue(members.value(), expected[i])))
            return false;
    }
}

} // namespace forkpoint::test
