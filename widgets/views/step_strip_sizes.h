// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace forkpoint::step_strip {

constexpr int MarkSize = 20; ///< a mark with its sign, where there is room
constexpr int MarkRoom = 24; ///< pixels between marks below which they become columns
constexpr int LabelLeft = 14;
constexpr int RightMargin = 24;
constexpr int Padding = 6;

} // namespace forkpoint::step_strip
