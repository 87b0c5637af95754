// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/resume/resume_fact.h"
#include "model/resume/resume_items.h"

#include <cstdint>
#include <stop_token>

namespace forkpoint {

/// Whether every float32 master of a side, rounded to the type of its weight to nearest, ties to
/// even, is that weight bit for bit. `masters` are items that a rule takes for masters; at most
/// `budget` bytes are read.
SelfCheck checkMasters(const std::vector<const ResumeItem *> &masters, const ResumeSide &side,
                       std::uint64_t budget, std::stop_token stop);

} // namespace forkpoint
