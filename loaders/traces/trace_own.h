// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/traces/trace_dialect.h"

namespace forkpoint {

/// Our own trace: HDF5 segments rank_R/steps_A-B.h5 with an end marker (resources/docs/trace.md).
const TraceDialect &ownDialect();

} // namespace forkpoint
