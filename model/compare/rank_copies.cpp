// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/compare/rank_copies.h"

#include "model/text/and_list.h"
#include "model/text/text.h"

#include <algorithm>
#include <map>
#include <string_view>

namespace forkpoint {

namespace {

constexpr std::string_view Id = "ranks-unlike";

/// "rank_12.model.w", "optim.rank_12.w" (of one of several groups of files): the rank's number in the
/// name, and the name without it; empty for other names.
struct RankedName
{
    std::string_view rank;
    std::string name;
};

RankedName rankedName(std::string_view name)
{
    constexpr std::string_view Word = "rank_";
    std::size_t begin = 0;
    if (!name.starts_with(Word)) {
        begin = name.find('.') + 1; // 0 without a dot
        if (!name.substr(begin).starts_with(Word))
            return {};
    }
    const std::size_t number = begin + Word.size(), dot = name.find('.', number);
    if (dot == name.npos || dot == number)
        return {};
    const std::string_view rank = name.substr(number, dot - number);
    if (!std::all_of(rank.begin(), rank.end(), isDigit))
        return {};
    return {rank, std::string(name.substr(0, begin)) + std::string(name.substr(dot + 1))};
}

/// What one side has in a row, under its own name.
template <class Row>
struct Held
{
    const Row *row;
    bool onA;
    std::string_view name;
};

/// What is on one side only, or met something of another name: w may have met rank_0.w.
template <class Row, class Item>
std::vector<Held<Row>> heldIn(const std::vector<Row> &rows, const std::vector<Item> &a,
                              const std::vector<Item> &b)
{
    std::vector<Held<Row>> result;
    for (const Row &row : rows) {
        if (row.status == ItemStatus::OnlyInA || row.status == ItemStatus::OnlyInB) {
            result.push_back({&row, row.status == ItemStatus::OnlyInA, row.name});
        } else if (row.a && row.b && a[*row.a].name != b[*row.b].name) {
            result.push_back({&row, true, a[*row.a].name});
            result.push_back({&row, false, b[*row.b].name});
        }
    }
    return result;
}

/// Whether the two hold the same; nothing where that is not known.
std::optional<bool> isSame(const Held<TensorRow> &one, const Held<TensorRow> &other)
{
    const auto &left = one.onA ? one.row->fingerprintA : one.row->fingerprintB;
    const auto &right = other.onA ? other.row->fingerprintA : other.row->fingerprintB;
    if (!left || !right)
        return std::nullopt;
    return left->tensor == right->tensor;
}

std::optional<bool> isSame(const Held<ValueRow> &one, const Held<ValueRow> &other)
{
    const auto &left = one.onA ? one.row->valueA : one.row->valueB;
    const auto &right = other.onA ? other.row->valueA : other.row->valueB;
    if (!left || !right)
        return std::nullopt;
    return left->identicalTo(*right);
}

std::string ranksText(const std::vector<std::string> &ranks)
{
    return (ranks.size() == 1 ? "rank " : "ranks ") + andList(ranks);
}

template <class Row>
using Parts = std::vector<std::pair<std::string_view, Held<Row>>>; ///< by rank

template <class Row>
Finding findingOf(const Held<Row> &whole, Parts<Row> parts, bool isComplete)
{
    std::stable_sort(parts.begin(), parts.end(), [](const auto &left, const auto &right) {
        return std::pair(left.first.size(), left.first)
            < std::pair(right.first.size(), right.first); // as numbers
    });
    std::vector<std::string> alike, unlike;
    const Certainty certainty = isComplete ? Certainty::Is : Certainty::ConsistentWith;
    Finding finding{std::string(Id), certainty, Severity::Warning, {}, {whole.row->name}};
    for (const auto &[rank, part] : parts) {
        if (part.row != whole.row)
            finding.where.push_back(part.row->name);
        const auto same = isSame(whole, part);
        if (!same)
            return {};
        (*same ? alike : unlike).emplace_back(rank);
    }
    const std::string one = whole.onA ? "A" : "B", other = whole.onA ? "B" : "A";
    finding.text = std::string(whole.name) + " is one for all ranks of " + one
        + (isComplete ? "" : " that are there") + ", those of " + other + " do not agree: "
        + (alike.empty() ? "none has what " + one + " has"
                         : ranksText(alike) + (alike.size() == 1 ? " has" : " have") + " what "
                   + one + " has, " + ranksText(unlike)
                   + (unlike.size() == 1 ? " has not" : " have not"));
    return unlike.empty() ? Finding{} : finding;
}

template <class Row>
void addFindings(const std::vector<Held<Row>> &held, const Catalog &a, const Catalog &b,
                 std::vector<Finding> &findings)
{
    std::map<std::pair<bool, std::string>, Parts<Row>> parts;
    for (const Held<Row> &item : held) {
        RankedName named = rankedName(item.name);
        if (!named.name.empty())
            parts[{item.onA, std::move(named.name)}].emplace_back(named.rank, item);
    }
    if (parts.empty())
        return;
    for (const Held<Row> &item : held) {
        const auto found = parts.find({!item.onA, std::string(item.name)});
        if (found == parts.end() || found->second.size() < 2)
            continue;
        Finding finding = findingOf(item, found->second, (item.onA ? a : b).complete);
        if (!finding.text.empty())
            findings.push_back(std::move(finding));
    }
}

} // namespace

std::vector<Finding> rankCopyFindings(const CheckpointComparison &comparison, const Catalog &a,
                                      const Catalog &b)
{
    std::vector<Finding> findings;
    addFindings(heldIn(comparison.tensors, a.tensors, b.tensors), a, b, findings);
    addFindings(heldIn(comparison.values, a.values, b.values), a, b, findings);
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
