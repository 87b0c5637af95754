// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "gpu/cpu_backend.h"
#include "model/compare/checkpoint_comparer.h"
#include "tests/support/memory_source.h"

#include <QtGlobal>

#include <algorithm>
#include <memory>
#include <string_view>
#include <vector>

// Two checkpoints in memory, compared as they are: neither assembled nor paired by more than names.
namespace forkpoint::test {

inline CheckpointComparison compare(const SourcePtr &a, const SourcePtr &b,
                                    const CompareOptions &options = {},
                                    Executor *executor = nullptr)
{
    const CpuBackend backend;
    SerialExecutor serial;
    CheckpointComparer comparer(a, b, options, backend, executor ? *executor : serial);
    while (comparer.advance({})) {}
    return comparer.snapshot();
}

inline const TensorRow &rowOf(const CheckpointComparison &comparison, std::string_view name)
{
    const auto found = std::find_if(comparison.tensors.begin(), comparison.tensors.end(),
                                    [&](const TensorRow &row) { return row.name == name; });
    if (found == comparison.tensors.end())
        qFatal("no such row");
    return *found;
}

inline SourcePtr source()
{
    return std::make_shared<MemorySource>();
}

inline SourcePtr floats(const std::vector<float> &elements)
{
    const auto result = source();
    result->addFloats("w", elements);
    result->finish();
    return result;
}

} // namespace forkpoint::test
