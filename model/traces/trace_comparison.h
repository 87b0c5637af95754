// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compare/finding.h"
#include "model/compare/verdict.h"
#include "model/traces/chain_link.h"
#include "model/traces/leaf_difference.h"
#include "model/traces/step_span.h"
#include "model/traces/trace.h"
#include "model/traces/trace_evidence.h"
#include "model/traces/trace_rules.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace forkpoint {

enum class DivergenceKind : std::uint8_t {
    Value,
    ControlFlow, ///< a record without a partner (rule M4)
    Order,       ///< equal records, another order (rule M5)
    Missing,     ///< without a partner where records are known to be lost
};

std::string_view toString(DivergenceKind kind);

/// Which record, as the trace spells it.
struct RecordName
{
    std::optional<std::int64_t> iteration, microBatch;
    std::string stage, name, scope, caller;
    std::uint64_t call = 0;
    std::optional<TracePlace> placeA, placeB;
};

RecordName nameOf(const TraceRecord &record); ///< without its places

/// Records that differ and may have been the first: some by name, and how many.
struct Rivals
{
    static constexpr std::size_t MostNamed = 8;
    std::vector<RecordName> named;
    std::uint64_t count = 0;

    void add(const RecordName &record, std::uint64_t records);
};

/// The earliest mismatch of one rank, in its own order (rules M3, M8).
struct RankDivergence
{
    RecordName record;
    DivergenceKind kind = DivergenceKind::Value;
    Classification classification;
    bool isPlaced = true; ///< false: a side does not tell the order, so the chain's places decide
    StepSpan span;        ///< within its iteration
    /// Of this rank, where its order is not told: what else differs at its place in the chain, and at
    /// none that is known.
    Rivals alike, unknown;
    std::optional<RecordName> after; ///< the record right before it, if all before are equal
    bool afterSlip = false;          ///< its number was shifted by an insertion or deletion
    std::uint64_t equalBefore = 0;   ///< records (rule M21)
    std::string doubt; ///< why it is not proven that these are equal; empty where it is
    Strength strength = Strength::None; ///< of what differs
    std::string group;
    std::string key; ///< of the record's identity
    RecordRole role = RecordRole::Tensor;
    std::vector<LeafPair> leaves;      ///< tensors whose difference can be placed
    std::vector<LeafDifference> where; ///< of the one that is shown: as far as it was placed
};

/// One rank of both traces, as far as it was compared.
struct RankComparison
{
    TraceCoordinate coordinate;
    std::optional<RankDivergence> first;
    std::uint64_t records = 0;   ///< that met a partner
    std::uint64_t different = 0; ///< of these
    /// All its records of one iteration each, in order; `stage` is empty.
    std::vector<ChainLink> links;
};

/// A micro-batch of both traces, over all ranks.
struct MicroBatchComparison
{
    std::int64_t number = 0;
    std::vector<ChainLink> links; ///< as of a rank
};

/// A link of the chain: one stage of one iteration over all ranks.
struct StageSummary
{
    std::optional<std::int64_t> iteration;
    std::string stage;
    std::uint64_t order = 0; ///< of first use
    EvidenceSum evidence;    ///< of everything recorded there
    std::uint64_t oneSided = 0;
};

/// What was compared, of what there was (rule M19).
struct TraceCoverage
{
    std::uint64_t ranksCompared = 0, ranksOnlyA = 0, ranksOnlyB = 0;
    std::optional<std::uint64_t> worldSize; ///< as the trace states it
    std::vector<std::int64_t> iterationsCompared, iterationsOnlyA, iterationsOnlyB;
    std::uint64_t records = 0, onlyA = 0, onlyB = 0, moved = 0, artifacts = 0, duplicates = 0;
    std::uint64_t unordered = 0; ///< at other places, of which a side tells no order
    std::uint64_t vacuous = 0;   ///< of the records: tell no value at all, on one side or both
    std::uint64_t excludedA = 0, excludedB = 0; ///< records that the request leaves out
    std::optional<std::int64_t> iterationInB;   ///< that the one of A met, where numbers are unlike
    std::uint64_t metadataOnlyDifferences = 0;
    EvidenceSum evidence; ///< of all observations
};

/// Two traces, compared.
struct TraceComparison
{
    std::string dialectA, dialectB;
    std::vector<std::string> filesA, filesB; ///< as TracePlace counts them
    std::string refusal; ///< not empty: unlike schemas or process grids (rule M7)
    std::vector<RankComparison> ranks;
    std::vector<TraceCoordinate> ranksOnlyA, ranksOnlyB; ///< of which nothing is compared
    std::vector<StageSummary> stages;                    ///< by iteration, then causal order
    std::vector<MicroBatchComparison> microBatches;      ///< rising; of records that name theirs
    std::optional<std::size_t> firstRank; ///< into ranks: whose first divergence is the one shown
    TraceCoverage coverage;
    std::vector<Finding> findings;
    Diagnostics diagnostics;
    VerdictFacts facts;
    bool finished = false;
};

/// Ranks, iterations, records, digests and what they leave open, in one sentence (rule M19).
std::string coverageSentence(const TraceCoverage &coverage);

} // namespace forkpoint
