// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/traces/chain_link.h"
#include "model/traces/trace_record.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace forkpoint {

struct CheckpointComparison;
struct TraceComparison;

/// Collects links of several sources and puts them into causal order.
class CausalChain
{
public:
    void add(const TraceComparison &trace);
    /// A checkpoint holds what was there when the step had ended; a file of a trace of whole
    /// tensors, what its records say.
    void add(std::optional<std::int64_t> step, const CheckpointComparison &checkpoint);
    /// One more piece of evidence on a stage.
    void add(std::optional<std::int64_t> step, const std::string &stage, bool equal,
             Strength strength);

    /// With the holes between the first and the last link of each step that has links of a forward
    /// or backward pass.
    std::vector<ChainLink> links() const;

private:
    struct Link
    {
        LinkSum evidence;
        std::size_t order = 0; ///< of first use
    };
    LinkSum &sumOf(std::optional<std::int64_t> step, const std::string &stage);

    std::map<std::optional<std::int64_t>, std::map<std::string, Link>> m_steps;
    std::size_t m_order = 0;
};

/// The earliest mismatch of one rank of two traces.
struct RankSummary
{
    TraceCoordinate coordinate;
    std::uint64_t records = 0, different = 0; ///< that met a partner; of these
    struct First
    {
        std::optional<std::int64_t> step, microBatch;
        std::string stage, name, kind;
        std::uint64_t call = 0;
        std::uint64_t equalBefore = 0; ///< records of this rank
        std::string sourceA, sourceB;  ///< "file: line 3", where a side has it
    };
    std::optional<First> first; ///< nothing: no record differs
    std::string divergenceClass;
    std::string why; ///< of the class; without `first`, why nothing is known of the rank
};

/// The cheapest next recording that would decide what is open (rule M22).
struct NextCapture
{
    std::string why;
    std::int64_t firstStep = 1, lastStep = 2;
    std::vector<std::int64_t> ranks; ///< empty: all
    std::vector<std::string> stages;
    std::map<std::string, std::string> commands; ///< tool -> flags or environment
};

} // namespace forkpoint
