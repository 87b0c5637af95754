// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/traces/trace_dialect.h"

namespace forkpoint {

/// The sketch of the determinism skill: rank#####_iter######.jsonl.
const TraceDialect &sketchDialect();

} // namespace forkpoint
