// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/traces/step_span.h"

#include "model/traces/trace_stage.h"

namespace forkpoint {

ChainPlace chainPlace(std::string_view stage, std::optional<std::int64_t> microBatch)
{
    const std::size_t place = causalPlace(stage);
    if (microBatch)
        return {1, *microBatch, place};
    return {place < causalPlace("batch") ? 0 : 2, 0, place};
}

StepSpan spanOf(std::string_view stage, std::optional<std::int64_t> microBatch,
                const std::optional<ChainPlace> &last)
{
    StepSpan span;
    if (isInChain(stage))
        span.from = span.to = chainPlace(stage, microBatch);
    else if (last)
        span.from = *last;
    return span;
}

void closeSpan(StepSpan &span, const ChainPlace &later)
{
    if (later < span.from)
        span = StepSpan();
    else if (later < span.to)
        span.to = later;
}

StepOrder orderOf(const StepSpan &x, const StepSpan &y)
{
    const bool isBefore = x.to <= y.from, isBehind = y.to <= x.from;
    if (isBefore == isBehind)
        return isBefore ? StepOrder::Same : StepOrder::Unknown;
    return isBefore ? StepOrder::Before : StepOrder::Behind;
}

} // namespace forkpoint
