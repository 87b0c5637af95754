// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/progress.h"
#include "model/result.h"
#include "model/traces/record_row.h"
#include "model/traces/trace.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace forkpoint {

/// One record of a rank over all iterations, by its identity within each of them.
struct DriftQuery
{
    std::size_t rank = 0;       ///< into TraceComparison::ranks
    std::uint64_t identity = 0; ///< ListedRecord::identity
};

/// The record in one iteration of both sides.
struct DriftPoint
{
    /// A number that the tool recorded beside the digest, or that is the digest.
    struct Statistic
    {
        std::string name;
        std::optional<double> a, b;

        /// |b-a| over |a|; nothing where a side has none, or is not finite, or A's is zero and B's
        /// is not.
        std::optional<double> relative() const;
    };

    std::optional<std::int64_t> iteration;
    RecordStatus status = RecordStatus::NoValue;
    std::optional<TracePlace> a, b;
    EvidenceSum evidence;
    std::vector<Statistic> statistics; ///< of the first tensor that has some, outputs first
    bool inA = false, inB = false;     ///< whether that side recorded the iteration at all
};

struct RecordDrift
{
    DriftQuery query;
    std::vector<DriftPoint> points; ///< rising
    bool complete = false;
};

class DriftBuilder
{
public:
    DriftBuilder(std::shared_ptr<const Trace> a, std::shared_ptr<const Trace> b, DriftQuery query);
    ~DriftBuilder();
    DriftBuilder(const DriftBuilder &) = delete;
    DriftBuilder &operator=(const DriftBuilder &) = delete;

    /// One iteration; false once all are read.
    Result<bool> advance(std::stop_token stop);
    Progress progress() const; ///< items are iterations
    const RecordDrift &drift() const;

private:
    struct State;
    std::unique_ptr<State> m_state;
};

} // namespace forkpoint
