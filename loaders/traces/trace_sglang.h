// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/traces/trace_dialect.h"

namespace forkpoint {

/// SGLang's dumper: one torch file a tensor, everything else in its name,
/// `step=3___rank=0___dump_index=17___name=attn_out___layer_id=4.pt`.
const TraceDialect &sglangDialect();

} // namespace forkpoint
