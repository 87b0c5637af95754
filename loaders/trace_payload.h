// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/trace_dialect.h"
#include "model/trace_record.h"

#include <stop_token>
#include <string>

namespace forkpoint {

/// A whole tensor that a dump keeps in a file of its own: its layout, the SHA-256 of its elements and
/// where it is. `name`: of the tensor in that file; empty: the only one. A file that cannot be read
/// is an error, and no observation.
Result<Observation> observePayload(const TraceFile &trace, const std::string &relative,
                                   const std::string &name);

} // namespace forkpoint
