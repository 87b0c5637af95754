// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/traces/trace.h"

#include <vector>

namespace forkpoint::test {

/// The records of one stream, in the order of its segments.
inline std::vector<TraceRecord> recordsOf(const Trace &trace, std::size_t stream = 0)
{
    std::vector<TraceRecord> records;
    for (std::size_t i = 0; i < trace.streams()[stream].segments.size(); ++i) {
        const auto cursor = trace.open(stream, i);
        while (auto record = (*cursor)->next().value())
            records.push_back(*record);
    }
    return records;
}

/// Those of all streams, one after the other.
inline std::vector<TraceRecord> allRecordsOf(const Trace &trace)
{
    std::vector<TraceRecord> records;
    for (std::size_t stream = 0; stream < trace.streams().size(); ++stream) {
        for (TraceRecord &record : recordsOf(trace, stream))
            records.push_back(std::move(record));
    }
    return records;
}

} // namespace forkpoint::test
