// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compare/diff_stats.h"
#include "model/compare/known_digests.h"
#include "model/compare/verdict.h"
#include "model/fingerprint.h"
#include "model/layout.h"
#include "model/pairing/pairing.h"
#include "model/resume/resume_fact.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace forkpoint {

enum class ItemStatus { Identical, Different, OnlyInA, OnlyInB, NotCompared };

std::string_view toString(ItemStatus status);

/// One pair of tensors and what is known of it: a row of every table and report.
struct TensorRow
{
    std::string name;                ///< the logical name
    std::optional<TensorIndex> a, b; ///< into the two catalogues
    std::string nameA, nameB;        ///< the files' own; empty where a side lacks it
    StateClass stateClass = StateClass::Unknown;
    PairedBy pairedBy = PairedBy::Unpaired;
    std::string pairedReason;
    std::string parameter;  ///< whose state a numbered one of the optimizer is, where that is clear
    bool ambiguous = false; ///< it met one of several that bear its name
    bool notComparable = false; ///< NotCompared for what it is: a rank's state, other ranks there
    ItemStatus status = ItemStatus::NotCompared;
    std::string reason; ///< always with NotCompared; with Different by shape or dtype

    DType dtypeA, dtypeB;
    Shape shapeA, shapeB;
    Index elements = 0;      ///< of the compared pair, else of the side that is there
    std::uint64_t bytes = 0; ///< logical bytes of both sides together
    bool layoutKnownA = true, layoutKnownB = true; ///< false: that dtype and shape mean nothing
    std::uint64_t order = 0;                       ///< file order of A (of B where A lacks it)
    std::uint64_t executionOrder = NoOrder;
    std::shared_ptr<const RecordedPlace> recorded; ///< of A (of B where A lacks it)

    std::string comparedAs; ///< the wider type, where the dtypes differ and one embeds
    std::optional<bool> valueEqual;
    /// When measured: differing pairs, all with full. Shared, because rows are copied often.
    std::shared_ptr<const DiffStats> stats;
    /// Where the first element that differs is stored, when measured. Shared as the statistics are.
    std::shared_ptr<const ElementPlaces> firstPlaces;
    bool withinTolerance = false;        ///< bits differ, and all of them within what was asked
    bool stoppedEarly = false;           ///< verdict only: known to differ, not read to the end
    bool partlyRead = false;             ///< known to differ, the rest cannot be read: see reason
    Strength strength = Strength::Bytes; ///< of what `status` says, where something was compared
    std::optional<TensorFingerprint> fingerprintA, fingerprintB;
};

struct ValueRow
{
    std::string name;
    std::optional<std::size_t> a, b;
    StateClass stateClass = StateClass::Unknown;
    PairedBy pairedBy = PairedBy::Unpaired;
    bool ambiguous = false;     ///< it met one of several that bear its name
    bool notComparable = false; ///< NotCompared for what it is: a rank's state, other ranks there
    ItemStatus status = ItemStatus::NotCompared;
    std::string reason; ///< where it is not comparable
    std::optional<Value> valueA, valueB;
    bool withinTolerance = false;
};

struct StatusCounts
{
    std::uint64_t identical = 0, different = 0, onlyInA = 0, onlyInB = 0, notCompared = 0;

    void count(ItemStatus status);
    std::uint64_t matched() const { return identical + different + notCompared; }
};

struct ClassSummary
{
    Outcome outcome = Outcome::Undecided;
    StatusCounts counts; ///< tensors and values
};

struct CompareOptions
{
    PairingOptions pairing;
    Tolerance tolerance;
    bool strictValues = false; ///< 1 and 1.0, [] and () are different
    bool verdictOnly = false;  ///< a differing leaf may end a tensor
    bool full = false;         ///< statistics of identical pairs too, histograms in the report
    bool fingerprints = true;  ///< compute both fingerprints on the way
    bool measure = true;       ///< statistics of the pairs that differ
    bool magnitudes = true;    ///< histograms of |a| and |b| too; always with full
    /// Digests that may stand for reading, and learn from it; null: everything is read.
    std::shared_ptr<KnownDigests> known;
};

/// Two checkpoints, compared. A result in progress has `finished` false and a verdict that says so.
struct CheckpointComparison
{
    std::vector<TensorRow> tensors; ///< sorted by name
    std::vector<ValueRow> values;   ///< sorted by name
    StatusCounts counts;            ///< of the tensors
    std::map<StateClass, ClassSummary> byClass;
    VerdictFacts facts; ///< what the verdict was decided from
    Verdict verdict;
    std::vector<ResumeFact> resume; ///< what a resume needs, when finished
    std::vector<Finding> findings;
    Diagnostics diagnostics; ///< of both sides and of the comparison itself
    bool finished = false;
};

} // namespace forkpoint
