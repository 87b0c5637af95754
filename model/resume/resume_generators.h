// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/resume/resume_fact.h"
#include "model/resume/resume_items.h"

#include <cstdint>
#include <stop_token>
#include <vector>

namespace forkpoint {

/// The rows of the generators: one for each of each rank, then one for each kind that several ranks
/// have, with what must be alike over them and what must not. `seeds` are the numbers that each side
/// says it was seeded with; the states do not hold them all.
std::vector<ResumeFact> generatorFacts(const std::vector<ResumeItem> &items, const ResumeSide &a,
                                       const ResumeSide &b, const std::vector<std::uint64_t> &seeds,
                                       std::stop_token stop);

} // namespace forkpoint
