// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/metrics/printed_decimal.h"

#include "model/metrics/whole_digits.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <string>

namespace forkpoint {

namespace {

constexpr std::int32_t MaxExponent = 400; // float64 ends at 1e308 and 1e-324

bool equalsInAnyCase(std::string_view text, std::string_view lower)
{
    return std::equal(text.begin(), text.end(), lower.begin(), lower.end(), [](char c, char l) {
        return (c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c) == l;
    });
}

/// Whether a float64 is exactly the integer of these digits; beyond 64 bits nothing is.
bool holdsInteger(double value, std::string_view digits)
{
    constexpr double Beyond = 18446744073709551616.0; // 2^64
    std::uint64_t integer = 0;
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), integer);
    return error == std::errc() && end == digits.data() + digits.size() && value < Beyond
        && std::uint64_t(value) == integer;
}

/// m x 10^-d is a binary fraction exactly where 5^d divides m.
bool isDyadic(const PrintedDecimal &printed)
{
    PrintedDecimal::Mantissa rest = printed.mantissa;
    for (std::int32_t place = printed.exponent; place < 0; ++place) {
        if (rest % 5 != 0)
            return false;
        if (rest == 0)
            return true;
        rest /= 5;
    }
    return true;
}

/// Digits of the text before its exponent, collected into mantissa and exponent.
class DigitWalker
{
public:
    explicit DigitWalker(DecimalText &into) : m_into(into) {}

    bool take(char c)
    {
        if (c == '.' && !m_point) {
            m_point = true;
            return true;
        }
        if (c < '0' || c > '9')
            return false;
        m_any = true;
        PrintedDecimal &printed = m_into.printed;
        if (c != '0' || m_into.significantDigits > 0)
            ++m_into.significantDigits;
        if (m_into.significantDigits <= PrintedDecimal::KeptDigits) {
            printed.mantissa = printed.mantissa * 10 + (c - '0');
            printed.exponent -= m_point ? 1 : 0;
        } else {
            printed.cut = true;
            if (m_into.significantDigits == PrintedDecimal::KeptDigits + 1 && c >= '5')
                ++printed.mantissa;
            printed.exponent += m_point ? 0 : 1;
        }
        return printed.exponent > -MaxExponent && printed.exponent < MaxExponent;
    }

    bool any() const { return m_any; }
    bool point() const { return m_point; }

private:
    DecimalText &m_into;
    bool m_any = false, m_point = false;
};

double nearest(PrintedDecimal::Mantissa mantissa, std::int32_t exponent)
{
    const std::string text = wholeDigits(mantissa) + "e" + std::to_string(exponent);
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc())
        return value;
    const bool tiny = exponent < 0;
    const double edge = tiny ? 0.0 : std::numeric_limits<double>::infinity();
    return mantissa < 0 ? -edge : edge;
}

/// One end of an interval in units of half the last place.
PrintedDecimal::Mantissa endOf(const PrintedDecimal &decimal, int side)
{
    return 2 * decimal.mantissa + (decimal.cut ? 2 * side : side);
}

/// Multiplies by ten until the exponent is `lowest`, or the number beyond any mantissa.
void lower(PrintedDecimal::Mantissa &number, std::int32_t &exponent, std::int32_t lowest)
{
    constexpr std::int64_t Half = 1'000'000'000'000'000'000;
    constexpr PrintedDecimal::Mantissa BeyondMantissas = PrintedDecimal::Mantissa(Half) * Half * 10;
    while (exponent > lowest && number < BeyondMantissas && number > -BeyondMantissas) {
        number *= 10;
        --exponent;
    }
}

/// Whether x 10^xe < y 10^ye.
bool less(PrintedDecimal::Mantissa x, std::int32_t xe, PrintedDecimal::Mantissa y, std::int32_t ye)
{
    if (x == 0 || y == 0)
        return x < y;
    lower(x, xe, ye);
    lower(y, ye, xe);
    if (xe == ye)
        return x < y;
    return xe > ye ? x < 0 : y > 0;
}

} // namespace

std::optional<double> nonFiniteByName(std::string_view text)
{
    const bool negative = text.starts_with('-');
    text.remove_prefix(negative || text.starts_with('+') ? 1 : 0);
    if (equalsInAnyCase(text, "nan"))
        return std::numeric_limits<double>::quiet_NaN();
    constexpr double Infinity = std::numeric_limits<double>::infinity();
    if (equalsInAnyCase(text, "inf") || equalsInAnyCase(text, "infinity"))
        return negative ? -Infinity : Infinity;
    return std::nullopt;
}

bool isDecimalBeyondFloat64(std::string_view text)
{
    if (parseDecimal(text))
        return false;
    text.remove_prefix(text.starts_with('+') ? 1 : 0);
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error != std::errc::invalid_argument && end == text.data() + text.size();
}

std::optional<DecimalText> parseDecimal(std::string_view text)
{
    DecimalText result;
    if (const auto special = nonFiniteByName(text)) {
        result.value = *special;
        result.printed.exact = true;
        return result;
    }
    const bool plus = text.starts_with('+');
    text.remove_prefix(plus ? 1 : 0);
    const bool negative = text.starts_with('-');
    if (plus && negative)
        return std::nullopt;
    DigitWalker digits(result);
    std::size_t at = negative ? 1 : 0;
    while (at < text.size() && text[at] != 'e' && text[at] != 'E') {
        if (!digits.take(text[at++]))
            return std::nullopt;
    }
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), result.value);
    if (!digits.any() || error != std::errc() || end != text.data() + text.size()
        || !std::isfinite(result.value))
        return std::nullopt;
    const bool digitsAlone = at == text.size() && !digits.point();
    if (at < text.size()) {
        std::int32_t exponent = 0;
        const std::size_t sign = text.substr(at + 1).starts_with('+') ? 2 : 1;
        std::from_chars(text.data() + at + sign, text.data() + text.size(), exponent);
        if (exponent > MaxExponent || exponent < -MaxExponent)
            exponent = exponent > 0 ? MaxExponent : -MaxExponent; // zeros: "0e999"
        result.printed.exponent += exponent;
    }
    PrintedDecimal &printed = result.printed;
    printed.negativeZero = negative && printed.mantissa == 0;
    printed.mantissa = negative ? -printed.mantissa : printed.mantissa;
    // The text decides, not the value: 2^53 + 1 has been rounded to 2^53 there.
    const bool held =
        digitsAlone && holdsInteger(std::fabs(result.value), text.substr(negative ? 1 : 0));
    result.wholeNumber = held && !printed.negativeZero;
    result.lossy = digitsAlone && !held;
    result.dyadic = result.significantDigits <= PrintedDecimal::FullDigits && isDyadic(printed);
    return result;
}

DecimalRange rangeOf(const PrintedDecimal &decimal)
{
    const PrintedDecimal::Mantissa middle = decimal.mantissa * 10;
    const int reach = decimal.cut ? 10 : 5;
    return {nearest(middle - reach, decimal.exponent - 1),
            nearest(middle + reach, decimal.exponent - 1)};
}

bool surelyDifferent(const PrintedDecimal &a, const PrintedDecimal &b)
{
    if (a.exponent == b.exponent && !a.cut && !b.cut)
        return a.mantissa != b.mantissa || a.negativeZero != b.negativeZero;
    return less(endOf(a, 1), a.exponent, endOf(b, -1), b.exponent)
        || less(endOf(b, 1), b.exponent, endOf(a, -1), a.exponent);
}

} // namespace forkpoint
