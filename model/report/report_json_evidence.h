// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/report/report_evidence.h"
#include "model/text/json_writer.h"

namespace forkpoint {

// Members of "forkpoint.report/1" beyond the comparison itself; an empty one is left out.

/// "curves" and "curves_left_out".
void writeCurves(JsonWriter &json, const ReportEvidence &evidence);

} // namespace forkpoint
