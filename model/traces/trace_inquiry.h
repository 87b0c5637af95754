// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/traces/discriminator_table.h"
#include "model/traces/kernel_selection.h"
#include "model/traces/trace_filter.h"
#include "model/traces/trace_plan.h"
#include "model/traces/trace_scopes.h"

#include <functional>
#include <optional>
#include <vector>

namespace forkpoint {

/// The second look at two traces that part: what can be asked only when the first record that differs
/// is known. The iteration of that record is read once more, rank by rank: the modules around it
/// (M12), the calls of its family (M24), the kernels that were launched (M27).
class TraceInquiry
{
public:
    /// `comparison` has the first divergence of every rank; all of these outlive this.
    TraceInquiry(const Trace &a, const Trace &b, const TracePlan &plan, const TraceFilter &filter,
                 const TraceComparison &comparison);

    /// Reads one more rank; false when there is none.
    bool advance(const std::function<bool()> &stopped);
    std::vector<Finding> findings() const;

private:
    const Trace &m_a, &m_b;
    const TracePlan &m_plan;
    const TraceFilter &m_filter;
    const TraceComparison &m_comparison;
    std::size_t m_firstRank = 0;
    std::vector<std::size_t> m_units; ///< into the plan's, still to be read, the next one last
    ScopeLedger m_scopes;
    DiscriminatorTable m_table;
    KernelSelection m_kernels;
};

} // namespace forkpoint
