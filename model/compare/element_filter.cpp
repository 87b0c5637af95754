// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/compare/element_filter.h"

#include <bit>
#include <cmath>

namespace forkpoint {

namespace {

std::uint64_t magnitudeOf(std::int64_t value)
{
    return value < 0 ? ~std::uint64_t(value) + 1 : std::uint64_t(value);
}

bool acceptsInteger(const MagnitudeRange &range, std::uint64_t magnitude)
{
    if (magnitude == 0)
        return range.zero;
    const int power = int(std::bit_width(magnitude)) - 1;
    return range.powers && power >= range.powers->first && power <= range.powers->second;
}

bool acceptsScalar(const MagnitudeRange &range, const Scalar &scalar)
{
    if (const auto *i = std::get_if<std::int64_t>(&scalar))
        return acceptsInteger(range, magnitudeOf(*i));
    if (const auto *u = std::get_if<std::uint64_t>(&scalar))
        return acceptsInteger(range, *u);
    if (const auto *b = std::get_if<bool>(&scalar))
        return acceptsInteger(range, *b ? 1 : 0);
    const auto *d = std::get_if<double>(&scalar);
    if (!d)
        return false;
    if (std::isnan(*d))
        return range.nan;
    if (std::isinf(*d))
        return range.infinite;
    if (*d == 0.0)
        return range.zero;
    const int power = std::ilogb(*d);
    return range.powers && power >= range.powers->first && power <= range.powers->second;
}

bool isFinite(const Scalar &scalar)
{
    const auto *d = std::get_if<double>(&scalar);
    return !d || std::isfinite(*d);
}

} // namespace

bool MagnitudeRange::accepts(const ElementRow &row) const
{
    if (kind == MagnitudeKind::Ulp)
        return row.ulp && acceptsInteger(*this, *row.ulp);
    const ElementValue &value = kind == MagnitudeKind::AbsA ? row.a
        : kind == MagnitudeKind::AbsB                       ? row.b
                                                            : row.difference;
    // Histograms count pairs with two finite sides; NaN and Inf of one side have bins of their own.
    const auto part = [&](const Scalar &a, const Scalar &b, const Scalar &own) {
        if (isFinite(a) && isFinite(b))
            return acceptsScalar(*this, own);
        return kind != MagnitudeKind::AbsDifference && !isFinite(own) && acceptsScalar(*this, own);
    };
    return part(row.a.real, row.b.real, value.real)
        || (!std::holds_alternative<std::monostate>(value.imaginary)
            && part(row.a.imaginary, row.b.imaginary, value.imaginary));
}

bool PlanePart::accepts(Index index) const
{
    const auto place = plane.placeOf(index);
    return place && window.contains(place->first, place->second);
}

} // namespace forkpoint
