// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compare/finding.h"
#include "model/traces/trace_record.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace forkpoint {

/// Rule M27, for traces that name the kernels they launched: the same launches with other results of
/// equal inputs point inside a kernel, other launches at a heuristic or an autotuner. A trace is one
/// instrument, so neither is more than consistent with it: a second one must count the same.
class KernelSelection
{
public:
    /// A record and its partner; one may be null.
    void see(const TraceRecord *a, const TraceRecord *b);
    /// Nothing where no kernel was named, or where none differs.
    std::optional<Finding> finding() const;

private:
    struct Launches
    {
        std::uint64_t a = 0, b = 0;
        std::uint64_t divergent = 0; ///< with equal inputs and other outputs
    };
    std::map<std::string, Launches> m_kernels; ///< by name
};

} // namespace forkpoint
