// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/metrics/printed_decimal.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace forkpoint {

/// The rows of a log that prints epochs and no steps: the n-th row of a run has n times the epoch of
/// the first. A resumed run begins with a later row, and a row that was lost leaves its place open.
class EpochGrid
{
public:
    /// Nothing where the epochs, of at least two rows in the order of the log, lie on no such grid or
    /// on more than one.
    static std::optional<EpochGrid> fit(const std::vector<DecimalText> &epochs);

    /// From 1; rising.
    std::int64_t rowOf(std::size_t line) const { return m_rows[line]; }
    /// The row that a line of its own, such as an evaluation, follows or belongs to.
    std::int64_t rowAt(double epoch) const;
    /// How many rows between the first and the last are not there, and the first of these.
    std::int64_t missing() const;
    std::int64_t firstMissing() const;

private:
    double m_unit = 0; ///< epochs of one row
    std::vector<std::int64_t> m_rows;
};

} // namespace forkpoint
