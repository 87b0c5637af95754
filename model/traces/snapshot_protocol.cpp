// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/traces/snapshot_protocol.h"

#include "model/format.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string_view>

namespace forkpoint {

namespace {

constexpr std::string_view ResumeFiles = "snapshot.resume_from.checkpoint_files.";

/// What the format requires of a snapshot, in its order.
constexpr std::array<std::string_view, 7> Components = {
    "model", "gradients", "optimizer", "precision", "rng", "scheduler", "dataloader"};

/// "rank-000003.snapshot.run_id" as "snapshot.run_id": of several ranks each has its own.
std::string_view withoutRank(std::string_view name)
{
    if (!name.starts_with("rank-"))
        return name;
    const std::size_t dot = name.find('.');
    return dot == std::string_view::npos ? name : name.substr(dot + 1);
}

std::string rankOf(std::string_view name)
{
    return std::string(name.substr(0, name.size() - withoutRank(name).size()));
}

using ValuesByName = std::map<std::string_view, const ValueRow *>;

std::string textOf(const std::optional<Value> &value)
{
    const auto *text = value ? std::get_if<std::string>(&value->data) : nullptr;
    return text ? *text : std::string();
}

bool isTrue(const std::optional<Value> &value)
{
    const auto *flag = value ? std::get_if<bool>(&value->data) : nullptr;
    return flag && *flag;
}

Finding finding(std::string id, Severity severity, std::string text,
                std::vector<std::string> where = {})
{
    return {std::move(id), Certainty::Is, severity, std::move(text), std::move(where)};
}

/// Whether that side names the run it resumed and the hash of what it loaded, and whether the other
/// side is that run.
void addResume(std::vector<Finding> &findings, const ValuesByName &values, const ValueRow &row,
               bool isA)
{
    const std::string side = isA ? "A" : "B", rank = rankOf(row.name);
    const auto own = [&](const char *name, bool ofA) {
        const auto found = values.find(rank + name);
        if (found == values.end())
            return std::string();
        return textOf(ofA ? found->second->valueA : found->second->valueB);
    };
    const std::string named = textOf(isA ? row.valueA : row.valueB);
    const std::string reference = own("snapshot.run_id", !isA);
    if (named != reference)
        findings.push_back(finding("resume-of-another-run", Severity::Warning,
                                   side + " resumed run '" + named + "', the other side is run '"
                                       + reference + "': no pair of a run and its resumption",
                                   {row.name}));
    if (own("snapshot.resume_from.checkpoint_sha256", isA).empty())
        findings.push_back(finding("resume-unverified", Severity::Warning,
                                   side
                                       + " does not say the hash of the checkpoint it loaded: "
                                         "what it began from is not verified",
                                   {row.name}));
}

/// The files that a side says it loaded, of one rank.
std::map<std::string, std::string> loadedFiles(const ValuesByName &values, const std::string &rank,
                                               bool ofA)
{
    std::map<std::string, std::string> files;
    const std::string prefix = rank + std::string(ResumeFiles);
    for (auto each = values.lower_bound(prefix);
         each != values.end() && each->first.starts_with(prefix); ++each) {
        const std::string hash = textOf(ofA ? each->second->valueA : each->second->valueB);
        if (!hash.empty())
            files.emplace(each->first.substr(prefix.size()), hash);
    }
    return files;
}

void addShards(std::vector<Finding> &findings, const ValuesByName &values, const std::string &rank)
{
    const auto inA = loadedFiles(values, rank, true);
    const auto inB = loadedFiles(values, rank, false);
    if (inA.empty() || inB.empty())
        return; // one of them began afresh, or does not say
    const auto problems = shardProblems(inA, inB);
    if (problems.empty())
        return;
    std::string text = "the two sides did not load the same checkpoint";
    for (const std::string &problem : problems)
        text += "; " + problem;
    findings.push_back(finding("resume-shards", Severity::Warning, std::move(text), problems));
}

} // namespace

std::vector<Finding> snapshotIndependence(const CheckpointComparison &comparison)
{
    std::vector<Finding> findings;
    std::vector<std::string> same, dirty;
    std::size_t ranks = 0;
    ValuesByName values;
    for (const ValueRow &row : comparison.values)
        values.emplace(row.name, &row);
    for (const ValueRow &row : comparison.values) {
        const std::string_view name = withoutRank(row.name);
        if (name == "snapshot.process_id" && row.valueA && row.valueB) {
            ++ranks;
            if (row.valueA->identicalTo(*row.valueB))
                same.push_back(row.name);
        }
        if ((name == "provenance.source_dirty" || name == "provenance.dirty")
            && (isTrue(row.valueA) || isTrue(row.valueB)))
            dirty.push_back(row.name);
        if (name == "snapshot.resume_from.run_id") {
            if (row.valueA)
                addResume(findings, values, row, true);
            if (row.valueB)
                addResume(findings, values, row, false);
            addShards(findings, values, rankOf(row.name));
        }
    }
    if (!same.empty())
        findings.push_back(finding("same-process", Severity::Warning,
                                   "both sides were written by one process: a run compared with "
                                   "itself says nothing of repeatability",
                                   same));
    if (!dirty.empty())
        findings.push_back(finding("source-dirty", Severity::Warning,
                                   "the source was changed beyond its revision: what is equal here "
                                   "certifies no code",
                                   dirty));
    if (ranks > 0 && same.empty() && dirty.empty() && findings.empty())
        findings.push_back(finding("independent-runs", Severity::Note,
                                   counted(ranks, "rank was", "ranks were")
                                       + " written by two processes each, from clean sources"));
    return findings;
}

std::vector<std::string> shardProblems(const std::map<std::string, std::string> &recorded,
                                       const std::map<std::string, std::string> &found)
{
    std::vector<std::string> problems;
    for (const auto &[file, hash] : recorded) {
        const auto other = found.find(file);
        if (other == found.end())
            problems.push_back(file + " is missing");
        else if (other->second != hash)
            problems.push_back(file + " changed");
    }
    for (const auto &[file, hash] : found) {
        if (!recorded.contains(file))
            problems.push_back(file + " came in addition");
    }
    return problems;
}

Finding snapshotScope(const CheckpointComparison &comparison)
{
    std::map<std::string_view, std::uint64_t> items;
    const auto count = [&](const auto &row) {
        const std::string_view name = withoutRank(row.name);
        const auto component =
            std::find(Components.begin(), Components.end(), name.substr(0, name.find('.')));
        if (component != Components.end() && row.status != ItemStatus::NotCompared)
            ++items[*component];
    };
    for (const TensorRow &row : comparison.tensors)
        count(row);
    for (const ValueRow &row : comparison.values)
        count(row);
    std::string text, missing;
    for (const std::string_view component : Components) {
        std::string &list = items.contains(component) ? text : missing;
        list += (list.empty() ? "" : ", ") + std::string(component);
        if (items.contains(component))
            list += " (" + counted(items[component], "item", "items") + ")";
    }
    text = "compared is the state that the snapshots declare: " + text;
    if (!missing.empty())
        text += "; nothing of " + missing;
    return finding("snapshot-scope", missing.empty() ? Severity::Note : Severity::Warning,
                   text + "; of any other state nothing is said");
}

} // namespace forkpoint
