// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/traces/trace_comparison.h"
#include "model/traces/trace_plan.h"
#include "model/traces/trace_walk.h"

#include <map>
#include <set>
#include <string>

namespace forkpoint {

/// Rule M20 over both sides of a comparison: every unit, each trace as a whole, and what is said of it.
class Certification
{
public:
    /// A trace as a whole, before its units; `iterations`: those of it that are compared.
    void takeTrace(const Trace &trace, const std::set<std::int64_t> &iterations, bool isA,
                   TraceComparison &result);
    /// The records of one unit, after the last.
    void takeUnit(const TraceCertificate &certificate, bool isA, const TracePlan::Unit &planned,
                  TraceComparison &result);
    /// What many have in common, after all units.
    void finish(TraceComparison &result);

private:
    void fail(bool isA, std::string place, const std::string &problem, TraceComparison &result);

    std::uint64_t m_failures = 0;
    std::set<std::string> m_doubts;
    std::map<bool, std::pair<std::uint64_t, std::uint64_t>> m_runtimes; ///< units with, without
};

/// "rank 0, step 3", of a unit on one side.
std::string unitPlace(const TracePlan::Unit &planned, bool isA, const TraceComparison &result);

} // namespace forkpoint
