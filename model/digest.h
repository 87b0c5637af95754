// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace forkpoint {

/// A 128-bit digest as XXH128 defines it. Its canonical form is big-endian, high half first:
/// what `xxhsum -H2` prints.
struct Digest128
{
    std::uint64_t high = 0;
    std::uint64_t low = 0;

    std::array<std::byte, 16> canonical() const;
    std::string toHex() const; ///< 32 lower-case digits
    static std::optional<Digest128> fromHex(std::string_view hex);

    bool operator==(const Digest128 &) const = default;
    auto operator<=>(const Digest128 &) const = default;
};

} // namespace forkpoint
