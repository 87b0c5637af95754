// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/trace_plan.h"

#include "model/text.h"

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
            unlike.emplace_back(name, listed(values) + " -> " + listed(other.mapped()));
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

bool sameRank(const TraceCoordinate &a, const TraceCoordinate &b)
{
    if (!a.axes.empty() && !b.axes.empty())
        return a.axes == b.axes;
    return a.rank == b.rank;
}

void pairStreams(const Trace &a, const Trace &b, TracePlan &plan)
{
    const auto &streamsA = a.streams();
    const auto &streamsB = b.streams();
    std::vector<bool> met(streamsB.size(), false);
    for (std::size_t i = 0; i < streamsA.size(); ++i) {
        const auto partner =
            std::find_if(streamsB.begin(), streamsB.end(), [&](const TraceStream &other) {
                return sameRank(streamsA[i].coordinate, other.coordinate);
            });
        if (partner == streamsB.end()) {
            plan.onlyA.push_back(streamsA[i].coordinate);
            continue;
        }
        const auto j = std::size_t(partner - streamsB.begin());
        met[j] = true;
        plan.ranks.push_back({i, j});
    }
    for (std::size_t j = 0; j < streamsB.size(); ++j) {
        if (!met[j])
            plan.onlyB.push_back(streamsB[j].coordinate);
    }
}

std::set<Iteration> iterationsOf(const TraceStream &stream)
{
    const auto list = stream.iterations();
    return {list.begin(), list.end()};
}

std::set<Iteration> iterationsOf(const Trace &trace)
{
    std::set<Iteration> all;
    for (const TraceStream &stream : trace.streams())
        all.merge(iterationsOf(stream));
    return all;
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

} // namespace

TracePlan planTraces(const Trace &a, const Trace &b,
                     const std::optional<std::pair<std::int64_t, std::int64_t>> &iterations)
{
    TracePlan plan;
    plan.refusal = refusalOf(a, b);
    if (!plan.refusal.empty())
        return plan;
    plan.recipe = unlikeFacts(a, b, TraceFact::Role::Runtime);
    pairStreams(a, b, plan);
    const std::set<Iteration> inA = iterationsOf(a), inB = iterationsOf(b);
    plan.iterationsOnlyA = notIn(inA, inB);
    plan.iterationsOnlyB = notIn(inB, inA);
    std::set<Iteration> common;
    for (const Iteration &iteration : inA) {
        const bool isAsked = !iterations
            || (iteration && *iteration >= iterations->first && *iteration <= iterations->second);
        if (isAsked && inB.count(iteration) > 0)
            common.insert(iteration);
    }
    for (const Iteration &iteration : common) {
        if (iteration)
            plan.iterations.push_back(*iteration);
        for (std::size_t rank = 0; rank < plan.ranks.size(); ++rank) {
            const bool hasA = iterationsOf(a.streams()[plan.ranks[rank].a]).count(iteration) > 0;
            const bool hasB = iterationsOf(b.streams()[plan.ranks[rank].b]).count(iteration) > 0;
            if (hasA && hasB)
                plan.units.push_back({iteration, rank});
            else
                plan.hole = plan.hole || hasA != hasB;
        }
    }
    if (!iterations) {
        plan.hole = plan.hole || isInside(plan.iterationsOnlyA, plan.iterations)
            || isInside(plan.iterationsOnlyB, plan.iterations);
    }
    if (plan.units.empty())
        plan.refusal = plan.ranks.empty() ? "the traces have no rank in common"
                                          : "the traces have no iteration in common";
    return plan;
}

} // namespace forkpoint
