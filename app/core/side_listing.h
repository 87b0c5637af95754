// SPDX-License-Identifier: GPL-3.0-or-later
// What sides hold, where nothing is compared.
#pragma once

#include "app/core/session_jobs.h"
#include "app/core/step_pair.h"

namespace forkpoint {

/// A result of its own that says why two steps cannot be compared.
std::shared_ptr<const CheckpointComparison> notComparable(std::string reason);

/// What a reason goes on with, of each side.
struct SideTexts
{
    std::string a, b;
};

/// The tensors and values of the sides that are there, none of them compared, for one reason. Each
/// side has rows of its own, A's first: what was refused as a pair is none row by row either.
std::shared_ptr<const CheckpointComparison> listedSides(const OpenedPair &opened,
                                                        const std::string &reason,
                                                        const CompareOptions &options,
                                                        const SideTexts &besides = {});

/// Why a step is not there on both sides: one lacks it, or could not be read.
std::string whyOneSided(const SessionInputs &inputs, const OpenedPair &opened,
                        std::optional<Step> step);

/// Delivers the same of a step, or of the newest complete one: of the sides that are open. Fails
/// where what is open could not be read.
JobBatch listSidesBatch(
    SessionInputs inputs, std::optional<Step> step, std::string reason,
    std::function<void(std::optional<Step>, std::shared_ptr<const CheckpointComparison>)> deliver);

} // namespace forkpoint
