// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/finding.h"
#include "model/result.h"
#include "model/tensor_source.h"

#include <cstdint>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace forkpoint {

/// How the parts of tensor-parallel ranks make a whole.
struct AssemblyRule
{
    enum class How { Axis0, Axis1, Gated, Same };
    How how = How::Same;
    std::string pattern, reason;
};

/// The table resources/rules/rank_assembly.txt: "how  pattern  reason", '#' begins a comment.
Result<std::vector<AssemblyRule>> parseAssemblyRules(std::string_view text);
const std::vector<AssemblyRule> &assemblyRules();

/// Where one side lists what each model-parallel rank holds (mp_rank_XX) and the other has whole
/// tensors: which of these are the parts put together by the rules, bit for bit, which are so as far
/// as both have rows (a padded vocabulary, or parts that are missing), and which are not.
/// Layers of pipeline ranks are counted on; layers may be stacked on the other side. Offered, never
/// applied; at most `budget` bytes are read.
std::vector<Finding> assemblyFindings(const TensorSource &a, const TensorSource &b,
                                      std::uint64_t budget, std::stop_token stop);

} // namespace forkpoint
