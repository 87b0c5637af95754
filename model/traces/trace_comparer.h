// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/executor.h"
#include "model/pairing/pairing.h"
#include "model/step_plan.h"
#include "model/traces/trace_comparison.h"

#include <memory>
#include <stop_token>
#include <utility>

namespace forkpoint {

/// What of two traces to compare.
struct TraceRequest
{
    StepSelection steps;
    PairingOptions items; ///< include, exclude, scope, tensorsOnly
};

/// Compares two traces iteration by iteration, every rank of both in its own order.
class TraceComparer
{
public:
    /// `executor`: for threads that read ahead; nullptr: none.
    TraceComparer(std::shared_ptr<const Trace> a, std::shared_ptr<const Trace> b,
                  const TraceRequest &request, Executor *executor = nullptr);
    ~TraceComparer();
    TraceComparer(const TraceComparer &) = delete;
    TraceComparer &operator=(const TraceComparer &) = delete;

    /// One iteration of one rank; false once everything is compared.
    bool advance(std::stop_token stop);
    std::pair<std::uint64_t, std::uint64_t> progress() const; ///< units done, of how many
    const TraceComparison &result() const;

private:
    struct State;
    std::unique_ptr<State> m_state;
};

} // namespace forkpoint
