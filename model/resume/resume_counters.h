// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/resume/resume_fact.h"
#include "model/resume/resume_items.h"

#include <optional>
#include <string>
#include <vector>

namespace forkpoint {

/// How often the parameters of one optimizer were updated: the smallest and the largest count, of
/// the first so many parameters.
struct UpdateCounts
{
    double least = 0, most = 0;
    std::size_t count = 0; ///< parameters that were looked at
    bool isCut = false;    ///< there are more

    bool isAlike() const { return count > 0 && least == most; }
    std::string toString() const; ///< "100 (of 6 parameters)"; empty without any
};

/// One optimizer of a pair or of one checkpoint.
struct OptimizerCounts
{
    std::string optimizer; ///< "optimizer_states.0"; of ranks one name for all
    std::vector<const ResumeItem *> items;
    UpdateCounts a, b;
};

/// By optimizer, in the order of the items, which are the counts of each parameter. Reads some
/// thousand of them a side.
std::vector<OptimizerCounts> countUpdates(const std::vector<const ResumeItem *> &steps,
                                          const ResumeSide &a, const ResumeSide &b);

/// What the counters of one side are held against.
struct CounterReference
{
    std::optional<double> iteration, epoch, globalBatch;
    std::string iterationName;   ///< "iteration", or "optimizer step" in its place
    std::size_t processes = 0;   ///< of accelerate; 0 where another wrote it
    bool batchIsProduct = false; ///< of settings, which may lack how many replicas there were
    /// Updates of each optimizer, as far as they are alike for all of its parameters.
    std::vector<std::optional<double>> updates;
};

/// A counter of that role. Where several optimizers take turns, each with a count and perhaps a
/// schedule of its own, what belongs to what is not recorded: a count that none of them explains is
/// then not called a contradiction.
SelfCheck checkCounter(const ResumeItem &item, double number, ResumeRole role,
                       const CounterReference &reference);

/// The updates of one optimizer against the iteration, which may count those of all.
SelfCheck checkUpdates(const UpdateCounts &counts, const CounterReference &reference);

} // namespace forkpoint
