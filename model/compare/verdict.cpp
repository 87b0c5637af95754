// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/compare/verdict.h"

#include "model/format.h"

#include <algorithm>

namespace forkpoint {

namespace {

/// "all 4 tensors compared", "the only tensor compared", "3 of 4 tensors compared"; of a whole that is not known "4 tensors compared".
std::string partText(std::uint64_t compared, std::uint64_t total, bool wholeIsKnown,
                     std::string_view one, std::string_view many)
{
    const std::string what = counted(total, one, many) + " compared";
    if (compared != total)
        return grouped(compared) + " of " + what;
    if (wholeIsKnown && total == 1)
        return "the only " + std::string(one) + " compared";
    return wholeIsKnown ? "all " + what : what;
}

/// Records that no other met, of a trace that one side alone has, change nothing of that.
bool onlyMetrics(const Coverage &coverage)
{
    return coverage.metricsTotal > 0 && coverage.tensorsTotal == 0 && coverage.recordsCompared == 0;
}

std::string metricsText(const Coverage &coverage)
{
    return partText(coverage.metricsCompared, coverage.metricsTotal, true, "metric", "metrics")
        + "; only what was logged is known";
}

/// `tracesWereRead`: to their ends, so that all their records are counted.
std::string tensorsText(const Coverage &coverage, bool wholeIsKnown, bool tracesWereRead)
{
    std::string text;
    if (onlyMetrics(coverage))
        text = metricsText(coverage);
    if (coverage.tensorsTotal > 0)
        text = partText(coverage.tensorsCompared, coverage.tensorsTotal, wholeIsKnown, "tensor",
                        "tensors");
    if (coverage.recordsTotal > 0) {
        text += text.empty() ? "" : ", ";
        text += partText(coverage.recordsCompared, coverage.recordsTotal,
                         wholeIsKnown && tracesWereRead, "record of the traces",
                         "records of the traces");
    }
    return text;
}

std::string coverageText(const VerdictFacts &facts)
{
    const std::string steps = stepsLeftOut(facts.coverage);
    std::string text =
        tensorsText(facts.coverage, steps.empty() && !facts.incomplete, !facts.unreadable);
    // What was compared without a tensor are values.
    const bool compared = std::max(facts.strength, facts.differenceStrength) > Strength::None;
    if (text.empty())
        text = compared ? "values alone, no tensor in scope" : "no tensor in scope";
    return steps.empty() ? text : text + ", but " + steps;
}

std::string proofText(Strength strength)
{
    switch (strength) {
    case Strength::Bytes: return "proven on bytes";
    case Strength::Xxh3:
        return "proven on XXH3-128 fingerprints of all bytes (not against forgery)";
    case Strength::Xxh3Index:
        return "proven on indexed XXH3-128 fingerprints of all bytes (not against forgery)";
    case Strength::Sha256: return "proven on recorded SHA-256";
    case Strength::None: return "nothing compared";
    case Strength::Metadata: return "proven on names, shapes and types";
    case Strength::Printed: return "seen in printed numbers";
    default: return "evidence: " + std::string(toString(strength));
    }
}

std::string differentSentence(const VerdictFacts &facts)
{
    if (onlyMetrics(facts.coverage))
        return facts.toleranceAsked ? "logged numbers differ; tolerances are not applied to them"
                                    : "logged numbers differ";
    if (facts.noNameInCommon)
        return "the two sides have no tensor name in common";
    if (facts.bitsDiffer && facts.coverage.tensorsTotal == 0 && facts.coverage.recordsTotal > 0)
        return facts.toleranceAsked ? "recorded values differ; tolerances are not applied to the "
                                      "records of traces"
                                    : "recorded values differ";
    if (facts.bitsDiffer && facts.toleranceAsked)
        return facts.beyondTolerance ? "beyond the tolerance asked for"
                                     : "stored bits differ, in what no tolerance is applied to";
    if (facts.bitsDiffer)
        return "stored bits differ";
    if (facts.shapeOrDtypeDiffers)
        return "a shape or an element type differs";
    if (facts.oneSidedComplete)
        return "an item exists on one side only";
    return "equal records come in another order";
}

/// Of records of traces nothing proves more than numbers that were recorded with all their digits.
bool areRecordedValues(const VerdictFacts &facts, Strength strength)
{
    return facts.coverage.tensorsTotal == 0 && facts.coverage.recordsCompared > 0
        && strength == Strength::Bytes;
}

/// Why equality cannot be said, although no difference was found. Empty if it can.
std::string undecidedReason(const VerdictFacts &facts)
{
    std::string reason;
    const auto add = [&](bool applies, std::string_view text) {
        if (!applies)
            return;
        reason += reason.empty() ? "" : "; ";
        reason += text;
    };
    add(facts.partial, "not everything was looked at");
    add(facts.unreadable, "something could not be read");
    add(facts.changed, "a file changed while it was read");
    add(facts.incomplete, "a side holds something that was not compared");
    add(facts.ambiguous, "a pairing is ambiguous");
    add(facts.notComparable, "something cannot be compared");
    add(facts.oneSidedIncomplete, "an item is on one side only, and a catalogue is incomplete");
    add(facts.valuesMissing, "records of the traces tell no value");
    add(facts.hole, "a step is missing inside the overlap of the two series");
    add(facts.nothingInScope, "nothing was in scope");
    if (facts.strength == Strength::None)
        add(reason.empty(), "nothing was compared");
    else
        add(!provesEquality(facts.strength), "the evidence is too weak to say equal");
    return reason;
}

/// How what is equal, or within a tolerance, is not the same in name or type.
std::string exceptions(const VerdictFacts &facts)
{
    std::string text;
    if (facts.equalElsewhere > 0)
        text += ", " + counted(facts.equalElsewhere, "tensor", "tensors") + " under another name";
    if (facts.equalAsNumbers > 0)
        text +=
            ", " + counted(facts.equalAsNumbers, "value", "values") + " as numbers of unlike types";
    if (facts.byOtherKeys > 0)
        text += ", " + counted(facts.byOtherKeys, "item", "items") + " by name, under unlike keys";
    if (facts.acrossTypes > 0)
        text += ", " + counted(facts.acrossTypes, "tensor", "tensors") + " in unlike element types";
    return text;
}

/// What "identical" says, and no more than that.
std::string whatIsEqual(const VerdictFacts &facts)
{
    if (areRecordedValues(facts, facts.strength))
        return "every recorded value in scope is equal" + exceptions(facts);
    if (!onlyMetrics(facts.coverage))
        return "every byte in scope is equal" + exceptions(facts);
    std::string text = facts.pointsPassedOver > 0 ? "the number that was logged last for each step"
                                                  : "every logged number";
    if (facts.metricsOfMachine)
        text += ", times, rates and memory apart,";
    text += " is equal";
    if (facts.stepsOfOneSide)
        text += " at the steps that both logged";
    if (facts.pointsPassedOver > 0)
        text += "; " + counted(facts.pointsPassedOver, "number", "numbers")
            + " logged before for the same steps or given up by a restart did not count";
    return text;
}

std::string withProof(Outcome outcome, const std::string &sentence, Strength strength,
                      const VerdictFacts &facts)
{
    const std::string proof = areRecordedValues(facts, strength)
        ? "proven on values that were recorded with all their digits"
        : proofText(strength);
    return sentenceHead(outcome) + sentence + " (" + proof + "; " + coverageText(facts) + ").";
}

} // namespace

std::string stepsLeftOut(const Coverage &coverage)
{
    std::string text;
    const auto add = [&](std::uint64_t steps, std::string_view one, std::string_view many) {
        if (steps > 0)
            text += (text.empty() ? "" : ", ") + counted(steps, "step", "steps") + " "
                + std::string(steps == 1 ? one : many);
    };
    add(coverage.stepsUnread, "could not be opened", "could not be opened");
    add(coverage.stepsUnfinished, "is not finished", "are not finished");
    add(coverage.stepsInferred, "was inferred, not read", "were inferred, not read");
    add(coverage.stepsOneSided, "is on one side only", "are on one side only");
    return text;
}

std::string_view toString(Outcome outcome)
{
    switch (outcome) {
    case Outcome::Identical: return "identical";
    case Outcome::WithinTolerance: return "within-tolerance";
    case Outcome::Different: return "different";
    case Outcome::Undecided: return "undecided";
    case Outcome::NotCompared: return "not-compared";
    }
    return "not-compared";
}

std::string sentenceHead(Outcome outcome)
{
    switch (outcome) {
    case Outcome::Identical: return "Identical: ";
    case Outcome::WithinTolerance: return "Within tolerance: ";
    case Outcome::Different: return "Different: ";
    case Outcome::Undecided: return "Undecided: ";
    case Outcome::NotCompared: break;
    }
    return "Not compared: ";
}

int exitStatus(Outcome outcome)
{
    switch (outcome) {
    case Outcome::Identical:
    case Outcome::WithinTolerance: return 0;
    case Outcome::Different: return 1;
    case Outcome::NotCompared: return 2;
    case Outcome::Undecided: return 3;
    }
    return 2;
}

std::string_view toString(Strength strength)
{
    switch (strength) {
    case Strength::None: return "none";
    case Strength::Metadata: return "metadata";
    case Strength::Printed: return "printed";
    case Strength::Norm: return "norm";
    case Strength::Sampled: return "sampled";
    case Strength::Xor: return "xor";
    case Strength::Crc: return "crc";
    case Strength::Megatron128: return "megatron-128";
    case Strength::Xxh3Index: return "xxh3-128-index";
    case Strength::Xxh3: return "xxh3-128";
    case Strength::Sha256: return "sha256";
    case Strength::Bytes: return "bytes";
    }
    return "none";
}

bool provesEquality(Strength strength)
{
    return strength >= Strength::Xxh3Index;
}

void merge(VerdictFacts &into, const VerdictFacts &part)
{
    into.refused |= part.refused;
    if (into.refusedReason.empty())
        into.refusedReason = part.refusedReason;
    into.bitsDiffer |= part.bitsDiffer;
    into.shapeOrDtypeDiffers |= part.shapeOrDtypeDiffers;
    into.oneSidedComplete |= part.oneSidedComplete;
    into.noNameInCommon |= part.noNameInCommon;
    into.orderDiffers |= part.orderDiffers;
    into.valuesMissing |= part.valuesMissing;
    into.unreadable |= part.unreadable;
    into.changed |= part.changed;
    into.ambiguous |= part.ambiguous;
    into.notComparable |= part.notComparable;
    into.oneSidedIncomplete |= part.oneSidedIncomplete;
    into.incomplete |= part.incomplete;
    into.hole |= part.hole;
    into.nothingInScope |= part.nothingInScope;
    into.partial |= part.partial;
    into.toleranceAsked |= part.toleranceAsked;
    into.beyondTolerance |= part.beyondTolerance;
    into.differsWithinTolerance |= part.differsWithinTolerance;
    into.equalAsNumbers += part.equalAsNumbers;
    into.equalElsewhere += part.equalElsewhere;
    into.byOtherKeys += part.byOtherKeys;
    into.acrossTypes += part.acrossTypes;
    into.pointsPassedOver += part.pointsPassedOver;
    into.metricsOfMachine |= part.metricsOfMachine;
    into.stepsOfOneSide |= part.stepsOfOneSide;
    into.strength = std::min(into.strength, part.strength);
    into.differenceStrength = std::max(into.differenceStrength, part.differenceStrength);
    into.coverage.tensorsCompared += part.coverage.tensorsCompared;
    into.coverage.tensorsTotal += part.coverage.tensorsTotal;
    into.coverage.bytesCompared += part.coverage.bytesCompared;
    into.coverage.bytesTotal += part.coverage.bytesTotal;
    into.coverage.stepsUnread += part.coverage.stepsUnread;
    into.coverage.recordsCompared += part.coverage.recordsCompared;
    into.coverage.recordsTotal += part.coverage.recordsTotal;
    into.coverage.metricsCompared += part.coverage.metricsCompared;
    into.coverage.metricsTotal += part.coverage.metricsTotal;
    into.coverage.stepsUnfinished += part.coverage.stepsUnfinished;
    into.coverage.stepsInferred += part.coverage.stepsInferred;
    into.coverage.stepsOneSided += part.coverage.stepsOneSided;
}

Verdict decide(const VerdictFacts &facts)
{
    Verdict verdict;
    verdict.strength = facts.strength;
    verdict.coverage = facts.coverage;
    const bool different = facts.bitsDiffer || facts.shapeOrDtypeDiffers || facts.oneSidedComplete
        || facts.noNameInCommon || facts.orderDiffers;
    const std::string undecided = undecidedReason(facts);
    if (facts.refused) {
        verdict.outcome = Outcome::NotCompared;
        verdict.reason = facts.refusedReason;
        verdict.sentence = sentenceHead(verdict.outcome) + facts.refusedReason + ".";
    } else if (different) {
        verdict.outcome = Outcome::Different;
        verdict.strength = facts.differenceStrength;
        verdict.sentence =
            withProof(verdict.outcome, differentSentence(facts), verdict.strength, facts);
    } else if (!undecided.empty()) {
        verdict.outcome = Outcome::Undecided;
        verdict.reason = undecided;
        verdict.sentence = sentenceHead(verdict.outcome) + "no difference found, but " + undecided
            + " (" + coverageText(facts) + ").";
    } else if (facts.differsWithinTolerance) {
        verdict.outcome = Outcome::WithinTolerance;
        verdict.sentence = withProof(verdict.outcome,
                                     "bits differ, every difference is within what was asked for"
                                         + exceptions(facts),
                                     facts.strength, facts);
    } else {
        verdict.outcome = Outcome::Identical;
        verdict.sentence = withProof(verdict.outcome, whatIsEqual(facts), facts.strength, facts);
    }
    return verdict;
}

} // namespace forkpoint
