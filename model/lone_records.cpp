// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/lone_records.h"

namespace forkpoint {

namespace {

TraceRecord bare(const TraceRecord &record)
{
    TraceRecord copy;
    copy.iteration = record.iteration;
    copy.microBatch = record.microBatch;
    copy.role = record.role;
    copy.stage = record.stage;
    copy.name = record.name;
    copy.scope = record.scope;
    copy.caller = record.caller;
    copy.call = record.call;
    copy.place = record.place;
    return copy;
}

} // namespace

void LoneRecords::add(const TraceRecord &record, bool isA, std::uint64_t ordinal)
{
    Sum &sum = m_sums[{isA, record.stage, record.microBatch}];
    if (sum.count++ > 0 && sum.ordinal <= ordinal)
        return;
    sum.first = bare(record);
    sum.ordinal = ordinal;
    sum.isA = isA;
}

} // namespace forkpoint
