// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/traces/trace_dialect.h"

namespace forkpoint {

/// torchtitan's activation tracer: blocks "[module/op_N_op]" of statistics with seven digits.
const TraceDialect &torchtitanDialect();

/// torch DebugMode's dump_tensor_hashes: blocks of the same shape with hashes.
const TraceDialect &debugModeDumpDialect();

} // namespace forkpoint
