// SPDX-License-Identifier: GPL-3.0-or-later
// From the texts of the command line to the types of the model.
#pragma once

#include "app/cli/options.h"
#include "model/result.h"

#include <cstdint>
#include <string>
#include <vector>

namespace CLI {
class Option;
}

namespace forkpoint {

/// What CLI11 fills and finishOptions() turns into the types of the model.
struct RawOptions
{
    Options options;
    std::string pair = "auto", step, steps, scope, order = "index", maxRate, mapping;
    std::vector<std::string> renames, overrides, digests;
    double rtol = 0, atol = 0;
    std::uint64_t maxUlp = 0;
    CLI::Option *hasRtol = nullptr, *hasAtol = nullptr, *hasMaxUlp = nullptr, *hasScope = nullptr;
};

/// Usage where a text does not say what its option takes, or options exclude each other.
Result<Options> finishOptions(RawOptions raw);

/// Why a text is no count, or nothing. CLI11 itself takes the largest number for any beyond.
std::string wholeNumberProblem(const std::string &text);

/// What --with takes: "hash_tensor, megatron128, ...".
std::string digestNames();

} // namespace forkpoint
