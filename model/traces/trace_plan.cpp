// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/traces/trace_plan.h"

#include "model/text/and_list.h"
#include "model/text/text.h"

#include <algorithm>
#include <map>
#include <set>

namespace forkpoint {

namespace {

using Iteration = std::optional<std::int64_t>;

/// Every value that the streams of a trace state of each thing.
std::map<std::string, std::set<std::string>> statedFacts(const Trace &trace, TraceFact::Role role)
{
    std::map<std::string, std::set<std::string>> stated;
    for (const TraceStream &stream : trace.streams()) {
        for (const TraceFact &fact : stream.facts) {
            if (fact.role == role)
                stated[fact.name].insert(fact.value);
        }
    }
    return stated;
}

std::vector<std::pair<std::string, std::string>> unlikeFacts(const Trace &a, const Trace &b,
                                                             TraceFact::Role role)
{
    std::vector<std::pair<std::string, std::string>> unlike;
    const auto inA = statedFacts(a, role);
    auto inB = statedFacts(b, role);
    for (const auto &[name, values] : inA) {
        const auto other = inB.extract(name);
        // What a side does not state is not known to be another.
        if (!other.empty() && other.mapped() != values)
            unlike.emplace_back(name, listed(values) + " → " + listed(other.mapped()));
    }
    return unlike;
}

std::string refusalOf(const Trace &a, const Trace &b)
{
    if (a.dialect() != b.dialect())
        return "the traces are of two kinds, " + a.dialect() + " and " + b.dialect();
    for (const auto &[role, what] : {std::pair{TraceFact::Role::Schema, "schema"},
                                     std::pair{TraceFact::Role::Parallel, "process grid"}}) {
        const auto unlike = unlikeFacts(a, b, role);
        if (!unlike.empty())
            return "the traces have another " + std::string(what) + ": " + unlike.front().first
                + " " + unlike.front().second;
    }
    return {};
}

/// Finds the stream of the same rank. Of several that fit the first one counts.
class RankIndex
{
public:
    explicit RankIndex(const std::vector<TraceStream> &streams)
    {
        for (std::size_t i = 0; i < streams.size(); ++i) {
            const TraceCoordinate &coordinate = streams[i].coordinate;
            m_byRank.emplace(coordinate.rank, i);
            if (coordinate.axes.empty())
                m_byRankAlone.emplace(coordinate.rank, i);
            else
                m_byAxes.emplace(coordinate.axes, i);
        }
    }

    std::optional<std::size_t> find(const TraceCoordinate &coordinate) const
    {
        if (coordinate.axes.empty())
            return in(m_byRank, coordinate.rank);
        const auto byAxes = in(m_byAxes, coordinate.axes);
        const auto byRank = in(m_byRankAlone, coordinate.rank);
        return byAxes && byRank ? std::min(byAxes, byRank) : byAxes ? byAxes : byRank;
    }

private:
    template <class Key>
    static std::optional<std::size_t> in(const std::map<Key, std::size_t> &map, const Key &key)
    {
        const auto found = map.find(key);
        return found == map.end() ? std::nullopt : std::optional(found->second);
    }

