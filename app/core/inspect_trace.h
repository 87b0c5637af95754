// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/text/json_writer.h"
#include "model/traces/trace.h"

#include <string>

namespace forkpoint {

// What an inspection says of a trace: ranks, iterations, records, what it states of itself.

/// The member "steps": its iterations.
void writeTraceSteps(JsonWriter &json, const Trace &trace);
/// The member "trace".
void writeTrace(JsonWriter &json, const Trace &trace);
std::string traceText(const Trace &trace);

} // namespace forkpoint
