// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/traces/trace_dialect.h"

namespace forkpoint {

/// Megatron-Core's typed trace: iter_#######/rank_#####.jsonl, and placement/rank_#####.json.
const TraceDialect &typedDialect();

} // namespace forkpoint
