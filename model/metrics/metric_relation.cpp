// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/metrics/metric_relation.h"

#include "model/same_bits.h"

#include <array>
#include <charconv>
#include <cmath>

namespace forkpoint {

namespace {

/// As printf's "%.4f" prints it: the exact decimal expansion, rounded. Scaling in double would
/// round twice.
std::string printedText(double value, int digits)
{
    std::array<char, 400> text; // 309 digits before the point, at most
    const auto end = std::to_chars(text.data(), text.data() + text.size(), value,
                                   std::chars_format::fixed, digits);
    return {text.data(), end.ptr};
}

bool printsAlike(double a, double b, int digits)
{
    if (!std::isfinite(a) || !std::isfinite(b))
        return std::isnan(a) ? std::isnan(b) : a == b;
    return a == b || printedText(a, digits) == printedText(b, digits);
}

/// All values that the sample may stand for, in the precision of the other side.
DecimalRange rangeOf(const MetricSample &sample, bool asFloat32)
{
    DecimalRange range{sample.value, sample.value};
    if (sample.rounded())
        range = rangeOf(*sample.printed);
    if (asFloat32)
        range = {double(float(range.low)), double(float(range.high))};
    return range;
}

} // namespace

MetricRelation relationOf(const MetricSample &a, const MetricSample &b, bool bitsKnown)
{
    if (bitsKnown && a.isInteger && b.isInteger)
        return a.integer() == b.integer() ? MetricRelation::Equal : MetricRelation::Different;
    if (bitsKnown)
        return sameBits(a.value, b.value) ? MetricRelation::Equal : MetricRelation::Different;
    if (!std::isfinite(a.value) || !std::isfinite(b.value))
        return printsAlike(a.value, b.value, 0) ? MetricRelation::Alike : MetricRelation::Different;
    if (a.rounded() && b.rounded())
        return surelyDifferent(*a.printed, *b.printed) ? MetricRelation::Different
                                                       : MetricRelation::Alike;
    const bool asFloat32 = a.float32 || b.float32;
    const DecimalRange rangeA = rangeOf(a, asFloat32), rangeB = rangeOf(b, asFloat32);
    const bool apart = rangeA.high < rangeB.low || rangeB.high < rangeA.low;
    return apart ? MetricRelation::Different : MetricRelation::Alike;
}

bool surelyPrintApart(const MetricSample &a, const MetricSample &b, int digits)
{
    if (a.isInteger && b.isInteger)
        return a.integer() != b.integer();
    if (!a.rounded() && !b.rounded())
        return !printsAlike(a.value, b.value, digits);
    if (!std::isfinite(a.value) || !std::isfinite(b.value))
        return !printsAlike(a.value, b.value, digits);
    const DecimalRange rangeA = rangeOf(a, false), rangeB = rangeOf(b, false);
    if (rangeA.high < rangeB.low)
        return !printsAlike(rangeA.high, rangeB.low, digits);
    return rangeB.high < rangeA.low && !printsAlike(rangeB.high, rangeA.low, digits);
}

MetricSample sampleAt(const MetricSeries &series, std::size_t point)
{
    return {series.points[point].value, series.printed.empty() ? nullptr : &series.printed[point],
            series.float32, series.integers};
}

} // namespace forkpoint
