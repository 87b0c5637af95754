// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compare/comparison.h"

#include <optional>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace forkpoint {

/// The type that the statistics of a row are of: the wider one of two.
const DType &measuredType(const TensorRow &row);

/// Whether the elements of both sides can be set against each other.
bool hasElementPairs(const TensorRow &row);

using RowStat = std::pair<std::string_view, std::variant<std::uint64_t, double>>;

/// The numbers that every document shows of a measured row, by their names there and in their order;
/// one that does not apply to the row is not among them.
std::vector<RowStat> statsOf(const TensorRow &row);

/// rms of B - A over rms of A: how large the difference is beside what differs.
std::optional<double> relativeDifference(const DiffStats &stats);

} // namespace forkpoint
