// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/trace_evidence.h"

#include "model/format.h"

#include <algorithm>

namespace forkpoint {

namespace {

bool sameLayout(const Observation &a, const Observation &b)
{
    return (a.dtype == b.dtype || a.dtype.empty() || b.dtype.empty())
        && (!a.shape || !b.shape || a.shape == b.shape)
        && (!a.count || !b.count || a.count == b.count);
}

bool hasLayout(const Observation &observation)
{
    return !observation.dtype.empty() && (observation.shape || observation.count);
}

/// What equality of two digests is worth: without shape and type no more than a sum.
Strength equalStrength(const Observation &observation)
{
    const Strength strength = strengthOf(observation.kind);
    const bool isWhole = observation.kind == DigestKind::Value || hasLayout(observation);
    return isWhole ? strength : std::min(strength, Strength::Megatron128);
}

/// A norm that is NaN is unequal to itself, and equal to that of any tensor with a NaN.
bool isNanNorm(const Observation &observation)
{
    return (observation.kind == DigestKind::Norm || observation.kind == DigestKind::Printed)
        && observation.digest.find("nan") != std::string::npos;
}

EvidenceSum compareOne(const Observation &a, const Observation &b)
{
    EvidenceSum sum;
    const auto settle = [&](Evidence evidence) {
        sum.evidence = evidence;
        sum.compared = evidence == Evidence::Equal || evidence == Evidence::Different ? 1 : 0;
        sum.different = evidence == Evidence::Different ? 1 : 0;
        sum.nothing = evidence == Evidence::Nothing ? 1 : 0;
        sum.notComparable = evidence == Evidence::NotComparable ? 1 : 0;
        if (evidence == Evidence::Different)
            sum.strongestDifferent = sum.layoutDiffers ? Strength::Metadata : strengthOf(a.kind);
        return sum;
    };
    sum.metadataDiffers = a.metadata != b.metadata;
    if (!sameLayout(a, b)) {
        sum.layoutDiffers = true;
        return settle(Evidence::Different);
    }
    if (a.absence != Absence::Recorded)
        sum.absences.add(a.absence, 1);
    if (b.absence != Absence::Recorded && b.absence != a.absence)
        sum.absences.add(b.absence, 1);
    if (a.absence != Absence::Recorded && b.absence != Absence::Recorded)
        return settle(Evidence::Nothing);
    if (a.absence != Absence::Recorded || b.absence != Absence::Recorded || a.kind != b.kind)
        return settle(Evidence::NotComparable);
    // Without an element equal shapes are equal tensors, and a digest of all bytes says so; what a sum of no
    // elements is says nothing (rule M16).
    const bool isVacuous = a.isEmpty() && b.isEmpty()
        && !(hasLayout(a) && hasLayout(b) && provesEquality(equalStrength(a)));
    if (a.kind == DigestKind::None || isVacuous || isNanNorm(a) || isNanNorm(b))
        return settle(Evidence::Nothing);
    if (a.digest == b.digest && a.kind != DigestKind::Value && hasLayout(a) != hasLayout(b))
        return settle(Evidence::NotComparable);
    sum.byKind.add(a.kind, 1);
    if (a.digest != b.digest)
        return settle(Evidence::Different);
    sum.weakestEqual = equalStrength(a);
    sum.fewestBits = effectiveBits(a.kind, a.dtype);
    return settle(Evidence::Equal);
}

} // namespace

std::vector<Observation> fieldsOf(const TraceRecord &record)
{
    std::vector<Observation> fields;
    for (const auto &[name, value] : record.fields) {
        Observation field;
        field.path = name;
        field.kind = DigestKind::Value;
        field.digest = value;
        fields.push_back(std::move(field));
    }
    return fields;
}

void EvidenceSum::add(const EvidenceSum &other, std::uint64_t times)
{
    const auto rank = [](Evidence e) {
        switch (e) {
        case Evidence::Different: return 3;
        case Evidence::NotComparable: return 2;
        case Evidence::Equal: return 1;
        case Evidence::Nothing: break;
        }
        return 0;
    };
    if (rank(other.evidence) > rank(evidence))
        evidence = other.evidence;
    compared += times * other.compared;
    different += times * other.different;
    nothing += times * other.nothing;
    notComparable += times * other.notComparable;
    weakestEqual = std::min(weakestEqual, other.weakestEqual);
    strongestDifferent = std::max(strongestDifferent, other.strongestDifferent);
    if (other.fewestBits)
        fewestBits = std::min(fewestBits.value_or(*other.fewestBits), *other.fewestBits);
    layoutDiffers = layoutDiffers || other.layoutDiffers;
    metadataDiffers = metadataDiffers || other.metadataDiffers;
    byKind.add(other.byKind, times);
    absences.add(other.absences, times);
}

EvidenceSum compareObservations(std::span<const Observation> a, std::span<const Observation> b)
{
    EvidenceSum sum;
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
        sum.add(compareOne(a[i], b[i]));
    if (a.size() == b.size())
        return sum;
    EvidenceSum unlike; // another number of tensors is another call
    unlike.evidence = Evidence::Different;
    unlike.compared = unlike.different = 1;
    unlike.layoutDiffers = true;
    unlike.strongestDifferent = Strength::Metadata;
    sum.add(unlike);
    return sum;
}

std::string doubtOf(const EvidenceSum &sum)
{
    if (sum.notComparable > 0)
        return counted(sum.notComparable, "value", "values") + " cannot be compared";
    if (sum.nothing > 0)
        return counted(sum.nothing, "value is", "values are") + " not recorded";
    if (sum.compared == 0)
        return "nothing was compared";
    return provesEquality(sum.weakestEqual)
        ? std::string()
        : "the evidence is too weak to say equal (" + std::string(toString(sum.weakestEqual)) + ")";
}

EvidenceSum noEvidence(std::uint64_t tensors, Absence why)
{
    EvidenceSum sum;
    sum.nothing = tensors;
    sum.absences.add(why, tensors);
    return sum;
}

EvidenceSum RecordEvidence::all() const
{
    EvidenceSum sum = inputs;
    sum.add(outputs);
    return sum;
}

RecordEvidence compareRecords(const TraceRecord &a, const TraceRecord &b)
{
    RecordEvidence evidence;
    if (a.role == RecordRole::Runtime && b.role == RecordRole::Runtime)
        return evidence;
    evidence.inputs = compareObservations(a.inputs, b.inputs);
    evidence.outputs = compareObservations(a.outputs, b.outputs);
    if (!a.fields.empty() || !b.fields.empty())
        evidence.outputs.add(compareObservations(fieldsOf(a), fieldsOf(b)));
    return evidence;
}

} // namespace forkpoint
