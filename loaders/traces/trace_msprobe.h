// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/traces/trace_dialect.h"

namespace forkpoint {

/// msprobe's dump.json (`step{N}/rank{R}/dump.json`): statistics, CRC-32 under the key "md5", its own
/// XOR under the same key, or whole tensors beside it; levels L0, L1 and mix.
const TraceDialect &msprobeDialect();

} // namespace forkpoint
