// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/traces/record_drift.h"

#include "model/traces/trace_alignment.h"
#include "model/traces/trace_plan.h"
#include "model/traces/trace_rules.h"
#include "model/traces/trace_walk.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

namespace forkpoint {

namespace {

using Iteration = std::optional<std::int64_t>;

std::optional<double> numberIn(const std::string &text)
{
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size())
        return std::nullopt;
    return value;
}

/// What of an observation is a number: by name.
std::vector<std::pair<std::string, double>> numbersOf(const Observation &observation)
{
    std::vector<std::pair<std::string, double>> numbers;
    for (const auto &[name, text] : observation.statistics) {
        if (const auto value = numberIn(text))
            numbers.emplace_back(name, *value);
    }
    const bool isNumber = observation.kind == DigestKind::Norm
        || observation.kind == DigestKind::Printed || observation.kind == DigestKind::Value;
    if (isNumber) {
        if (const auto value = numberIn(observation.digest))
            numbers.emplace_back("value", *value);
    }
    return numbers;
}

std::vector<std::pair<std::string, double>> numbersOf(const std::optional<TraceRecord> &record)
{
    if (!record)
        return {};
    for (const auto *list : {&record->outputs, &record->inputs}) {
        for (const Observation &observation : *list) {
            if (auto numbers = numbersOf(observation); !numbers.empty())
                return numbers;
        }
    }
    std::vector<std::pair<std::string, double>> numbers;
    for (const auto &[name, text] : record->fields) {
        if (const auto value = numberIn(text))
            numbers.emplace_back(name, *value);
    }
    return numbers;
}

std::vector<DriftPoint::Statistic> statisticsOf(const std::optional<TraceRecord> &a,
                                                const std::optional<TraceRecord> &b)
{
    std::vector<DriftPoint::Statistic> statistics;
    for (auto &[name, value] : numbersOf(a))
        statistics.push_back({shortened(std::move(name)), value, {}});
    for (auto &[name, value] : numbersOf(b)) {
        std::string shown = shortened(std::move(name));
        const auto known =
            std::find_if(statistics.begin(), statistics.end(),
                         [&](const DriftPoint::Statistic &each) { return each.name == shown; });
        if (known != statistics.end())
            known->b = value;
        else
            statistics.push_back({std::move(shown), {}, value});
    }
    if (statistics.size() > ListedRecord::MostObservations)
        statistics.resize(ListedRecord::MostObservations);
    return statistics;
}

} // namespace

std::optional<double> DriftPoint::Statistic::relative() const
{
    if (!a || !b || !std::isfinite(*a) || !std::isfinite(*b))
        return std::nullopt;
    if (*a == *b)
        return 0.0;
    if (*a == 0.0)
        return std::nullopt;
    return std::fabs(*b - *a) / std::fabs(*a);
}

struct DriftBuilder::State
{
    std::shared_ptr<const Trace> a, b;
    std::optional<TracePlan::Rank> rank;
    std::vector<Iteration> iterations;
    std::size_t next = 0;
    RecordDrift drift;

    Status open();
    Result<std::optional<TraceRecord>> find(TraceFeed feed, const std::stop_token &stop) const;
    Status readNext(const std::stop_token &stop);
};

Status DriftBuilder::State::open()
{
    const TracePlan plan = planTraces(*a, *b, {});
    if (drift.query.rank >= plan.ranks.size())
        return Error{ErrorCode::Usage, {}, {}, "there is no such rank on both sides"};
    rank = plan.ranks[drift.query.rank];
    std::set<Iteration> all;
    for (const auto *side : {&rank->segmentsA, &rank->segmentsB}) {
        for (const auto &[iteration, segments] : *side)
            all.insert(iteration);
    }
    iterations.assign(all.begin(), all.end());
    return {};
}

Result<std::optional<TraceRecord>> DriftBuilder::State::find(TraceFeed feed,
                                                             const std::stop_token &stop) const
{
    for (;;) {
        if (stop.stop_requested())
            return Error{ErrorCode::Cancelled, {}, {}, "was cancelled"};
        FP_TRY(auto record, feed.next());
        if (!record || identityOf(*record) == drift.query.identity)
            return record;
    }
}

Status DriftBuilder::State::readNext(const std::stop_token &stop)
{
    DriftPoint point;
    point.iteration = iterations[next];
    point.inA = rank->segmentsA.contains(point.iteration);
    point.inB = rank->segmentsB.contains(point.iteration);
    const auto feedOf = [&](const Trace &trace, std::size_t stream, const auto &segments) {
        return TraceFeed(trace, stream, segmentsIn(segments, point.iteration), nullptr);
    };
    FP_TRY(const auto inA, find(feedOf(*a, rank->a, rank->segmentsA), stop));
    FP_TRY(const auto inB, find(feedOf(*b, rank->b, rank->segmentsB), stop));
    ++next;
    if (!inA && !inB)
        return {};
    if (inA)
        point.a = inA->place;
    if (inB)
        point.b = inB->place;
    RecordEvidence evidence;
    if (inA && inB)
        evidence = evidenceOf(*inA, *inB);
    point.status = statusOf(inA ? &*inA : nullptr, inB ? &*inB : nullptr, evidence, false);
    point.evidence = evidence.all();
    point.statistics = statisticsOf(inA, inB);
    drift.points.push_back(std::move(point));
    return {};
}

DriftBuilder::DriftBuilder(std::shared_ptr<const Trace> a, std::shared_ptr<const Trace> b,
                           DriftQuery query)
    : m_state(std::make_unique<State>())
{
    m_state->a = std::move(a);
    m_state->b = std::move(b);
    m_state->drift.query = query;
}

DriftBuilder::~DriftBuilder() = default;

Result<bool> DriftBuilder::advance(std::stop_token stop)
{
    State &state = *m_state;
    if (!state.rank)
        FP_CHECK(state.open());
    if (state.next < state.iterations.size())
        FP_CHECK(state.readNext(stop));
    state.drift.complete = state.next >= state.iterations.size();
    return !state.drift.complete;
}

Progress DriftBuilder::progress() const
{
    Progress progress;
    progress.phase = "following a record";
    progress.itemsDone = m_state->next;
    progress.itemsTotal = m_state->iterations.size();
    return progress;
}

const RecordDrift &DriftBuilder::drift() const
{
    return m_state->drift;
}

} // namespace forkpoint
