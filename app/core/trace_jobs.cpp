// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/trace_jobs.h"

#include "app/core/growing.h"

namespace forkpoint {

namespace {

struct TracePair
{
    std::shared_ptr<const Trace> a, b;
};

/// Where one is asked for alone the other may be null.
Result<TracePair> tracesOf(const SessionInputs &inputs, bool needsA = true, bool needsB = true)
{
    TracePair pair{inputs.a ? inputs.a->trace() : nullptr, inputs.b ? inputs.b->trace() : nullptr};
    if ((needsA && !pair.a) || (needsB && !pair.b))
        return Error{ErrorCode::Usage,
                     {},
                     {},
                     needsA && needsB ? "needs a trace on both sides" : "needs a trace"};
    return pair;
}

} // namespace

JobBatch recordsBatch(SessionInputs inputs, RecordQuery query,
                      Deliver<std::shared_ptr<const RecordWindow>> deliver)
{
    auto work = std::make_shared<Growing<RecordWindowBuilder>>();
    return [=, inputs = std::move(inputs), query = std::move(query),
            deliver = std::move(deliver)](JobControl &control) -> Result<Batch> {
        if (!work->builder) {
            FP_TRY(
                TracePair pair,
                tracesOf(inputs, query.of != RecordQuery::Of::B, query.of != RecordQuery::Of::A));
            work->builder.emplace(std::move(pair.a), std::move(pair.b), query);
        }
        FP_TRY(const bool more, work->builder->advance(control.stop()));
        // Until it is found, what is there would only be replaced.
        if (more && (!work->builder->hasFound() || !work->clock.due())) {
            control.report(work->builder->progress());
            return Batch::More;
        }
        return work->hand(more, work->builder->window(), deliver, control);
    };
}

JobBatch recordTextBatch(SessionInputs inputs, RecordPlaces places,
                         Deliver<std::shared_ptr<const RecordText>> deliver)
{
    return [=, inputs = std::move(inputs),
            deliver = std::move(deliver)](JobControl &control) -> Result<Batch> {
        const bool both = places.a.has_value() == places.b.has_value();
        FP_TRY(TracePair pair, tracesOf(inputs, both || places.a, both || places.b));
        // Of the one that may be missing nothing is read.
        FP_TRY(RecordText text,
               readRecordText(pair.a ? *pair.a : *pair.b, pair.b ? *pair.b : *pair.a, places,
                              [&control] { return control.stop().stop_requested(); }));
        control.post([deliver, shared = std::make_shared<const RecordText>(std::move(text))] {
            deliver(shared);
        });
        return Batch::Done;
    };
}

JobBatch driftBatch(SessionInputs inputs, DriftQuery query,
                    Deliver<std::shared_ptr<const RecordDrift>> deliver)
{
    auto work = std::make_shared<Growing<DriftBuilder>>();
    return [=, inputs = std::move(inputs),
            deliver = std::move(deliver)](JobControl &control) -> Result<Batch> {
        if (!work->builder) {
            FP_TRY(TracePair pair, tracesOf(inputs));
            work->builder.emplace(std::move(pair.a), std::move(pair.b), query);
        }
        FP_TRY(const bool more, work->builder->advance(control.stop()));
        return work->hand(more, work->builder->drift(), deliver, control);
    };
}

} // namespace forkpoint
