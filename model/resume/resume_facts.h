// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compare/comparison.h"
#include "model/compare/finding.h"
#include "model/resume/resume_fact.h"
#include "model/tensor_source.h"

#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

namespace forkpoint {

/// What a resumed run needs, as it stands in a pair or in one checkpoint: weights, masters, moments,
/// counters, schedule, data position, loss scaler, settings and each generator, decoded where the
/// bytes allow, and whether each checkpoint agrees with itself. Which names are what is a table,
/// resources/rules/resume_roles.txt. Reads small items, and of the masters with their weights at most
/// `masterBytes` a side. Rows that have nothing to tell are left out.
std::vector<ResumeFact> resumeFacts(const CheckpointComparison &comparison, const TensorSource &a,
                                    const TensorSource &b, std::uint64_t masterBytes,
                                    std::stop_token stop);
std::vector<ResumeFact> resumeFacts(const TensorSource &source, std::uint64_t masterBytes,
                                    std::stop_token stop);

/// " B contradicts itself, and A does not: optimizer step (2 against iteration 8), ..." where of a pair
/// one alone does, to stand behind what differs first; else empty.
std::string contradictionOfOneSide(const std::vector<ResumeFact> &facts);

/// Where generators stand apart, and where a checkpoint contradicts itself.
std::vector<Finding> resumeFindings(const std::vector<ResumeFact> &facts, bool pair);

} // namespace forkpoint
