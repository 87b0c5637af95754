// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/shape.h"

#include <QString>

#include <array>

namespace forkpoint::element_columns {

// The columns of the element table, for what it does and for how it looks.

enum Column { IndexColumn, AColumn, BColumn, DifferenceColumn, UlpColumn, BitsColumn, Columns };

/// Of A, B, the difference and the ULP, before any row is known.
constexpr std::array<int, 5> LeastCharacters{0, 10, 10, 10, 5};

constexpr int Margin = 6;

/// "[52, 23]"
QString indexText(Index index, const Shape &shape);

} // namespace forkpoint::element_columns
