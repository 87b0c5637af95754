// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>

namespace forkpoint {

/// The shortest text that reads back to the same bits; always with a point or an exponent ("1.0",
/// "1e-08"); "nan", "inf", "-inf"; "-0.0". No locale.
std::string shortest(double value);
/// The same for a float32 value (as many digits as float32 needs).
std::string shortest(float value);
/// `digits` significant digits, as printf's %g would, no locale.
std::string significant(double value, int digits);
/// "1.1 MB", "4.0 TB": decimal units, one digit after the point above bytes.
std::string byteSize(std::uint64_t bytes);
/// "1,234,567"
std::string grouped(std::uint64_t value);
/// "27.4 %"; "< 0.1 %" and "> 99.9 %" rather than a rounded 0 or 100.
std::string percentage(std::uint64_t part, std::uint64_t whole);
/// "1 tensor", "3 tensors"
std::string counted(std::uint64_t count, std::string_view singular, std::string_view plural);

} // namespace forkpoint
