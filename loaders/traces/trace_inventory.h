// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/traces/trace_dialect.h"

namespace forkpoint {

// Documents of Megatron-LM's determinism tools (tools/determinism: capture_recipe,
// collective_capture, pytest_plugin), one a process, indented JSON.

/// `rank-N.json`, kind determinism_inventory: which operations a recipe called, how often, with which
/// settings and input layouts. No values.
const TraceDialect &inventoryDialect();

/// `rank-N/manifest.json`, kind collective_recipe_capture: the inputs of collectives, each a file
/// `<sha256>.bin` beside it with its contiguous elements.
const TraceDialect &collectiveCaptureDialect();

/// `rank-R-PID.json` with `evidence_scope` and `cases`: what replays of tests have shown of operations.
const TraceDialect &evidenceDialect();

} // namespace forkpoint
