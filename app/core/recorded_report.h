// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/results/report_reader.h"

#include <optional>
#include <string>

namespace forkpoint {

/// The report that a file holds; nothing where it holds none, or is no file. An error where it
/// begins like a report and is none.
Result<std::optional<RecordedReport>> reportIn(const std::string &path);

} // namespace forkpoint
