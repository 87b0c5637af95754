// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compute_backend.h"

#include <cstddef>
#include <string>
#include <vector>

namespace forkpoint {

struct SelftestReport
{
    std::size_t passed = 0;
    std::size_t failed = 0;
    std::vector<std::string> failures; ///< one line each: what was expected and what came
};

/// Checks a backend on this machine against known answers: digests of the reference program,
/// statistics worked out by hand, and the arithmetic that both rest on (rounding to nearest,
/// subnormal numbers kept). Needs no file and takes less than a second.
SelftestReport runSelftest(const ComputeBackend &backend);

} // namespace forkpoint
