// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/trace_dialect.h"

namespace forkpoint {

/// Folders that people write without a tool: step/rank/name.{pt,npy,safetensors}, one tensor a file
/// (resources/docs/traces.md).
const TraceDialect &tensorTreeDialect();

} // namespace forkpoint
