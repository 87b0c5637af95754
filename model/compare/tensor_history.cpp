// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/compare/tensor_history.h"

#include "model/compare/compare_rows.h"
#include "model/compare/element_reader.h"
#include "model/compare/pair_reading.h"

#include <algorithm>
#include <map>

namespace forkpoint {

namespace {

bool measurable(const TensorRef &a, const TensorRef &b)
{
    return a.shape == b.shape && commonType(a.dtype, b.dtype) && !a.unreadable && !b.unreadable;
}

Result<DiffStats> measureAll(const SourcedTensor &a, const SourcedTensor &b,
                             const ComputeBackend &backend, const std::stop_token &stop)
{
    const TensorRef &tensor = a.ref();
    const MeasuredAs as =
        commonType(tensor.dtype, b.ref().dtype).value_or(MeasuredAs{tensor.dtype});
    const Index unit = unitElements(as.dtype);
    DiffStats stats;
    for (Index first = 0; first < tensor.elements; first += unit) {
        FP_TRY(const DiffStats part,
               measure(PairOfTensors{a, b}, as, first, std::min(unit, tensor.elements - first),
                       DiffOptions{Tolerance{}, false}, backend, stop));
        stats.append(part);
    }
    return stats;
}

} // namespace

std::optional<DifferenceTrend> trendOf(const HistoryPoint &before, const HistoryPoint &now)
{
    if (!before.difference || !now.difference)
        return std::nullopt;
    const double earlier = before.difference->rms().value_or(0.0);
    const double later = now.difference->rms().value_or(0.0);
    if (!(earlier > 0.0) || !(later > 0.0))
        return std::nullopt;
    if (later < earlier / 2)
        return DifferenceTrend::Damped;
    return later > earlier * 2 ? DifferenceTrend::Amplified : DifferenceTrend::Preserved;
}

HistoryBuilder::HistoryBuilder(std::shared_ptr<const Run> a, std::shared_ptr<const Run> b,
                               std::string nameA, std::string nameB)
    : m_a(std::move(a)),
      m_b(std::move(b)),
      m_visits(visitsOf(*m_a, *m_b))
{
    m_history.nameA = std::move(nameA);
    m_history.nameB = std::move(nameB);
    m_history.complete = m_visits.empty();
}

std::vector<HistoryBuilder::Visit> HistoryBuilder::visitsOf(const Run &a, const Run &b)
{
    std::map<Step, Visit> visits;
    const auto enter = [&](const Run &run, std::optional<std::size_t> Visit::*side) {
        for (std::size_t i = 0; i < run.steps().size(); ++i) {
            if (const std::optional<Step> step = run.steps()[i].step) {
                visits[*step].step = *step;
                visits[*step].*side = i;
            }
        }
    };
    enter(a, &Visit::a);
    enter(b, &Visit::b);
    std::vector<Visit> result;
    for (const auto &entry : visits)
        result.push_back(entry.second);
    return result;
}

Result<std::optional<HistoryBuilder::Place>> HistoryBuilder::find(const Run &run,
                                                                  std::optional<std::size_t> step,
                                                                  const std::string &name,
                                                                  std::stop_token stop)
{
    if (!step)
        return std::optional<Place>();
    FP_TRY(std::shared_ptr<const TensorSource> source, run.open(*step, std::move(stop)));
    const std::optional<TensorIndex> tensor = source->catalog().findTensor(name);
    if (!tensor)
        return std::optional<Place>();
    return std::optional<Place>(Place{std::move(source), *tensor});
}

Result<bool> HistoryBuilder::advance(const ComputeBackend &backend, std::stop_token stop)
{
    if (m_history.complete)
        return false;
    const Visit &visit = m_visits[m_next];
    HistoryPoint point;
    point.step = visit.step;
    std::optional<Place> a, b;
    const auto note = [&](const Error &error) { point.reason = error.message(); };
    const auto take = [&](std::optional<Place> &place, const Run &run,
                          std::optional<std::size_t> step, const std::string &name) {
        Result<std::optional<Place>> found = find(run, step, name, stop);
        if (found.ok())
            place = std::move(found).value();
        else
            note(found.error());
    };
    take(a, *m_a, visit.a, m_history.nameA);
    take(b, *m_b, visit.b, m_history.nameB);
    const auto compare = [&](const std::optional<Place> &x, const std::optional<Place> &y,
                             std::optional<DiffStats> &into) {
        if (!x || !y)
            return;
        const SourcedTensor left{x->source.get(), x->tensor}, right{y->source.get(), y->tensor};
        if (!measurable(left.ref(), right.ref()))
            return;
        Result<DiffStats> stats = measureAll(left, right, backend, stop);
        const Status still = holdersUnchanged({x->source, y->source, x->tensor, y->tensor});
        if (stats.ok() && still.ok())
            into = std::move(stats).value();
        else
            note(stats.ok() ? still.error() : stats.error());
    };
    compare(a, b, point.difference);
    compare(m_beforeA, a, point.updateA);
    compare(m_beforeB, b, point.updateB);
    if (stop.stop_requested())
        return Error{ErrorCode::Cancelled, {}, {}, "cancelled"};
    if (!point.difference && point.reason.empty())
        point.reason = a && b ? "shape or dtype differ"
            : a               ? "only A has it"
            : b               ? "only B has it"
                              : "neither side has it";
    m_history.points.push_back(std::move(point));
    m_beforeA = a ? std::move(a) : std::nullopt;
    m_beforeB = b ? std::move(b) : std::nullopt;
    m_history.complete = ++m_next == m_visits.size();
    return !m_history.complete;
}

Progress HistoryBuilder::progress() const
{
    return {"following over the steps", m_history.nameA, 0, 0, m_next, m_visits.size()};
}

} // namespace forkpoint
