// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/json.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <string_view>

namespace forkpoint::test {

/// Whether two values say the same in every bit, in the same order.
inline bool sameJson(const JsonValue &a, const JsonValue &b)
{
    const auto bits = [](const JsonValue &value) {
        const auto real = value.real();
        return real ? std::optional(std::bit_cast<std::uint64_t>(*real)) : std::nullopt;
    };
    if (a.kind() != b.kind() || a.key() != b.key() || a.boolean() != b.boolean()
        || a.unsignedInteger() != b.unsignedInteger() || a.negative() != b.negative()
        || bits(a) != bits(b) || a.text() != b.text())
        return false;
    const auto inA = a.children(), inB = b.children();
    return std::equal(inA.begin(), inA.end(), inB.begin(), inB.end(), sameJson);
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

} // namespace forkpoint::test
