// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace forkpoint {

/// One step of a path: a dictionary key or a position in a list, with its type kept, because
/// ["a", 1], ["a", "1"] and ["a.1"] are three different places.
struct Key
{
    enum class Kind : std::uint8_t {
        Text,    ///< a string key; raw bytes, normally UTF-8
        Integer, ///< an integer key or a list position
        Other,   ///< any other key, as Python would print it: (2, 'x'), torch.bfloat16, None
    };
    Kind kind = Kind::Text;
    std::string text;        ///< Text and Other; also an Integer beyond 64 bits, as digits
    std::int64_t number = 0; ///< Integer

    static Key of(std::string text) { return {Kind::Text, std::move(text), 0}; }
    static Key at(std::int64_t position) { return {Kind::Integer, {}, position}; }
    static Key printed(std::string python) { return {Kind::Other, std::move(python), 0}; }

    std::string toString() const;
    bool operator==(const Key &) const = default;
    auto operator<=>(const Key &) const = default;
};

/// The identity of an item. Its display name is derived and made unique within a document.
struct KeyPath
{
    std::vector<Key> keys;

    /// Keys joined by the separator, list positions as numbers, invalid UTF-8 as \xNN.
    std::string toString(std::string_view separator = ".") const;
    KeyPath child(Key key) const;

    bool operator==(const KeyPath &) const = default;
    auto operator<=>(const KeyPath &) const = default;
};

/// `text` with every byte that is not part of valid UTF-8 written as \xNN.
std::string escapeInvalidUtf8(std::string_view text);

/// Makes equal names distinct by appending #2, #3, ... in order; never makes a new collision.
void makeNamesUnique(std::vector<std::string *> names);

} // namespace forkpoint
