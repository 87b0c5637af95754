// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/format.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string_view>

namespace forkpoint {

namespace {

/// The shortest digits that read back, laid out as Python's repr does: an exponent below 1e-4 and
/// from 1e16 on.
template <class Number>
std::string shortestOf(Number value)
{
    if (std::isnan(value))
        return "nan";
    if (std::isinf(value))
        return std::signbit(value) ? "-inf" : "inf";
    std::array<char, 400> buffer;
    const double size = std::fabs(static_cast<double>(value));
    const bool plain = size == 0.0 || (size >= 1e-4 && size < 1e16);
    const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                   plain ? std::chars_format::fixed : std::chars_format::scientific)
                         .ptr;
    std::string text(buffer.data(), end);
    if (text.find_first_of(".e") == std::string::npos)
        text += ".0";
    return text;
}

/// One digit after the point, the value being tenths.
std::string withTenth(std::uint64_t tenths)
{
    return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10);
}

} // namespace

std::string shortest(double value)
{
    return shortestOf(value);
}

std::string shortest(float value)
{
    return shortestOf(value);
}

std::string significant(double value, int digits)
{
    if (!std::isfinite(value))
        return shortestOf(value);
    std::array<char, 400> buffer;
    const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                   std::chars_format::general, digits)
                         .ptr;
    return std::string(buffer.data(), end);
}

std::string byteSize(std::uint64_t bytes)
{
    constexpr std::array<std::string_view, 6> Units{"kB", "MB", "GB", "TB", "PB", "EB"};
    if (bytes < 1000)
        return std::to_string(bytes) + " B";
    std::uint64_t scale = 1000;
    for (const std::string_view unit : Units) {
        // Rounded half up, in integers; 999.95 kB is 1.0 MB.
        const std::uint64_t step = scale / 10;
        const std::uint64_t tenths = bytes / step + (bytes % step >= step / 2 ? 1 : 0);
        if (tenths < 10000 || unit == Units.back())
            return withTenth(tenths) + " " + std::string(unit);
        scale *= 1000;
    }
    return {};
}

std::string grouped(std::uint64_t value)
{
    std::string text = std::to_string(value);
    for (std::size_t at = text.size(); at > 3;) {
        at -= 3;
        text.insert(at, 1, ',');
    }
    return text;
}

std::string percentage(std::uint64_t part, std::uint64_t whole)
{
    if (whole == 0 || part == 0)
        return "0 %";
    if (part == whole)
        return "100 %";
    const double tenths =
        std::round(static_cast<double>(part) / static_cast<double>(whole) * 1000.0);
    if (tenths < 1.0)
        return "< 0.1 %";
    if (part < whole && tenths > 999.0)
        return "> 99.9 %";
    return withTenth(static_cast<std::uint64_t>(tenths)) + " %";
}

std::string counted(std::uint64_t count, std::string_view singular, std::string_view plural)
{
    return grouped(count) + " " + std::string(count == 1 ? singular : plural);
}

} // namespace forkpoint
