// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/text/json_fields.h"
#include "model/report/report_evidence.h"

#include <memory>

namespace forkpoint {

/// What a recorded report keeps of the two runs themselves; null where it keeps nothing.
std::shared_ptr<const ReportEvidence> reportEvidenceOf(const JsonFields &root,
                                                       JsonProblem &problem);

} // namespace forkpoint
