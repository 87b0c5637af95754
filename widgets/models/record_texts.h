// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/traces/trace_record.h"

#include <QString>

namespace forkpoint {

/// The digest or value, or why there is none: "left out for its size".
QString observedText(const Observation &observation);
/// "2×32 float32", as far as it is recorded.
QString observedLayout(const Observation &observation);
/// All of it, on several lines: digest with its kind, layout, metadata, numbers, payload.
QString observedWhole(const Observation &observation);

} // namespace forkpoint
