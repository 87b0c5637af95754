// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/session_jobs.h"

namespace forkpoint {

// Jobs about one pair of tensors, or about the tensors of one step.

JobBatch pairFactsBatch(SessionInputs inputs, PairAddress address,
                        std::shared_ptr<const DiffStats> known, Deliver<PairFacts> deliver);
JobBatch elementsBatch(SessionInputs inputs, PairAddress address, ElementQuery query,
                       Deliver<std::shared_ptr<const ElementPage>> deliver);
JobBatch nextDifferenceBatch(SessionInputs inputs, PairAddress address, Index from, bool backward,
                             Deliver<std::optional<Index>> deliver);
JobBatch mapBatch(SessionInputs inputs, PairAddress address, MapQuery query,
                  Deliver<std::shared_ptr<const ElementMap>> deliver);
JobBatch layoutBatch(SessionInputs inputs, PairAddress address,
                     Deliver<std::shared_ptr<const PairLayout>> deliver);
JobBatch historyBatch(SessionInputs inputs, std::string nameA, std::string nameB,
                      Deliver<std::shared_ptr<const TensorHistory>> deliver);
JobBatch nonFiniteBatch(SessionInputs inputs, std::optional<Step> step,
                        std::shared_ptr<const CheckpointComparison> comparison,
                        Deliver<std::shared_ptr<const NonFiniteFindings>> deliver);

} // namespace forkpoint
