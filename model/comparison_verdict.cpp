// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/comparison_verdict.h"

namespace forkpoint {

namespace {

void addOneSided(VerdictFacts &facts, const ComparisonContext &context)
{
    (context.complete ? facts.oneSidedComplete : facts.oneSidedIncomplete) = true;
}

void addTensor(VerdictFacts &facts, const TensorRow &row, const ComparisonContext &context)
{
    ++facts.coverage.tensorsTotal;
    facts.coverage.bytesTotal += row.bytes;
    facts.ambiguous |= row.ambiguous;
    const bool layoutDiffers = row.a && row.b
        && (row.shapeA != row.shapeB || (row.dtypeA != row.dtypeB && row.comparedAs.empty()));
    switch (row.status) {
    case ItemStatus::OnlyInA:
    case ItemStatus::OnlyInB: addOneSided(facts, context); return;
    case ItemStatus::NotCompared:
        (row.notComparable ? facts.notComparable : facts.unreadable) = true;
        return;
    case ItemStatus::Identical: break;
    case ItemStatus::Different:
        if (row.withinTolerance)
            facts.differsWithinTolerance = true;
        else
            (layoutDiffers ? facts.shapeOrDtypeDiffers : facts.bitsDiffer) = true;
        break;
    }
    ++facts.coverage.tensorsCompared;
    if (!layoutDiffers && !row.stoppedEarly)
        facts.coverage.bytesCompared += row.bytes;
}

void addValue(VerdictFacts &facts, const ValueRow &row, const ComparisonContext &context)
{
    facts.ambiguous |= row.ambiguous;
    switch (row.status) {
    case ItemStatus::OnlyInA:
    case ItemStatus::OnlyInB: addOneSided(facts, context); break;
    case ItemStatus::NotCompared: facts.unreadable = true; break;
    case ItemStatus::Different:
        (row.withinTolerance ? facts.differsWithinTolerance : facts.bitsDiffer) = true;
        break;
    case ItemStatus::Identical: break;
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
    facts.unreadable = context.changed;
    bool any = false, anyValue = false;
    for (const TensorRow &row : comparison.tensors) {
        if (!counts(row.stateClass))
            continue;
        any = true;
        addTensor(facts, row, context);
    }
    for (const ValueRow &row : comparison.values) {
        if (!counts(row.stateClass))
            continue;
        any = true;
        anyValue |= row.status == ItemStatus::Identical || row.status == ItemStatus::Different;
        addValue(facts, row, context);
    }
    facts.nothingInScope = !any;
    const bool compared = facts.coverage.tensorsCompared > 0 || anyValue;
    facts.noNameInCommon = !only && !context.anyNameInCommon;
    // Both sides are always read here, so what is compared at all is compared on bytes.
    facts.strength = compared ? Strength::Bytes : Strength::None;
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
