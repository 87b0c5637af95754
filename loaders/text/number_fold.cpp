// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/text/number_fold.h"

#include "loaders/elements/running_digest.h"
#include "model/bytes.h"
#include "model/folded_numbers.h"

#include <bit>
#include <cmath>

namespace forkpoint {

namespace {

/// A generator's state has some hundred, the groups of an optimizer a number for each parameter.
constexpr std::size_t MostKept = 1u << 16;

/// Whether the integer survives the way to a float and back.
bool isExactReal(std::int64_t integer)
{
    const double real = double(integer);
    return real < 0x1p63 && std::int64_t(real) == integer;
}

/// Whether a float is a whole number that says no more than the integer: up to 2^53, and no -0.0.
bool isWhole(double real)
{
    return std::fabs(real) <= 0x1p53 && std::trunc(real) == real
        && !(real == 0.0 && std::signbit(real));
}

void append(std::string &bytes, std::uint64_t bits)
{
    for (int shift = 0; shift < 64; shift += 8)
        bytes.push_back(char(bits >> shift));
}

} // namespace

void NumberFold::addInteger(std::int64_t value)
{
    m_numbers.push_back({std::uint64_t(value), false});
    m_anyInteger = true;
}

void NumberFold::addReal(double value)
{
    m_numbers.push_back({std::bit_cast<std::uint64_t>(value), true});
    m_anyReal = true;
}

std::string NumberFold::kinds() const
{
    if (!m_anyReal || !m_anyInteger)
        return m_anyReal ? "float" : "int";
    std::string letters;
    letters.reserve(m_numbers.size());
    for (const Number &number : m_numbers)
        letters.push_back(number.isReal ? 'f' : 'i');
    return sha256Hex(asBytes(letters));
}

std::optional<Value> NumberFold::value() const
{
    std::string bytes, whole;
    bool allWhole = true;
    for (const Number &number : m_numbers) {
        std::uint64_t bits = number.bits, integer = number.bits;
        if (number.isReal) {
            const double real = std::bit_cast<double>(bits);
            allWhole = allWhole && isWhole(real);
            integer = allWhole ? std::uint64_t(std::int64_t(real)) : 0;
        } else if (m_anyReal) {
            if (!isExactReal(std::int64_t(bits)))
                return std::nullopt;
            bits = std::bit_cast<std::uint64_t>(double(std::int64_t(bits)));
        }
        append(bytes, bits);
        if (allWhole)
            append(whole, integer);
    }
    const bool areKept = allWhole && m_numbers.size() <= MostKept;
    const FoldedNumbers folded{kinds(), allWhole ? sha256Hex(asBytes(whole)) : std::string()};
    return Value{ValueType::Numbers,
                 folded.toData(areKept ? std::string_view(whole) : std::string_view()),
                 m_numbers.size(), sha256Hex(asBytes(bytes))};
}

} // namespace forkpoint
