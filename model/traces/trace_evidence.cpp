// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/traces/trace_evidence.h"

#include "model/format.h"
#include "model/metrics/printed_decimal.h"

#include <algorithm>
#include <bit>
#include <cmath>

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

bool hasNan(std::string_view text)
{
    constexpr std::string_view Word = "nan";
    return std::search(text.begin(), text.end(), Word.begin(), Word.end(),
                       [](char x, char y) { return (x | 0x20) == y; })
        != text.end();
}

/// Texts that are no digests: what several of them say is parted by commas ("Max 2, Norm 3.5").
/// Two NaN prove nothing, as their tensors may differ in all else; NaN against a number does.
Evidence compareNumbers(std::string_view a, std::string_view b)
{
    constexpr std::string_view Between = ", ";
    bool proves = true;
    for (;;) {
        const std::size_t endA = std::min(a.find(Between), a.size());
        const std::size_t endB = std::min(b.find(Between), b.size());
        const std::string_view partA = a.substr(0, endA), partB = b.substr(0, endB);
        const bool isNan = hasNan(partA);
        if (isNan != hasNan(partB) || (!isNan && partA != partB))
            return Evidence::Different;
        proves = proves && !isNan;
        if (endA == a.size() || endB == b.size()) {
            const bool sameLength = endA == a.size() && endB == b.size();
            return !sameLength ? Evidence::Different : proves ? Evidence::Equal : Evidence::Nothing;
        }
        a.remove_prefix(endA + Between.size());
        b.remove_prefix(endB + Between.size());
    }
}

/// Decimals as they were printed differ if no number prints as both: 0.12 and 0.1234 need not.
Evidence comparePrinted(std::string_view a, std::string_view b)
{
    const auto left = parseDecimal(a), right = parseDecimal(b);
    if (!left || !right || left->printed.exact || right->printed.exact)
        return compareNumbers(a, b);
    return surelyDifferent(left->printed, right->printed) ? Evidence::Different : Evidence::Equal;
}

/// Whole values: 1 and 1.0 are one number, as writers differ in how they spell it.
Evidence compareWhole(std::string_view a, std::string_view b)
{
    if (a == b)
        return Evidence::Equal;
    const auto left = parseDecimal(a), right = parseDecimal(b);
    constexpr int FloatDigits = 17; // no float64 is spelled with more
    const auto isWhole = [](const auto &number) {
        return number && !number->lossy && number->significantDigits <= FloatDigits
            && !std::isnan(number->value);
    };
    if (!isWhole(left) || !isWhole(right))
        return Evidence::Different;
    const bool sameBits =
        std::bit_cast<std::uint64_t>(left->value) == std::bit_cast<std::uint64_t>(right->value);
    return sameBits ? Evidence::Equal : Evidence::Different;
}

Evidence compareTexts(DigestKind kind, std::string_view a, std::string_view b)
{
    switch (kind) {
    case DigestKind::Printed: return comparePrinted(a, b);
    case DigestKind::Norm: return compareNumbers(a, b);
    case DigestKind::Value: return compareWhole(a, b);
    default: return a == b ? Evidence::Equal : Evidence::Different;
    }
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
    if (a.kind == DigestKind::None || isVacuous)
        return settle(Evidence::Nothing);
    const Evidence found = compareTexts(a.kind, a.digest, b.digest);
    if (found == Evidence::Nothing)
        return settle(found);
    if (found == Evidence::Equal && a.kind != DigestKind::Value && hasLayout(a) != hasLayout(b))
        return settle(Evidence::NotComparable);
    sum.byKind.add(a.kind, 1);
    if (found == Evidence::Different)
        return settle(found);
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
