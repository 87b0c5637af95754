// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/traces/trace_dialect.h"

namespace forkpoint {

/// Megatron-Core's router traces, `router_trace_rank#.jsonl`: the experts that each token of a layer
/// was sent to, and, where they were asked for, the router's inputs and scores as slices of
/// `hidden_states_rank#.bin` and `logits_rank#.bin`, raw bfloat16.
const TraceDialect &routerDialect();

} // namespace forkpoint
