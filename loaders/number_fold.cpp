// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/number_fold.h"

#include "loaders/running_digest.h"
#include "model/bytes.h"

#include <bit>

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

} // namespace

void NumberFold::addReal(double value)
{
    m_numbers.push_back({std::bit_cast<std::uint64_t>(value), true});
    m_anyReal = true;
}

std::optional<Value> NumberFold::value() const
{
    std::vector<std::byte> bytes;
    bytes.reserve(m_numbers.size() * 8);
    for (const Number &number : m_numbers) {
        std::uint64_t bits = number.bits;
        if (m_anyReal && !number.isReal) {
            if (!isExactReal(std::int64_t(bits)))
                return std::nullopt;
            bits = std::bit_cast<std::uint64_t>(double(std::int64_t(bits)));
        }
        for (int shift = 0; shift < 64; shift += 8)
            bytes.push_back(std::byte(bits >> shift));
    }
    Value value{ValueType::Numbers, {}, m_numbers.size(), sha256Hex(bytes)};
    if (!m_anyReal && m_numbers.size() <= MostKept)
        value.data = std::string(asText(bytes));
    return value;
}

} // namespace forkpoint
