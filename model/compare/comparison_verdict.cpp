// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/compare/comparison_verdict.h"

#include "model/compare/rank_copies.h"
#include "model/compare/value_comparison.h"

#include <algorithm>
#include <optional>

namespace forkpoint {

namespace {

/// The strengths of what was found equal and of what was found different, so far.
class Evidence
{
public:
    void equal(Strength strength) { m_equal = std::min(m_equal.value_or(strength), strength); }
    void different(Strength strength) { m_different = std::max(m_different, strength); }

    Strength ofEqual() const { return m_equal.value_or(Strength::None); }
    Strength ofDifferent() const { return m_different; }

private:
    std::optional<Strength> m_equal;
    Strength m_different = Strength::None;
};

void addOneSided(VerdictFacts &facts, Evidence &evidence, bool isProven)
{
    (isProven ? facts.oneSidedComplete : facts.oneSidedIncomplete) = true;
    evidence.different(Strength::Metadata);
}

/// Under unlike names, and not because the user said so.
bool metByRule(PairedBy by)
{
    switch (by) {
    case PairedBy::Affix:
    case PairedBy::Table:
    case PairedBy::Parameter:
    case PairedBy::Assembled:
    case PairedBy::Content: return true;
    case PairedBy::Exact:
    case PairedBy::Name:
    case PairedBy::Rename:
    case PairedBy::OnlyOne:
    case PairedBy::Unpaired: break;
    }
    return false;
}

/// A partly read row differs in its bits, whatever it lacks.
bool layoutDiffers(const TensorRow &row)
{
    return row.a && row.b && !row.partlyRead
        && (row.shapeA != row.shapeB || (row.dtypeA != row.dtypeB && row.comparedAs.empty()));
}

void addDifferent(VerdictFacts &facts, Evidence &evidence, const TensorRow &row)
{
    if (row.withinTolerance)
        facts.differsWithinTolerance = true;
    else if (layoutDiffers(row))
        facts.shapeOrDtypeDiffers = true;
    else {
        facts.bitsDiffer = true;
        facts.beyondTolerance |= row.stats && toleranceApplies(row.dtypeA, row.dtypeB);
    }
    facts.acrossTypes += row.withinTolerance && !row.comparedAs.empty() ? 1u : 0u;
    evidence.different(layoutDiffers(row) ? Strength::Metadata : row.strength);
    // Within what was asked for, a difference counts as equality does.
    if (row.withinTolerance)
        evidence.equal(Strength::Bytes);
}

void addTensor(VerdictFacts &facts, Evidence &evidence, const TensorRow &row, bool isProven)
{
    ++facts.coverage.tensorsTotal;
    facts.coverage.bytesTotal += row.bytes;
    facts.ambiguous |= row.ambiguous;
    switch (row.status) {
    case ItemStatus::OnlyInA:
    case ItemStatus::OnlyInB: addOneSided(facts, evidence, isProven); return;
    case ItemStatus::NotCompared:
        (row.notComparable ? facts.notComparable : facts.unreadable) = true;
        return;
    // Rows that were joined by content met by their fingerprints.
    case ItemStatus::Identical:
        facts.equalElsewhere += metByRule(row.pairedBy) && row.nameA != row.nameB ? 1u : 0u;
        facts.byOtherKeys += row.pairedBy == PairedBy::Name ? 1u : 0u;
        evidence.equal(row.pairedBy == PairedBy::Content ? std::min(row.strength, Strength::Xxh3)
                                                         : row.strength);
        break;
    case ItemStatus::Different: addDifferent(facts, evidence, row); break;
    }
    if (row.partlyRead)
        return;
    ++facts.coverage.tensorsCompared;
    if (!layoutDiffers(row) && !row.stoppedEarly)
        facts.coverage.bytesCompared += row.bytes;
}

void addValue(VerdictFacts &facts, Evidence &evidence, const ValueRow &row, bool isProven)
{
    facts.ambiguous |= row.ambiguous;
    switch (row.status) {
    case ItemStatus::OnlyInA:
    case ItemStatus::OnlyInB: addOneSided(facts, evidence, isProven); break;
    case ItemStatus::NotCompared:
        (row.notComparable ? facts.notComparable : facts.unreadable) = true;
        break;
    case ItemStatus::Different:
        (row.withinTolerance ? facts.differsWithinTolerance : facts.bitsDiffer) = true;
        facts.beyondTolerance |= !row.withinTolerance && toleranceApplies(*row.valueA, *row.valueB);
        evidence.different(Strength::Bytes);
        if (row.withinTolerance)
            evidence.equal(Strength::Bytes);
        break;
    case ItemStatus::Identical:
        facts.byOtherKeys += row.pairedBy == PairedBy::Name ? 1u : 0u;
        facts.equalAsNumbers += row.valueA->identicalTo(*row.valueB) ? 0u : 1u;
        evidence.equal(Strength::Bytes);
        break;
    }
}

} // namespace

VerdictFacts gatherFacts(const CheckpointComparison &comparison, const ComparisonContext &context,
                         std::optional<StateClass> only)
{
    const auto counts = [&](StateClass stateClass) {
        return only ? stateClass == *only : context.contextInScope || !isContext(stateClass);
    };
    VerdictFacts facts;
    facts.toleranceAsked = context.toleranceAsked;
    facts.partial = context.partial;
    facts.changed = context.changed;
    facts.unreadable = context.unread;
    facts.incomplete = !context.complete;
    const std::set<std::string> differ = provenUnlikeRanks(comparison.findings);
    Evidence evidence;
    bool any = false;
    for (const TensorRow &row : comparison.tensors) {
        if (!counts(row.stateClass))
            continue;
        any = true;
        addTensor(facts, evidence, row, context.complete || differ.contains(row.name));
    }
    for (const ValueRow &row : comparison.values) {
        if (!counts(row.stateClass))
            continue;
        any = true;
        addValue(facts, evidence, row, context.complete || differ.contains(row.name));
    }
    facts.nothingInScope = !any;
    facts.noNameInCommon = !only && !context.anyNameInCommon;
    if (facts.noNameInCommon)
        evidence.different(Strength::Metadata);
    facts.strength = evidence.ofEqual();
    facts.differenceStrength = evidence.ofDifferent();
    return facts;
}

void summarise(CheckpointComparison &comparison, const ComparisonContext &context)
{
    comparison.counts = {};
    comparison.byClass.clear();
    for (const TensorRow &row : comparison.tensors) {
        comparison.counts.count(row.status);
        comparison.byClass[row.stateClass].counts.count(row.status);
    }
    for (const ValueRow &row : comparison.values)
        comparison.byClass[row.stateClass].counts.count(row.status);
    for (auto &[stateClass, summary] : comparison.byClass)
        summary.outcome = decide(gatherFacts(comparison, context, stateClass)).outcome;
    comparison.facts = gatherFacts(comparison, context);
    comparison.verdict = decide(comparison.facts);
}

} // namespace forkpoint
