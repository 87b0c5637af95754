// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/traces/trace_comparer.h"
#include "tests/support/fake_trace.h"

namespace forkpoint::test {

/// For a comparer, which holds what the test keeps.
inline std::shared_ptr<const Trace> shared(const FakeTrace &trace)
{
    return {std::shared_ptr<void>(), &trace};
}

/// Two traces, compared to the end.
inline TraceComparison compared(const FakeTrace &a, const FakeTrace &b,
                                const TraceRequest &request = {})
{
    TraceComparer comparer(shared(a), shared(b), request);
    while (comparer.advance({}))
        ;
    return comparer.result();
}

/// The records of one rank each.
inline TraceComparison compared(std::vector<TraceRecord> a, std::vector<TraceRecord> b)
{
    FakeTrace left, right;
    left.rank(0, std::move(a));
    right.rank(0, std::move(b));
    return compared(left, right);
}

} // namespace forkpoint::test
