// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/traces/trace_dialect.h"

namespace forkpoint {

/// Megatron-Bridge's stream: one .fp file a logical coordinate, JSON lines, a header first.
const TraceDialect &bridgeDialect();

} // namespace forkpoint
