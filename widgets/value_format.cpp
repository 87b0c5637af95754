// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/value_format.h"

#include "model/format.h"
#include "widgets/display_text.h"

#include <array>
#include <cmath>
#include <cstdio>

namespace forkpoint {

namespace {

/// The fewest digits that tell a value of that type from its neighbours.
QString shortestOf(const DType &dtype, double value)
{
    if (!std::isfinite(value))
        return qs(shortest(value));
    if (dtype.bits == 32 && dtype.isFloating() && double(float(value)) == value) {
        std::array<char, 32> text;
        for (int digits = 1; digits <= 9; ++digits) {
            std::snprintf(text.data(), text.size(), "%.*g", digits, value);
            if (std::strtof(text.data(), nullptr) == float(value))
                return QString::fromLatin1(text.data());
        }
    }
    return qs(shortest(value));
}

QString hexFloat(double value)
{
    if (!std::isfinite(value))
        return qs(shortest(value));
    std::array<char, 64> text;
    std::snprintf(text.data(), text.size(), "%a", value);
    return QString::fromLatin1(text.data());
}

template <class Write>
QString floatText(const ElementValue &value, Write write)
{
    const auto *real = std::get_if<double>(&value.real);
    const auto *imaginary = std::get_if<double>(&value.imaginary);
    QString text = write(*real);
    if (!imaginary)
        return text;
    const QString second = write(*imaginary);
    return text + (second.startsWith(u'-') ? QString() : QStringLiteral("+")) + second + u'j';
}

} // namespace

QString elementText(const DType &dtype, const ElementValue &value,
                    const std::vector<std::byte> &bits, ValueFormat format)
{
    if (format == ValueFormat::Bits)
        return QLatin1String("0x") + qs(bitsToHex(dtype, bits));
    const bool floating = std::holds_alternative<double>(value.real);
    if (format == ValueFormat::Shortest && floating)
        return floatText(value, [&](double number) { return shortestOf(dtype, number); });
    if (format == ValueFormat::HexFloat && floating)
        return floatText(value, hexFloat);
    return elementText(dtype, value, bits); // integers are exact anyway
}

QString bitsText(const DType &dtype, const ElementRow &row, BitsOf which)
{
    if (which != BitsOf::Xor)
        return qs(bitsToBinary(dtype, which == BitsOf::A ? row.bitsA : row.bitsB));
    std::vector<std::byte> changed = row.bitsA;
    for (std::size_t i = 0; i < changed.size() && i < row.bitsB.size(); ++i)
        changed[i] ^= row.bitsB[i];
    return qs(bitsToBinary(dtype, changed));
}

} // namespace forkpoint
