// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/traces/trace_dialect.h"

namespace forkpoint {

/// torch's DebugMode as save_logs writes it: one JSON document, version 1.
const TraceDialect &debugModeLogsDialect();

/// The same as debug_string() prints it: a line a call, indented by depth.
const TraceDialect &debugModeTextDialect();

} // namespace forkpoint
