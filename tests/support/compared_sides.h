// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "gpu/cpu_backend.h"
#include "model/compare/checkpoint_comparer.h"
#include "model/pairing/logical_sides.h"
#include "tests/support/memory_source.h"

#include <memory>

namespace forkpoint::test {

/// Two sources of values at hand, compared to the end as a run's step is, with the tensors that they stand for.
inline CheckpointComparison comparedSides(const std::shared_ptr<MemorySource> &a,
                                          const std::shared_ptr<MemorySource> &b,
                                          const CompareOptions &options = {})
{
    a->finish();
    b->finish();
    const LogicalSides sides = logicalSides(a, b, options.pairing);
    CpuBackend backend;
    SerialExecutor serial;
    CheckpointComparer comparer(sides.a, sides.b, options, backend, serial);
    while (comparer.advance({})) {}
    return comparer.snapshot();
}

} // namespace forkpoint::test
