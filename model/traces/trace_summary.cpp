// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/traces/trace_summary.h"

#include "model/format.h"
#include "model/traces/first_record.h"

#include <algorithm>
#include <charconv>
#include <map>

namespace forkpoint {

namespace {

std::string rankWords(const TraceComparison &comparison, const std::vector<std::size_t> &ranks)
{
    constexpr std::size_t Shown = 8;
    std::string text;
    for (std::size_t i = 0; i < std::min(ranks.size(), Shown); ++i)
        text += (i > 0 ? "; " : "") + comparison.ranks[ranks[i]].coordinate.toText();
    if (ranks.size() > Shown)
        text += " and " + grouped(ranks.size() - Shown) + " more";
    return text;
}

std::string iterationWords(const std::vector<std::int64_t> &iterations)
{
    constexpr std::size_t Shown = 8; // runs of iterations in a row
    std::string text;
    std::size_t runs = 0;
    for (std::size_t first = 0, end; first < iterations.size(); first = end, ++runs) {
        end = first + 1;
        while (end < iterations.size() && iterations[end] == iterations[end - 1] + 1)
            ++end;
        if (runs == Shown)
            return text + " ... " + std::to_string(iterations.back());
        text += (runs > 0 ? ", " : "") + std::to_string(iterations[first]);
        if (end - first > 1)
            text += (end - first > 2 ? " to " : ", ") + std::to_string(iterations[end - 1]);
    }
    return text;
}

void add(TraceComparison &comparison, std::string id, Severity severity, std::string text,
         Certainty certainty = Certainty::Is)
{
    comparison.findings.push_back({std::move(id), certainty, severity, std::move(text), {}});
}

/// The records at which these ranks differ first, each with its ranks, in the order of these.
std::vector<std::pair<std::string, std::vector<std::size_t>>>
sitesOf(const TraceComparison &comparison, const std::vector<std::size_t> &ranks)
{
    std::vector<std::pair<std::string, std::vector<std::size_t>>> sites;
    std::map<std::pair<std::string, std::uint64_t>, std::size_t> known;
    std::map<std::string, std::size_t> calls; // of one name
    for (const std::size_t rank : ranks) {
        const RecordName &record = comparison.ranks[rank].first->record;
        const auto [place, isNew] =
            known.emplace(std::pair(record.name, record.call), sites.size());
        if (isNew) {
            ++calls[record.name];
            sites.push_back({record.name, {}});
        }
        sites[place->second].second.push_back(rank);
    }
    for (const auto &[record, place] : known) {
        if (calls.at(record.first) > 1)
            sites[place].first += ", number " + std::to_string(record.second);
    }
    return sites;
}

void addConclusion(TraceComparison &comparison)
{
    const auto all = ranksOfFirst(comparison, std::nullopt);
    if (all.empty())
        return;
    const auto origins = ranksOfFirst(comparison, DivergenceClass::Origin);
    if (origins.empty()) {
        const auto receivers = ranksOfFirst(comparison, DivergenceClass::Receiver);
        if (receivers.size() == all.size()) {
            add(comparison, "only-receivers", Severity::Note,
                "every rank that differs received its difference: the origin lies before the "
                "recorded window, between two records, or on a rank that was not traced");
        }
        return;
    }
    const auto sites = sitesOf(comparison, origins);
    if (sites.size() == 1 && origins.size() > 1 && origins.size() == comparison.ranks.size()) {
        add(comparison, "origin-everywhere", Severity::Warning,
            sites.front().first
                + " is the origin on every compared rank: the operation itself varies",
            Certainty::ConsistentWith);
        return;
    }
    constexpr std::size_t Shown = 8;
    std::string where;
    for (std::size_t i = 0; i < std::min(sites.size(), Shown); ++i)
        where += (i > 0 ? "; " : "") + sites[i].first + " ("
            + rankWords(comparison, sites[i].second) + ")";
    if (sites.size() > Shown)
        where += "; and " + counted(sites.size() - Shown, "more record", "more records");
    add(comparison, "origins", Severity::Warning,
        (origins.size() > 1 ? "origins at " : "origin at ") + where
            + (comparison.ranks.size() > origins.size()
                   ? ": a part of the ranks, so placement, input distribution or reduction "
                     "order are to be looked at"
                   : ""),
        Certainty::ConsistentWith);
}

/// Rule M8: no one record is the first where the order is not known.
void addRivals(TraceComparison &comparison)
{
    if (!comparison.firstRank)
        return;
    const std::string rivals = rivalWords(comparison);
    if (!rivals.empty())
        add(comparison, "first-order-unknown", Severity::Warning,
            comparison.ranks[*comparison.firstRank].first->record.name
                + " is not known to be the first divergence: " + rivals);
}

void addMetadataFindings(TraceComparison &comparison)
{
    const TraceCoverage &coverage = comparison.coverage;
    if (coverage.moved > 0) {
        add(comparison, "order-differs", Severity::Warning,
            counted(coverage.moved, "record comes", "records come") + " in another order");
    }
    if (coverage.unordered > 0) {
        add(comparison, "order-unknown", Severity::Note,
            counted(coverage.unordered, "record stands", "records stand")
                + " at another place, which says nothing: a side does not tell the order of "
                  "execution, or lists the items of a state");
    }
    if (coverage.artifacts > 0) {
        add(comparison, "artifacts", Severity::Note,
            counted(coverage.artifacts, "record is an artifact", "records are artifacts")
                + " of tracing: memory not written yet is left out, results taken too early count "
                  "as "
                  "not compared");
    }
    if (coverage.metadataOnlyDifferences > 0) {
        add(comparison, "metadata-differs", Severity::Note,
            counted(coverage.metadataOnlyDifferences, "record differs", "records differ")
                + " in device, stride or requires_grad alone: no difference of values");
    }
    if (coverage.evidence.fewestBits && *coverage.evidence.fewestBits < 16) {
        add(comparison, "few-bits", Severity::Warning,
            "some digests have as few as "
                + counted(std::uint64_t(*coverage.evidence.fewestBits), "effective bit",
                          "effective bits")
                + ": unlike tensors pass as equal once in 2^"
                + std::to_string(*coverage.evidence.fewestBits));
    }
}

std::string strengthMix(const EvidenceSum &evidence)
{
    std::string text;
    for (const auto &[kind, count] : evidence.byKind.list())
        text += (text.empty() ? "" : ", ") + grouped(count) + " by " + std::string(toString(kind));
    return text.empty() ? "none" : text;
}

} // namespace

std::string_view toString(DivergenceKind kind)
{
    switch (kind) {
    case DivergenceKind::Value: return "value";
    case DivergenceKind::ControlFlow: return "control-flow";
    case DivergenceKind::Order: return "order";
    case DivergenceKind::Missing: return "missing";
    }
    return "value";
}

RecordName nameOf(const TraceRecord &record)
{
    return {record.iteration, record.microBatch, record.stage, record.name, record.scope,
            record.caller,    record.call,       {},           {}};
}

std::map<std::string, std::uint64_t> gridSizesOf(const Trace &trace)
{
    std::map<std::string, std::uint64_t> sizes;
    for (const TraceStream &stream : trace.streams()) {
        for (const TraceFact &fact : stream.facts) {
            std::uint64_t size = 0;
            const char *const end = fact.value.data() + fact.value.size();
            const auto [stop, error] = std::from_chars(fact.value.data(), end, size);
            const bool isOfGrid =
                fact.role == TraceFact::Role::Parallel || fact.name == "world_size";
            if (isOfGrid && error == std::errc() && stop == end)
                sizes.emplace(fact.name, size);
        }
    }
    return sizes;
}

std::string coverageSentence(const TraceCoverage &coverage)
{
    std::string text = counted(coverage.ranksCompared, "rank", "ranks");
    if (coverage.worldSize && *coverage.worldSize != coverage.ranksCompared)
        text += " of " + grouped(*coverage.worldSize);
    if (coverage.ranksOnlyA + coverage.ranksOnlyB > 0)
        text += " (" + grouped(coverage.ranksOnlyA) + " only in A, " + grouped(coverage.ranksOnlyB)
            + " only in B)";
    if (!coverage.iterationsCompared.empty())
        text += (coverage.iterationsCompared.size() == 1 ? ", iteration " : ", iterations ")
            + iterationWords(coverage.iterationsCompared);
    if (coverage.iterationInB)
        text += " against B's " + std::to_string(*coverage.iterationInB);
    text += ", " + counted(coverage.records, "record", "records")
        + "; values: " + strengthMix(coverage.evidence);
    if (coverage.vacuous > 0)
        text +=
            "; " + counted(coverage.vacuous, "record tells", "records tell") + " no value at all";
    if (coverage.artifacts > 0)
        text += "; " + counted(coverage.artifacts, "artifact", "artifacts") + " of tracing";
    if (coverage.evidence.nothing > 0)
        text += "; " + grouped(coverage.evidence.nothing) + " tell no value";
    if (coverage.evidence.notComparable > 0)
        text += "; " + grouped(coverage.evidence.notComparable) + " cannot be compared";
    for (const auto &[absence, count] : coverage.evidence.absences.list())
        text += "; " + grouped(count) + " " + std::string(toString(absence));
    if (coverage.excludedA + coverage.excludedB > 0)
        text += "; left out by --include, --exclude, --scope or --tensors-only: "
            + grouped(coverage.excludedA) + " of A, " + grouped(coverage.excludedB) + " of B";
    if (coverage.onlyA + coverage.onlyB > 0)
        text += "; " + counted(coverage.onlyA, "record", "records") + " only in A, "
            + grouped(coverage.onlyB) + " only in B";
    return text;
}

void addTraceFindings(TraceComparison &comparison,
                      const std::vector<std::pair<std::string, std::string>> &recipe)
{
    addConclusion(comparison);
    addRivals(comparison);
    addMetadataFindings(comparison);
    if (!recipe.empty()) {
        std::string text = counted(recipe.size(), "setting of the process differs",
                                   "settings of the process differ");
        for (std::size_t i = 0; i < std::min<std::size_t>(recipe.size(), 8); ++i)
            text += (i > 0 ? "; " : ": ") + recipe[i].first + " " + recipe[i].second;
        add(comparison, "recipe-differs", Severity::Warning, std::move(text));
    }
    add(comparison, "trace-coverage", Severity::Note,
        "traces: " + coverageSentence(comparison.coverage));
}

} // namespace forkpoint
