// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/result.h"
#include "model/trace_record.h"

#include <optional>
#include <string_view>

namespace forkpoint {

/// A cursor over lines of which each makes its record by itself: a line that is byte for byte that of
/// another trace's record makes the same record, and need not be read.
class TwinCursor
{
public:
    virtual ~TwinCursor() = default;

    /// The line of the record that was read last, until the next is read; empty where it does not
    /// make its record by itself.
    virtual std::string_view lastLine() const = 0;
    /// As next(). `line` made `record`, of another cursor of this kind; `isTwin`: the record read now
    /// is a copy of it but for its place.
    virtual Result<std::optional<TraceRecord>>
    nextBeside(std::string_view line, const TraceRecord &record, bool &isTwin) = 0;
};

} // namespace forkpoint
