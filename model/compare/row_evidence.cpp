// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/compare/row_evidence.h"

#include "model/compare/compare_rows.h"
#include "model/format.h"

#include <algorithm>

namespace forkpoint {

namespace {

SideEvidence sideEvidence(const TensorSource &source, std::optional<TensorIndex> tensor,
                          KnownDigests *known)
{
    SideEvidence side;
    if (!tensor || source.catalog().tensors[*tensor].unreadable)
        return side;
    side.recorded = source.recorded(*tensor);
    if (side.recorded) {
        side.content = side.recorded->content;
        side.strength = Strength::Xxh3;
    } else if (known != nullptr) {
        side.content = known->find(source, *tensor);
        if (side.content)
            side.strength = Strength::Xxh3Index;
    }
    return side;
}

bool sameType(const MeasuredAs &as)
{
    return !as.widenA && !as.widenB;
}

/// Nodes of a level of the tree of one side.
struct Nodes
{
    std::uint32_t level = 0;
    std::vector<Digest128> digests;
};

Nodes nodesOf(const SideEvidence &side, const SideEvidence &other,
              const std::vector<Digest128> &read)
{
    if (side.recorded)
        return {side.recorded->level, side.recorded->nodes};
    return {other.recorded ? other.recorded->level : 0, read};
}

void raise(Nodes &nodes, std::uint32_t level, const ComputeBackend &backend)
{
    for (; nodes.level < level; ++nodes.level)
        nodes.digests = foldNodes(backend, nodes.level, nodes.digests);
}

/// Bytes [first, last] of a logical stream.
struct Stretch
{
    std::uint64_t first = 0, last = 0;
};

std::vector<Stretch> differingStretches(const Nodes &a, const Nodes &b, std::uint64_t width,
                                        std::uint64_t bytes)
{
    std::vector<Stretch> stretches;
    for (std::size_t i = 0; i < a.digests.size(); ++i) {
        if (a.digests[i] == b.digests[i])
            continue;
        const std::uint64_t first = i * width, last = std::min(first + width, bytes) - 1;
        if (!stretches.empty() && stretches.back().last + 1 == first)
            stretches.back().last = last;
        else
            stretches.push_back({first, last});
    }
    return stretches;
}

std::string rangeText(std::uint64_t first, std::uint64_t last)
{
    return std::to_string(first) + "-" + std::to_string(last);
}

/// "within elements 0-16383 (bytes 0-65535) and 2 more stretches", or nothing.
std::string whereText(const TensorRow &row, Nodes a, Nodes b, const ComputeBackend &backend)
{
    constexpr std::size_t Shown = 4;
    const std::uint32_t level = std::max(a.level, b.level);
    raise(a, level, backend);
    raise(b, level, backend);
    if (a.digests.size() != b.digests.size() || a.digests.size() < 2)
        return {};
    std::uint64_t width = LeafBytes;
    for (std::uint32_t i = 0; i < level; ++i)
        width *= FingerprintFanOut;
    const auto stretches = differingStretches(a, b, width, row.bytes / 2);
    const std::uint64_t bits = row.dtypeA.bits;
    std::string text;
    for (std::size_t i = 0; i < std::min(Shown, stretches.size()); ++i) {
        const Stretch &stretch = stretches[i];
        text += (text.empty() ? "" : ", ") + std::string("elements ")
            + rangeText(stretch.first * 8 / bits, (stretch.last * 8 + 7) / bits) + " (bytes "
            + rangeText(stretch.first, stretch.last) + ")";
    }
    if (stretches.size() > Shown)
        text += " and " + counted(stretches.size() - Shown, "more stretch", "more stretches");
    return text.empty() ? text : "; somewhere within " + text;
}

std::string factsText(std::string_view side, const SideEvidence &evidence)
{
    if (!evidence.recorded || !evidence.recorded->facts)
        return {};
    const RecordedFacts &facts = *evidence.recorded->facts;
    return "; recorded of " + std::string(side) + ": " + std::to_string(facts.nan) + " NaN, "
        + std::to_string(facts.inf) + " Inf"
        + (facts.rms ? ", rms " + shortest(*facts.rms) : std::string());
}

/// Only elements tell whether a difference is within a tolerance.
void leaveOpen(TensorRow &row)
{
    row.status = ItemStatus::NotCompared;
    row.notComparable = true;
    row.reason += "; whether within the tolerance asked for, only elements would tell";
}

void decideWithoutBytes(TensorRow &row, const RowEvidence &evidence, const PairOfContents &contents,
                        bool toleranceAsked, const ComputeBackend &backend)
{
    row.reason = "fingerprints differ, and a fingerprint file has no elements to measure"
        + whereText(row, nodesOf(evidence.a, evidence.b, contents.nodesRead),
                    nodesOf(evidence.b, evidence.a, contents.nodesRead), backend)
        + factsText("A", evidence.a) + factsText("B", evidence.b);
    if (toleranceAsked)
        leaveOpen(row);
}

} // namespace

RowEvidence evidenceOf(const TensorRow &row, const TensorSource &a, const TensorSource &b,
                       KnownDigests *known)
{
    return {sideEvidence(a, row.a, known), sideEvidence(b, row.b, known)};
}

bool decidedByDigests(const RowEvidence &evidence, const MeasuredAs &as, bool measureEqual,
                      bool measureDifferent)
{
    if (!evidence.a.content || !evidence.b.content || !sameType(as))
        return false;
    return *evidence.a.content == *evidence.b.content ? !measureEqual : !measureDifferent;
}

void decideByDigests(TensorRow &row, const MeasuredAs &as, const RowEvidence &evidence,
                     const PairOfContents &contents, bool toleranceAsked,
                     const ComputeBackend &backend)
{
    row.strength = evidence.strength();
    row.reason.clear();
    if (!sameType(as)) {
        // That the types differ needs no digest.
        row.strength = Strength::Metadata;
        row.status = ItemStatus::Different;
        row.reason = "dtype " + row.dtypeA.name + " against " + row.dtypeB.name
            + "; a fingerprint file has no elements to compare as values";
        if (toleranceAsked)
            leaveOpen(row);
        return;
    }
    const bool equal = contents.a == contents.b;
    row.status = equal ? ItemStatus::Identical : ItemStatus::Different;
    if (equal)
        row.valueEqual = true;
    else if (evidence.withoutBytes())
        decideWithoutBytes(row, evidence, contents, toleranceAsked, backend);
    if (row.dtypeA != row.dtypeB)
        row.reason = unnamedTypeText(row) + (row.reason.empty() ? "" : "; " + row.reason);
}

} // namespace forkpoint
