// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/resume/resume_fact.h"

#include <cstddef>
#include <string>
#include <vector>

namespace forkpoint {

/// The resume facts as a table for a terminal, of a pair or of one checkpoint; beyond `most` rows
/// those that tell of a difference or a contradiction come first, and the rest is counted.
std::string resumeText(const std::vector<ResumeFact> &facts, bool pair, std::size_t most);

} // namespace forkpoint
