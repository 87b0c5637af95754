// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/pairing/pairing.h"
#include "model/traces/trace_record.h"

namespace forkpoint {

/// Which records of two traces are asked for: --include, --exclude, --scope and --tensors-only.
class TraceFilter
{
public:
    /// Globs meet the name of a record, its scope, and both joined by a dot.
    explicit TraceFilter(const PairingOptions &options) : m_options(options) {}

    bool takes(const TraceRecord &record) const;
    bool takesAll() const; ///< whatever it is

private:
    PairingOptions m_options;
};

} // namespace forkpoint
