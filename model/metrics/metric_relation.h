// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/metrics/metric_series.h"

#include <cstddef>

namespace forkpoint {

/// One logged number with what is known of it.
struct MetricSample
{
    double value = 0;
    const PrintedDecimal *printed = nullptr; ///< null: all bits, or nothing, is known
    bool float32 = false;
    bool isInteger = false; ///< with all its digits, which a float64 may not hold

    bool rounded() const { return printed && !printed->exact && !isInteger; }
    PrintedDecimal::Mantissa integer() const
    {
        return printed && !printed->exact ? printed->mantissa : PrintedDecimal::Mantissa(value);
    }
};

/// That point of a series, which outlives the sample.
MetricSample sampleAt(const MetricSeries &series, std::size_t point);

/// How two numbers compare, given what is known of them: Alike are numbers that may be equal.
enum class MetricRelation { Equal, Alike, Different };

MetricRelation relationOf(const MetricSample &a, const MetricSample &b, bool bitsKnown);

/// Whether "%.<digits>f" of the two surely gives different texts.
bool surelyPrintApart(const MetricSample &a, const MetricSample &b, int digits);

} // namespace forkpoint
