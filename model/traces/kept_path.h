// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/key_path.h"
#include "model/traces/record_row.h"
#include "model/traces/trace_record.h"

#include <string>

namespace forkpoint {

/// What a whole tensor that a trace kept is called among those of its step:
/// "rank_N.stage.micro_batch_N.NAME.call_N.output.PATH", without what does not apply (the rank where
/// there is only one, the call 0, the side of a record's only tensor).
KeyPath keptPath(const TraceRecord &record, const Observation &observation, bool isInput,
                 const TraceCoordinate &rank, bool severalRanks);

/// The name of the record's first kept tensor, outputs before inputs; empty where none was.
std::string firstKeptName(const TraceRecord &record, const TraceCoordinate &rank,
                          bool severalRanks);

/// Whether both sides kept a tensor of the record.
bool isKept(const RecordRow &row);

} // namespace forkpoint
