// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/traces/first_record.h"

#include "model/format.h"
#include "model/traces/trace_stage.h"

#include <algorithm>
#include <tuple>

namespace forkpoint {

namespace {

/// A stage of the chain says where; without one the records around it do, as far as they can.
StepSpan spanIn(const RankDivergence &first)
{
    return isInChain(first.record.stage)
        ? spanOf(first.record.stage, first.record.microBatch, std::nullopt)
        : first.span;
}

bool isSameRecord(const RecordName &x, const RecordName &y)
{
    return x.name == y.name && x.call == y.call && x.microBatch == y.microBatch;
}

/// Whether what a rank meets first may come before the one that is shown.
bool mayComeBefore(const RankDivergence &other, const RankDivergence &shown)
{
    if (other.classification.innocentCollective || isSameRecord(other.record, shown.record))
        return false;
    const StepOrder order = orderOf(spanIn(other), spanIn(shown));
    return order == StepOrder::Unknown || order == StepOrder::Before;
}

} // namespace

void Rivals::add(const RecordName &record, std::uint64_t records)
{
    count += records;
    if (named.size() < MostNamed)
        named.push_back(record);
}

bool comesBefore(const RankDivergence &x, std::uint64_t ordinalOfX, const RankDivergence &y,
                 std::uint64_t ordinalOfY)
{
    if (x.isPlaced && y.isPlaced)
        return ordinalOfX < ordinalOfY;
    return std::tuple(spanIn(x).to, ordinalOfX) < std::tuple(spanIn(y).to, ordinalOfY);
}

void findRivals(RankDivergence &first, const std::map<ChainPlace, Rivals> &differing)
{
    const ChainPlace own = spanIn(first).to;
    for (const auto &[place, others] : differing) {
        if (place != own && place != StepSpan().to)
            continue;
        Rivals &rivals = place == StepSpan().to ? first.unknown : first.alike;
        rivals = others;
        std::erase_if(rivals.named,
                      [&](const RecordName &other) { return isSameRecord(other, first.record); });
        rivals.count -= place == own && !first.isPlaced ? 1 : 0; // itself
    }
}

std::vector<std::size_t> ranksOfFirst(const TraceComparison &comparison,
                                      std::optional<DivergenceClass> only)
{
    const bool differs = std::any_of(
        comparison.ranks.begin(), comparison.ranks.end(), [](const RankComparison &rank) {
            return rank.first && rank.first->kind != DivergenceKind::Missing;
        });
    const auto counts = [&](const RankComparison &rank) {
        return rank.first && (!differs || rank.first->kind != DivergenceKind::Missing);
    };
    std::optional<std::optional<std::int64_t>> earliest;
    for (const RankComparison &rank : comparison.ranks) {
        if (counts(rank) && (!earliest || rank.first->record.iteration < *earliest))
            earliest = rank.first->record.iteration;
    }
    std::vector<std::size_t> ranks;
    for (std::size_t i = 0; i < comparison.ranks.size(); ++i) {
        const auto &first = comparison.ranks[i].first;
        if (counts(comparison.ranks[i]) && first->record.iteration == *earliest
            && (!only || first->classification.divergenceClass == *only))
            ranks.push_back(i);
    }
    return ranks;
}

std::optional<std::size_t> chooseFirst(const TraceComparison &comparison)
{
    const auto all = ranksOfFirst(comparison, std::nullopt);
    if (all.empty())
        return std::nullopt;
    const auto orderOfRank = [&](std::size_t i) {
        const RankComparison &rank = comparison.ranks[i];
        const bool isOrigin = rank.first->classification.divergenceClass == DivergenceClass::Origin;
        const StepSpan span = spanIn(*rank.first);
        // What a peer's input explains stands behind that peer. A rank on which records of no known
        // order differ beside the one that others have too is the likelier place.
        return std::tuple(!isOrigin, rank.first->classification.innocentCollective, span.to,
                          span.from, rank.first->unknown.count == 0,
                          rank.coordinate.rank.value_or(0), i);
    };
    return *std::min_element(all.begin(), all.end(), [&](std::size_t x, std::size_t y) {
        return orderOfRank(x) < orderOfRank(y);
    });
}

std::string rivalWords(const TraceComparison &comparison)
{
    const RankDivergence &shown = *comparison.ranks[*comparison.firstRank].first;
    if (shown.classification.divergenceClass == DivergenceClass::Origin)
        return {};
    std::vector<std::string> names;
    std::uint64_t count = 0;
    const auto take = [&](const Rivals &rivals, const RankComparison &rank) {
        count += rivals.count;
        for (const RecordName &record : rivals.named) {
            if (names.size() < Rivals::MostNamed)
                names.push_back(record.name + " on " + rank.coordinate.toText());
        }
    };
    take(shown.alike, comparison.ranks[*comparison.firstRank]);
    for (const std::size_t each : ranksOfFirst(comparison, std::nullopt)) {
        const RankComparison &rank = comparison.ranks[each];
        if (each != *comparison.firstRank && mayComeBefore(*rank.first, shown))
            take({{rank.first->record}, 1}, rank);
        take(rank.first->unknown, rank);
    }
    if (count == 0)
        return {};
    const bool isOfValues = shown.kind == DivergenceKind::Value;
    std::string text = "it is one of " + counted(count + 1, "record", "records") + " that differ"
        + (isOfValues ? "" : " or have no partner") + " and of which the order is not known";
    if (names.empty())
        return text;
    text += ": beside it ";
    for (std::size_t i = 0; i < names.size(); ++i)
        text += (i > 0 ? ", " : "") + names[i];
    return text + (count > names.size() ? " and " + grouped(count - names.size()) + " more" : "");
}

} // namespace forkpoint
