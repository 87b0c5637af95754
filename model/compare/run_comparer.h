// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compare/checkpoint_comparer.h"
#include "model/compare/run_comparison.h"
#include "model/step_plan.h"

#include <memory>
#include <stop_token>

namespace forkpoint {

/// Compares two runs: every common step in order, the first differing one (or the last) in full.
/// Between calls of advance() its owner may look at other requests.
class RunComparer
{
public:
    RunComparer(std::shared_ptr<const Run> a, std::shared_ptr<const Run> b, StepSelection selection,
                CompareOptions options, const ComputeBackend &backend, Executor &executor);
    ~RunComparer();
    RunComparer(const RunComparer &) = delete;
    RunComparer &operator=(const RunComparer &) = delete;

    bool advance(std::stop_token stop);
    Progress progress() const;
    RunComparison snapshot() const;

private:
    struct State;
    std::unique_ptr<State> m_state;
};

} // namespace forkpoint
