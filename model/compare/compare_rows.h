// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compare/comparison.h"
#include "model/compare/pair_reading.h"
#include "model/pairing/rank_states.h"

#include <optional>
#include <vector>

namespace forkpoint {

/// How two dtypes are compared, or that they are not.
std::optional<MeasuredAs> commonType(const DType &a, const DType &b);

/// The rows of a pairing and what needs no bytes: one side only, unlike shapes or types, a side
/// that the catalogue calls unreadable.
struct PreparedRows
{
    std::vector<TensorRow> rows;
    std::vector<std::optional<MeasuredAs>> measuredAs; ///< per row; nothing: not to be read
};

/// Of a pair whose one dtype stands for the other's "void": whose file does not name it.
std::string unnamedTypeText(const TensorRow &row);

/// `ranks`: of these two catalogues.
PreparedRows prepareRows(const Pairing &pairing, const Catalog &a, const Catalog &b,
                         const RankStates &ranks);

} // namespace forkpoint
