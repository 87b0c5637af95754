// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/compare/rank_copies.h"

#include <algorithm>
#include <map>
#include <string_view>

namespace forkpoint {

namespace {

constexpr std::string_view Id = "ranks-unlike";

/// "rank_12.model.w": the rank's number in the name, and the name without it; empty for other names.
struct RankedName
{
    std::string_view rank, name;
};

RankedName rankedName(std::string_view name)
{
    constexpr std::string_view Word = "rank_";
    const std::size_t dot = name.find('.');
    if (!name.starts_with(Word) || dot == name.npos || dot == Word.size())
        return {};
    const std::string_view rank = name.substr(Word.size(), dot - Word.size());
    const bool isNumber =
        std::all_of(rank.begin(), rank.end(), [](char c) { return c >= '0' && c <= '9'; });
    return isNumber ? RankedName{rank, name.substr(dot + 1)} : RankedName{};
}

/// Whether the two one-sided rows hold the same; nothing where that is not known.
std::optional<bool> isSame(const TensorRow &one, const TensorRow &other)
{
    const auto &left = one.a ? one.fingerprintA : one.fingerprintB;
    const auto &right = other.a ? other.fingerprintA : other.fingerprintB;
    if (!left || !right)
        return std::nullopt;
    return left->tensor == right->tensor;
}

std::optional<bool> isSame(const ValueRow &one, const ValueRow &other)
{
    const auto &left = one.a ? one.valueA : one.valueB;
    const auto &right = other.a ? other.valueA : other.valueB;
    if (!left || !right)
        return std::nullopt;
    return left->identicalTo(*right);
}

std::string ranksText(const std::vector<std::string_view> &ranks)
{
    std::string text = ranks.size() == 1 ? "rank " : "ranks ";
    for (std::size_t i = 0; i < ranks.size(); ++i) {
        text += i == 0 ? "" : i + 1 == ranks.size() ? " and " : ", ";
        text += ranks[i];
    }
    return text;
}

template <class Row>
Finding findingOf(const Row &whole, std::vector<std::pair<std::string_view, const Row *>> parts,
                  bool isComplete)
{
    std::stable_sort(parts.begin(), parts.end(), [](const auto &left, const auto &right) {
        return std::pair(left.first.size(), left.first)
            < std::pair(right.first.size(), right.first); // as numbers
    });
    std::vector<std::string_view> alike, unlike;
    const Certainty certainty = isComplete ? Certainty::Is : Certainty::ConsistentWith;
    Finding finding{std::string(Id), certainty, Severity::Warning, {}, {whole.name}};
    for (const auto &[rank, row] : parts) {
        finding.where.push_back(row->name);
        const auto same = isSame(whole, *row);
        if (!same)
            return {};
        (*same ? alike : unlike).push_back(rank);
    }
    const std::string one = whole.a ? "A" : "B", other = whole.a ? "B" : "A";
    finding.text = whole.name + " is one for all ranks of " + one
        + (isComplete ? "" : " that are there") + ", those of " + other + " do not agree: "
        + (alike.empty() ? "none has what " + one + " has"
                         : ranksText(alike) + (alike.size() == 1 ? " has" : " have") + " what "
                   + one + " has, " + ranksText(unlike)
                   + (unlike.size() == 1 ? " has not" : " have not"));
    return unlike.empty() ? Finding{} : finding;
}

template <class Row>
void addFindings(const std::vector<Row> &rows, const Catalog &a, const Catalog &b,
                 std::vector<Finding> &findings)
{
    std::map<std::pair<ItemStatus, std::string_view>,
             std::vector<std::pair<std::string_view, const Row *>>>
        parts;
    for (const Row &row : rows) {
        if (row.status != ItemStatus::OnlyInA && row.status != ItemStatus::OnlyInB)
            continue;
        const RankedName named = rankedName(row.name);
        if (!named.name.empty())
            parts[{row.status, named.name}].emplace_back(named.rank, &row);
    }
    for (const Row &row : rows) {
        if (parts.empty()
            || (row.status != ItemStatus::OnlyInA && row.status != ItemStatus::OnlyInB))
            continue;
        const auto other =
            row.status == ItemStatus::OnlyInA ? ItemStatus::OnlyInB : ItemStatus::OnlyInA;
        const auto found = parts.find({other, row.name});
        if (found == parts.end() || found->second.size() < 2)
            continue;
        Finding finding = findingOf(row, found->second, (row.a ? a : b).complete);
        if (!finding.text.empty())
            findings.push_back(std::move(finding));
    }
}

} // namespace

std::vector<Finding> rankCopyFindings(const CheckpointComparison &comparison, const Catalog &a,
                                      const Catalog &b)
{
    std::vector<Finding> findings;
    addFindings(comparison.tensors, a, b, findings);
    addFindings(comparison.values, a, b, findings);
    return findings;
}

std::set<std::string> provenUnlikeRanks(const std::vector<Finding> &findings)
{
    std::set<std::string> names;
    for (const Finding &finding : findings) {
        if (finding.id == Id && finding.certainty == Certainty::Is)
            names.insert(finding.where.begin(), finding.where.end());
    }
    return names;
}

} // namespace forkpoint
