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
    std::vector<std::string> rates;    ///< deep: see measureRates()
};

/// Checks a backend on this machine against known answers: digests of the reference program,
/// statistics worked out by hand, the arithmetic that both rest on (rounding to nearest, subnormal
/// numbers kept), and every type against the definition in gpu/kernels, bit for bit. Needs no file
/// and takes less than a second; `deep` takes more sizes and measures rates, for some seconds.
SelftestReport runSelftest(const ComputeBackend &backend, bool deep = false);

} // namespace forkpoint
