// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/traces/trace_dialect.h"

namespace forkpoint {

/// nvdlfw-inspect's statistics log (Transformer Engine): a line a statistic, with four decimals. The
/// TensorBoard files beside it hold float32 of the same numbers.
const TraceDialect &nvdlfwDialect();

} // namespace forkpoint