    std::map<std::optional<std::int64_t>, std::size_t> m_byRank, m_byRankAlone;
    std::map<std::vector<std::pair<std::string, std::int64_t>>, std::size_t> m_byAxes;
};

TracePlan::Segments segmentsOf(const TraceStream &stream)
{
    TracePlan::Segments segments;
    for (std::size_t i = 0; i < stream.segments.size(); ++i)
        segments[stream.segments[i].iteration].push_back(i);
    return segments;
}

void pairStreams(const Trace &a, const Trace &b, TracePlan &plan)
{
    const auto &streamsA = a.streams();
    const auto &streamsB = b.streams();
    const RankIndex index(streamsB);
    std::vector<bool> met(streamsB.size(), false);
    for (std::size_t i = 0; i < streamsA.size(); ++i) {
        const auto partner = index.find(streamsA[i].coordinate);
        if (!partner) {
            plan.onlyA.push_back(streamsA[i].coordinate);
            continue;
        }
        met[*partner] = true;
        plan.ranks.push_back(
            {i, *partner, segmentsOf(streamsA[i]), segmentsOf(streamsB[*partner])});
    }
    for (std::size_t j = 0; j < streamsB.size(); ++j) {
        if (!met[j])
            plan.onlyB.push_back(streamsB[j].coordinate);
    }
}

std::set<Iteration> iterationsOf(const Trace &trace)
{
    std::set<Iteration> all;
    for (const TraceStream &stream : trace.streams()) {
        const auto own = stream.iterations();
        all.insert(own.begin(), own.end());
    }
    return all;
}

/// Those of a side that the selection asks for.
std::set<Iteration> askedOf(const Trace &trace, const StepSelection &selection, bool isA)
{
    std::set<Iteration> asked = iterationsOf(trace);
    if (selection.only) {
        const Iteration wanted = isA ? selection.only->a : selection.only->b;
        std::erase_if(asked, [&](const Iteration &each) { return each != wanted; });
    } else if (selection.range) {
        std::erase_if(asked, [&](const Iteration &each) {
            return !each || *each < selection.range->first || *each > selection.range->second;
        });
    }
    return asked;
}

std::vector<std::int64_t> notIn(const std::set<Iteration> &own, const std::set<Iteration> &other)
{
    std::vector<std::int64_t> result;
    for (const Iteration &iteration : own) {
        if (iteration && other.count(iteration) == 0)
            result.push_back(*iteration);
    }
    return result;
}

/// Whether one of the iterations lies inside what both sides span.
bool isInside(const std::vector<std::int64_t> &oneSided, const std::vector<std::int64_t> &common)
{
    return !common.empty()
        && std::any_of(oneSided.begin(), oneSided.end(), [&](std::int64_t iteration) {
               return iteration > common.front() && iteration < common.back();
           });
}

/// Lets one iteration of A meet one of B, on every rank.
void addUnits(const Iteration &ofA, const Iteration &ofB, TracePlan &plan)
{
    if (ofA)
        plan.iterations.push_back(*ofA);
    for (std::size_t rank = 0; rank < plan.ranks.size(); ++rank) {
        const bool hasA = plan.ranks[rank].segmentsA.count(ofA) > 0;
        const bool hasB = plan.ranks[rank].segmentsB.count(ofB) > 0;
        if (hasA && hasB)
            plan.units.push_back({ofA, ofB, rank});
        else
            plan.hole = plan.hole || hasA != hasB;
    }
}

/// Rising iterations: "1, 2 and 9", "3 to 8", "5 from 1 to 90". A span is told only of one without gaps.
std::string told(const std::vector<std::int64_t> &iterations)
{
    constexpr std::size_t MostListed = 4;
    if (iterations.empty())
        return "none with a number";
    const std::string first = std::to_string(iterations.front());
    const std::string last = std::to_string(iterations.back());
    const std::size_t count = iterations.size();
    const std::uint64_t reach =
        std::uint64_t(iterations.back()) - std::uint64_t(iterations.front());
    if (count > 2 && reach == count - 1)
        return first + " to " + last;
    if (count > MostListed)
        return std::to_string(count) + " from " + first + " to " + last;
    std::vector<std::string> words;
    for (const std::int64_t iteration : iterations)
        words.push_back(std::to_string(iteration));
    return andList(words);
}

/// What either side has, and how it could meet.
std::string whichOnes(const std::vector<std::int64_t> &a, const std::vector<std::int64_t> &b)
{
    if (a.empty() && b.empty())
        return {};
    std::string text = ": A has " + told(a) + ", B has " + told(b);
    if (!a.empty() && !b.empty())
        text += "; --step " + std::to_string(a.front()) + ":" + std::to_string(b.front())
            + " lets the first ones meet";
    return text;
}

bool hasRecords(const Trace &trace)
{
    const auto &streams = trace.streams();
    return std::any_of(streams.begin(), streams.end(),
                       [](const TraceStream &stream) { return !stream.segments.empty(); });
}

std::string whyNothing(const Trace &a, const Trace &b, const TracePlan &plan,
                       const StepSelection &selection, bool isInA)
{
    const bool hasA = hasRecords(a), hasB = hasRecords(b);
    if (!hasA && !hasB)
        return "neither trace has a record that can be used";
    if (!hasA || !hasB)
        return std::string("the trace of ") + (hasA ? "B" : "A")
            + " has no record that can be used";
    if (plan.ranks.empty())
        return "the traces have no rank in common";
    if (!selection.only)
        return "the traces have no iteration in common"
            + whichOnes(plan.iterationsOnlyA, plan.iterationsOnlyB);
    return std::string("the trace of ") + (isInA ? "B" : "A") + " has no iteration "
        + std::to_string(isInA ? selection.only->b : selection.only->a);
}

} // namespace

std::vector<std::size_t> segmentsIn(const TracePlan::Segments &segments,
                                    std::optional<std::int64_t> iteration)
{
    const auto found = segments.find(iteration);
    return found == segments.end() ? std::vector<std::size_t>() : found->second;
}

TracePlan planTraces(const Trace &a, const Trace &b, const StepSelection &selection)
{
    TracePlan plan;
    plan.refusal = refusalOf(a, b);
    if (!plan.refusal.empty())
        return plan;
    plan.recipe = unlikeFacts(a, b, TraceFact::Role::Runtime);
    pairStreams(a, b, plan);
    const std::set<Iteration> inA = askedOf(a, selection, true);
    const std::set<Iteration> inB = askedOf(b, selection, false);
    if (selection.only) {
        if (!inA.empty() && !inB.empty())
            addUnits(selection.only->a, selection.only->b, plan);
    } else {
        plan.iterationsOnlyA = notIn(inA, inB);
        plan.iterationsOnlyB = notIn(inB, inA);
        for (const Iteration &iteration : inA) {
            if (inB.count(iteration) > 0)
                addUnits(iteration, iteration, plan);
        }
        plan.hole = plan.hole || isInside(plan.iterationsOnlyA, plan.iterations)
            || isInside(plan.iterationsOnlyB, plan.iterations);
    }
    if (plan.units.empty())
        plan.refusal = whyNothing(a, b, plan, selection, !inA.empty());
    return plan;
}

} // namespace forkpoint
