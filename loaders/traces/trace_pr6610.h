// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/traces/trace_dialect.h"

namespace forkpoint {

/// Megatron-LM's RankLocalTrace (pull request 6610): rank_######.jsonl, events and tensors.
const TraceDialect &pr6610Dialect();

} // namespace forkpoint
