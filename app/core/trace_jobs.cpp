// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/trace_jobs.h"

#include "app/core/growing.h"

namespace forkpoint {

namespace {

struct TracePair
{
    std::shared_ptr<const Trace> a, b;
};

Result<TracePair> tracesOf(const SessionInputs &inputs)
{
    TracePair pair;
    if (inputs.a && inputs.b)
        pair = {inputs.a->trace(), inputs.b->trace()};
    if (!pair.a || !pair.b)
        return Error{ErrorCode::Usage, {}, {}, "needs a trace on both sides"};
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
            FP_TRY(TracePair pair, tracesOf(inputs));
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
        FP_TRY(const TracePair pair, tracesOf(inputs));
        FP_TRY(RecordText text, readRecordText(*pair.a, *pair.b, places, [&control] {
                   return control.stop().stop_requested();
               }));
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
