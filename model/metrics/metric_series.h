// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/metrics/printed_decimal.h"

#include <cstdint>
#include <string>
#include <vector>

namespace forkpoint {

/// A logged number per step, as exact as the file has it.
struct MetricPoint
{
    std::int64_t step = 0;
    double value = 0.0;
};

/// One metric of one run, sorted by step; of a step logged twice the later line counts.
struct MetricSeries
{
    std::string name;
    std::string file;
    bool bitsKnown = true; ///< every digit is there; false for numbers that were printed rounded
    std::vector<MetricPoint> points;
    bool float32 = false;  ///< the file holds float32, whatever the run computed with
    bool integers = false; ///< every point is one, with all its digits
    /// One of the integers is no float64: `printed` has it, `value` only nearly.
    bool beyondFloat64 = false;
    /// What each point was printed as, where bits are not known or no float64 has them; empty: nobody
    /// knows how rounded.
    std::vector<PrintedDecimal> printed = {};
    /// Points that do not count: of steps that were logged again, or given up by a restart.
    std::uint64_t passedOver = 0;
    /// Steps whose row leaves the number open (JSON null, an empty cell of CSV), rising: it was not
    /// logged, or is one that the writer has no word for, such as NaN.
    std::vector<std::int64_t> blanks = {};
    /// How the step of a point is known.
    enum class Steps {
        Stated,
        ByEpoch, ///< rows, counted by the epochs that they print
        Counted  ///< rows, as they follow each other: one that was lost goes unseen
    };
    Steps steps = Steps::Stated;
    /// How many steps each point is a mean over, 0 where nobody knows; empty: of none.
    std::vector<std::int64_t> windows = {};
};

} // namespace forkpoint
