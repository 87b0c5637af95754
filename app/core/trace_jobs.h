// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/session_jobs.h"

namespace forkpoint {

// Jobs about the records of two traces. Each fails where a side has none.

JobBatch recordsBatch(SessionInputs inputs, RecordQuery query,
                      Deliver<std::shared_ptr<const RecordWindow>> deliver);
JobBatch recordTextBatch(SessionInputs inputs, RecordPlaces places,
                         Deliver<std::shared_ptr<const RecordText>> deliver);
JobBatch driftBatch(SessionInputs inputs, DriftQuery query,
                    Deliver<std::shared_ptr<const RecordDrift>> deliver);

} // namespace forkpoint
