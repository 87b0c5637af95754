// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/hash_set.h"
#include "model/traces/formed_tally.h"
#include "model/traces/lone_records.h"
#include "model/traces/stage_table.h"
#include "model/traces/trace_certification.h"
#include "model/traces/trace_comparer.h"
#include "model/traces/trace_filter.h"
#include "model/traces/trace_inquiry.h"
#include "model/traces/trace_links.h"
#include "model/traces/trace_plan.h"
#include "model/traces/trace_walk.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace forkpoint {

/// What a comparison of two traces knows between two steps. Of trace_comparer.cpp, which goes through
/// ranks and iterations, and trace_comparer_pairs.cpp, which takes what the walk through one meets.
struct TraceComparer::State
{
    std::shared_ptr<const Trace> a, b;
    SerialExecutor serial;
    Executor *executor = &serial;
    TracePlan plan;
    std::size_t next = 0;                ///< into plan.units
    std::optional<TraceInquiry> inquiry; ///< after them, where the traces part
    Certification certification;
    TraceFilter filter{{}};
    FormedTally tally; ///< of the unit at hand
    TraceComparison result;
    StageTable stages;
    std::size_t rankLinks = 0; ///< that there were, kept or not
    CollectiveLinks links;     ///< of the iteration at hand
    std::optional<std::int64_t> linksOf;
    /// Of all iterations: those whose links are kept.
    static constexpr std::size_t MostMicroBatches = 200'000;
    /// By number and iteration.
    std::map<std::pair<std::int64_t, std::optional<std::int64_t>>, LinkSum> microBatches;

    /// What is known to be equal up to some place of a unit.
    struct Standing
    {
        std::uint64_t equal = 0; ///< records
        std::optional<RecordName> last;
        EvidenceSum evidence;
    };
    /// One iteration of one rank.
    struct Unit
    {
        std::optional<std::int64_t> iteration;
        std::optional<RankDivergence> first;
        std::uint64_t firstOrdinal = 0;
        Standing now, atFirst;
        LinkSum evidence; ///< of all its records
        LoneRecords lone;
        bool hasLost = false;                     ///< records that one side may have lost
        bool isUnread = false;                    ///< one side was not read to its end
        bool hasNoOrder = false;                  ///< records that tell none
        std::optional<ChainPlace> lastPlace;      ///< of a record whose stage is in the chain
        std::map<ChainPlace, Rivals> unordered;   ///< that differ and tell no order, by place
        std::map<std::uint64_t, Standing> opened; ///< where a record has no partner yet
        std::map<std::string, EvidenceSum> begun; ///< inputs of collectives by group
        HashSet values;                           ///< hashes of those that both have seen alike
    };
    std::vector<std::optional<RecordName>> lastEqual; ///< by rank, over the iterations
    std::vector<EvidenceSum> evidenceBefore;          ///< by rank
    std::vector<std::uint64_t> equalBefore;           ///< by rank
    std::vector<bool> excludedBefore;                 ///< by rank: the request left records out
    std::vector<bool> unreadBefore;                   ///< by rank: a side was not read to its end

    void prepare(const TraceRequest &request);
    void tellLoneRanks(const std::vector<TraceCoordinate> &ranks, const std::string &side,
                       const std::string &other);
    bool lossless() const { return a->complete() && b->complete(); }
    std::string lostWords() const;
    void compareUnit(const TracePlan::Unit &planned, const std::stop_token &stop);
    void takeEvent(const TraceWalk::Event &event, std::size_t rank, Unit &unit);
    void takePair(const TraceWalk::Event &event, std::size_t rank, Unit &unit);
    void takeFormed(const TraceWalk::FormedEvent &event, std::size_t rank, Unit &unit);
    void takeTally(std::size_t rank, Unit &unit);
    void countPairs(const TraceRecord &like, const EvidenceSum &evidence, std::uint64_t pairs,
                    std::size_t rank, Unit &unit);
    void noteDifference(const EvidenceSum &evidence);
    static void rememberValues(const FormedRecord &formed, Unit &unit);
    static void rememberValue(std::string_view dtype, std::string_view digest, Unit &unit);
    void takeLone(const LoneRecords::Sum &lone, const std::string &loss, Unit &unit);
    void settleLone(const TracePlan::Unit &planned, const TraceCertificate &certificateA,
                    const TraceCertificate &certificateB, bool isWhole, Unit &unit);
    std::string lossOf(const LoneRecords::Sum &lone, const TracePlan::Unit &planned,
                       const TraceCertificate &other, const Unit &unit) const;
    void count(std::optional<std::int64_t> microBatch, std::optional<std::int64_t> iteration,
               const EvidenceSum &evidence, std::uint64_t oneSided, Unit &unit);
    RankDivergence divergenceOf(const TraceWalk::Event &event, const RecordEvidence &evidence,
                                const EvidenceSum &all, const Unit &unit) const;
    void propose(RankDivergence divergence, std::uint64_t ordinal, Unit &unit) const;
    static void notePlace(const TraceRecord &record, Unit &unit);
    void takeUnread(std::optional<std::int64_t> iteration, Unit &unit);
    void takeFeed(TraceFeed &feed, bool isA);
    void tellUnit(bool isA, const TracePlan::Unit &planned, std::string code, std::string text);
    Classification classOf(const TraceRecord &record, const RecordEvidence &evidence,
                           const TraceRecord &other, const Unit &unit) const;
    void closeUnit(std::size_t rank, Unit unit, bool isPart);
    void placeFirst(const std::stop_token &stop);
    bool inquire(const std::stop_token &stop);
    void finish();
};

} // namespace forkpoint
