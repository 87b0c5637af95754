// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>

namespace forkpoint {

using ByteView = std::span<const std::byte>;
using MutableByteView = std::span<std::byte>;

/// Sums and products of sizes that come from files: no value when 64 bits do not suffice.
constexpr std::optional<std::uint64_t> checkedAdd(std::uint64_t a, std::uint64_t b)
{
    std::uint64_t sum = 0;
    if (__builtin_add_overflow(a, b, &sum))
        return std::nullopt;
    return sum;
}

constexpr std::optional<std::uint64_t> checkedMul(std::uint64_t a, std::uint64_t b)
{
    std::uint64_t product = 0;
    if (__builtin_mul_overflow(a, b, &product))
        return std::nullopt;
    return product;
}

/// Loads an unsigned integer or float of sizeof(T) bytes, little-endian, from any address.
template <class T>
    requires std::is_trivially_copyable_v<T> T loadLittle(const std::byte *data)
    {
        std::array<std::byte, sizeof(T)> raw;
        std::memcpy(raw.data(), data, sizeof(T));
        if constexpr (std::endian::native == std::endian::big) {
            for (std::size_t i = 0; i < sizeof(T) / 2; ++i)
                std::swap(raw[i], raw[sizeof(T) - 1 - i]);
        }
        return std::bit_cast<T>(raw);
    }

/// The same, big-endian.
template <class T>
    requires std::is_trivially_copyable_v<T> T loadBig(const std::byte *data)
    {
        std::array<std::byte, sizeof(T)> raw;
        for (std::size_t i = 0; i < sizeof(T); ++i)
            raw[i] = data[sizeof(T) - 1 - i];
        return loadLittle<T>(raw.data());
    }

inline ByteView asBytes(std::string_view text)
{
    return std::as_bytes(std::span(text.data(), text.size()));
}

inline std::string_view asText(ByteView bytes)
{
    return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

} // namespace forkpoint
