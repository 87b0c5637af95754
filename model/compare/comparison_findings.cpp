// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/compare/comparison_findings.h"

#include "model/compare/exact_relations.h"
#include "model/compare/lost_items.h"
#include "model/compare/owner_differences.h"
#include "model/compare/rank_copies.h"
#include "model/format.h"
#include "model/pairing/layout_findings.h"
#include "model/pairing/tied_tensors.h"
#include "model/text/value_text.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

namespace forkpoint {

namespace {

/// Read again, at most, to see in whose parts differences lie.
constexpr std::uint64_t OwnerBytes = std::uint64_t(256) << 20;
/// Read again, at most, to see whether one side is the other one rounded, scaled and the like.
constexpr std::uint64_t RelationBytes = std::uint64_t(512) << 20;
/// Read again, at most, to recognise the same values in another layout.
constexpr std::uint64_t LayoutBytes = std::uint64_t(512) << 20;

void addRecipe(const CheckpointComparison &comparison, std::vector<Finding> &findings)
{
    Finding finding{"recipe-differs", Certainty::Is, Severity::Warning, {}, {}};
    std::string firsts;
    for (const ValueRow &row : comparison.values) {
        if (row.stateClass != StateClass::Recipe || row.status == ItemStatus::Identical
            || mayBeLost(row)
            || (row.status == ItemStatus::NotCompared && !(row.valueA && row.valueB)))
            continue;
        finding.where.push_back(row.name);
        if (finding.where.size() > 3)
            continue;
        firsts += firsts.empty() ? "" : "; ";
        firsts += row.name + " " + shownChange(row.valueA, row.valueB);
    }
    if (finding.where.empty())
        return;
    finding.text = counted(finding.where.size(), "recipe difference", "recipe differences") + ": "
        + firsts + (finding.where.size() > 3 ? "; ..." : "");
    findings.push_back(std::move(finding));
}

void addPairing(const CheckpointComparison &comparison, const Pairing &pairing,
                std::vector<Finding> &findings)
{
    const auto met = std::uint64_t(
        std::count_if(comparison.tensors.begin(), comparison.tensors.end(),
                      [](const TensorRow &row) { return row.pairedBy == PairedBy::Affix; }));
    const bool onA = !pairing.affixA.empty(), onB = !pairing.affixB.empty();
    if (met > 0 && (onA || onB)) { // else they met without wrappers' keys
        const std::string prefix = "the prefix '" + (onA ? pairing.affixA : pairing.affixB) + "'";
        findings.push_back({"names-differ-by-prefix",
                            Certainty::Is,
                            Severity::Note,
                            (onA && onB ? "some names of each side carry " + prefix
                                        : std::string(onA ? "A" : "B") + "'s names carry " + prefix
                                     + ", which those of the other side lack")
                                + "; " + counted(met, "tensor was", "tensors were")
                                + " paired without it",
                            {}});
    }
    for (const std::string &rule : pairing.idleRenames)
        findings.push_back({"rename-idle",
                            Certainty::Is,
                            Severity::Warning,
                            "the rename rule " + rule
                                + " changed no name; rules replace literal text, only ^ at its "
                                  "beginning and $ at its end are special",
                            {}});
    for (const std::string &glob : pairing.idleGlobs)
        findings.push_back(
            {"selection-idle",
             Certainty::Is,
             Severity::Warning,
             "'" + glob + "' of --include or --exclude matches no name of a tensor or value",
             {glob}});
    if (pairing.unclassifiedLeftOut > 0)
        findings.push_back(
            {"scope-leaves-out",
             Certainty::Is,
             Severity::Warning,
             counted(pairing.unclassifiedLeftOut, "tensor of no known class is",
                     "tensors of no known class are")
                 + " outside of the scope asked for; add 'unknown' to it to compare them",
             {}});
}

std::string_view without(std::string_view name, std::string_view prefix)
{
    return name.starts_with(prefix) ? name.substr(prefix.size()) : name;
}

/// Who met whom under unlike names, once for each rule.
void addMeetings(const CheckpointComparison &comparison, const Pairing &pairing,
                 std::vector<Finding> &findings)
{
    const auto add = [&](std::string id, PairedBy by, std::string_view rest) {
        Finding finding{std::move(id), Certainty::Is, Severity::Note, {}, {}};
        const TensorRow *first = nullptr;
        for (const TensorRow &row : comparison.tensors) {
            // What the common prefix tells apart is told by the finding of that prefix.
            const bool isByPrefix = by == PairedBy::Affix
                && without(row.nameA, pairing.affixA) == without(row.nameB, pairing.affixB);
            if (row.pairedBy != by || isByPrefix)
                continue;
            first = first ? first : &row;
            finding.where.push_back(row.name);
        }
        if (!first)
            return;
        finding.text = counted(finding.where.size(), "tensor has", "tensors have")
            + " another name on the other side, " + std::string(rest) + " (first '" + first->nameA
            + "' of A and '" + first->nameB + "' of B)";
        findings.push_back(std::move(finding));
    };
    add("optimizer-renumbered", PairedBy::Parameter,
        "being state of the optimizer, and met by its parameter");
    add("paired-without-wrappers", PairedBy::Affix,
        "and met without the keys of wrappers and of the model in it");
    add("paired-by-table", PairedBy::Table,
        "and met by the table of what frameworks call the parts of a model");
    add("paired-by-content", PairedBy::Content, "found there by dtype, shape and bytes");
}

/// One name, a tensor on one side and a value on the other: two rows that belong together.
void addKindsDiffer(const CheckpointComparison &comparison, std::vector<Finding> &findings)
{
    std::map<std::string_view, ItemStatus> values;
    for (const ValueRow &row : comparison.values) {
        if (row.status == ItemStatus::OnlyInA || row.status == ItemStatus::OnlyInB)
            values.emplace(row.name, row.status);
    }
    Finding finding{"tensor-against-value", Certainty::Is, Severity::Note, {}, {}};
    for (const TensorRow &row : comparison.tensors) {
        const auto value = values.find(row.name);
        const bool oneSided =
            row.status == ItemStatus::OnlyInA || row.status == ItemStatus::OnlyInB;
        if (oneSided && value != values.end() && value->second != row.status)
            finding.where.push_back(row.name);
    }
    if (finding.where.empty())
        return;
    finding.text = counted(finding.where.size(), "name is", "names are")
        + " a tensor on one side and a plain value on the other";
    findings.push_back(std::move(finding));
}

/// NaN or infinity in one side's tensor where the other side's has none.
void addNotFinite(const CheckpointComparison &comparison, std::vector<Finding> &findings)
{
    for (const bool onA : {true, false}) {
        Finding finding{"not-finite", Certainty::Is, Severity::Warning, {}, {}};
        for (const TensorRow &row : comparison.tensors) {
            if (!row.stats)
                continue;
            const Index inA = row.stats->nanA + row.stats->infA;
            const Index inB = row.stats->nanB + row.stats->infB;
            if ((onA ? inA : inB) > 0 && (onA ? inB : inA) == 0)
                finding.where.push_back(row.name);
        }
        if (finding.where.empty())
            continue;
        finding.text = "NaN or infinity in " + std::string(onA ? "A" : "B") + " where "
            + (onA ? "B" : "A") + " has none, in "
            + counted(finding.where.size(), "tensor", "tensors") + ", first "
            + finding.where.front();
        findings.push_back(std::move(finding));
    }
}

/// A tensor on one side only may still be there under another name: a tied head stored twice.
/// `told`: names of which a finding has said so already.
void addStoredTwice(const CheckpointComparison &comparison, const std::set<std::string_view> &told,
                    std::vector<Finding> &findings)
{
    const auto isOneSided = [](const TensorRow &row) {
        return row.status == ItemStatus::OnlyInA || row.status == ItemStatus::OnlyInB;
    };
    if (std::none_of(comparison.tensors.begin(), comparison.tensors.end(), isOneSided))
        return;
    std::map<Digest128, const TensorRow *> ofA, ofB;
    for (const TensorRow &row : comparison.tensors) {
        if (row.fingerprintA && row.a && row.elements > 1)
            ofA.emplace(row.fingerprintA->tensor, &row);
        if (row.fingerprintB && row.b && row.elements > 1)
            ofB.emplace(row.fingerprintB->tensor, &row);
    }
    for (const TensorRow &row : comparison.tensors) {
        const bool onlyA = row.status == ItemStatus::OnlyInA && row.fingerprintA;
        const bool onlyB = row.status == ItemStatus::OnlyInB && row.fingerprintB;
        if ((!onlyA && !onlyB) || row.elements <= 1 || told.contains(row.name))
            continue;
        const auto &others = onlyA ? ofB : ofA;
        const auto found = others.find((onlyA ? row.fingerprintA : row.fingerprintB)->tensor);
        if (found == others.end())
            continue;
        findings.push_back({"same-bytes-as",
                            Certainty::Is,
                            Severity::Note,
                            row.name + " is only in " + (onlyA ? "A" : "B")
                                + "; its dtype, shape and bytes equal " + found->second->name
                                + " of " + (onlyA ? "B" : "A"),
                            {row.name, found->second->name}});
    }
}

void addRounded(const CheckpointComparison &comparison, const std::vector<std::size_t> &rounded,
                std::vector<Finding> &findings)
{
    std::map<std::string, Finding> byDirection;
    for (const std::size_t index : rounded) {
        const TensorRow &row = comparison.tensors[index];
        const bool wideIsA = row.comparedAs == row.dtypeA.name;
        const std::string narrow = wideIsA ? row.dtypeB.name : row.dtypeA.name;
        Finding &finding =
            byDirection[(wideIsA ? "B equals A rounded to " : "A equals B rounded to ") + narrow
                        + ", ties to even"];
        finding.where.push_back(row.name);
    }
    for (auto &[text, finding] : byDirection) {
        finding.id = "rounded-to-narrower";
        finding.certainty = Certainty::Is;
        finding.severity = Severity::Note;
        finding.text = text + ", in " + counted(finding.where.size(), "tensor", "tensors");
        findings.push_back(std::move(finding));
    }
}

KnownTensors knownOf(const CheckpointComparison &comparison, bool ofA)
{
    KnownTensors known;
    for (const TensorRow &row : comparison.tensors) {
        const auto &tensor = ofA ? row.a : row.b;
        const auto &digests = ofA ? row.fingerprintA : row.fingerprintB;
        if (tensor && digests)
            known.contents.emplace(*tensor, digests->content);
        if (tensor && row.strength == Strength::Xxh3Index)
            known.unread.insert(*tensor);
    }
    return known;
}

} // namespace

std::vector<Finding> comparisonFindings(const CheckpointComparison &comparison,
                                        const TensorSource &a, const TensorSource &b,
                                        const Pairing &pairing,
                                        const std::vector<std::size_t> &rounded, bool mayRead,
                                        std::stop_token stop)
{
    std::vector<Finding> findings;
    addRecipe(comparison, findings);
    addPairing(comparison, pairing, findings);
    addMeetings(comparison, pairing, findings);
    addKindsDiffer(comparison, findings);
    addNotFinite(comparison, findings);
    std::vector<Finding> ofRanks = rankCopyFindings(comparison, a.catalog(), b.catalog());
    std::set<std::string_view> told;
    for (const Finding &finding : ofRanks)
        told.insert(finding.where.begin(), finding.where.end());
    addStoredTwice(comparison, told, findings);
    std::move(ofRanks.begin(), ofRanks.end(), std::back_inserter(findings));
    addRounded(comparison, rounded, findings);
    for (Finding &finding : ownerFindings(comparison, a, b, mayRead ? OwnerBytes : 0, stop))
        findings.push_back(std::move(finding));
    if (mayRead) {
        for (Finding &finding : exactRelations(comparison, a, b, RelationBytes, stop))
            findings.push_back(std::move(finding));
        for (Finding &finding : layoutFindings(comparison, a, b, LayoutBytes, stop))
            findings.push_back(std::move(finding));
    }
    for (const auto &[side, source] : {std::pair{"A", &a}, std::pair{"B", &b}}) {
        for (Finding finding : source->catalog().findings) {
            finding.text = std::string(side) + ": " + finding.text;
            finding.where.insert(finding.where.begin(), side);
            findings.push_back(std::move(finding));
        }
        if (!mayRead)
            continue;
        for (Finding &finding :
             tiedFindings(*source, TiedBytes, stop, knownOf(comparison, source == &a))) {
            finding.text = std::string(side) + ": " + finding.text;
            findings.push_back(std::move(finding));
        }
    }
    std::stable_sort(findings.begin(), findings.end(), [](const Finding &l, const Finding &r) {
        return std::pair(-int(l.severity), l.id) < std::pair(-int(r.severity), r.id);
    });
    return findings;
}

} // namespace forkpoint
