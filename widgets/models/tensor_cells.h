// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compare/comparison.h"
#include "widgets/roles.h"

#include <QVariant>

#include <cstdint>
#include <optional>
#include <vector>

namespace forkpoint {

/// The columns that the flat table and the module tree of tensors share.
enum class TensorColumn { Sign, Name, Shape, Differs, MaxUlp, MaxAbs, DType, Class, Count };

/// The logarithmic scale of the bars of max |B-A|: the same for every row of a table.
struct MagnitudeScale
{
    double lowest = 0.0, highest = 0.0; ///< exponents of two; equal where there is nothing

    static MagnitudeScale of(const CheckpointComparison &comparison);
    double fraction(double magnitude) const;
};

/// max |B-A| of a row: exact integers as double; nothing where it was not measured.
std::optional<double> maxAbsOf(const TensorRow &row);

QVariant tensorHeader(TensorColumn column, int role);
QVariant tensorCell(const TensorRow &row, TensorColumn column, int role,
                    const MagnitudeScale &scale);
/// Raw values as keys that rise; what is unknown sorts below everything known. The column of names
/// has none.
std::vector<std::uint64_t> tensorKeys(const std::vector<TensorRow> &rows, TensorColumn column);

} // namespace forkpoint
