// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/traces/mapping_sheet.h"
#include "loaders/traces/trace_dialect.h"

#include <memory>

namespace forkpoint {

/// The dialect that a mapping sheet describes: text of one record a line. A file is its own where the
/// sheet says so by name, or where a line of its beginning is understood. Lines that are not understood
/// are problems, and counted.
std::shared_ptr<const TraceDialect> mappingDialect(std::shared_ptr<const MappingSheet> sheet);

} // namespace forkpoint
