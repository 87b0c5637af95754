// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/number_fold.h"

#include "loaders/running_digest.h"
#include "model/bytes.h"

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

void NumberFold::addReal(double value)
{
    m_numbers.push_back({std::bit_cast<std::uint64_t>(value), true});
    m_anyReal = true;
}

std::optional<Value> NumberFold::value() const
{
    std::string bytes, whole;
    bool allWhole = m_numbers.size() <= MostKept;
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
    Value value{ValueType::Numbers, {}, m_numbers.size(), sha256Hex(asBytes(bytes))};
    if (allWhole)
        value.data = std::move(whole);
    return value;
}

} // namespace forkpoint
