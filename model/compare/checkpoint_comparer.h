// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compare/comparison.h"
#include "model/executor.h"
#include "model/progress.h"
#include "model/tensor_source.h"

#include <memory>
#include <stop_token>

namespace forkpoint {

/// Compares two opened checkpoints, a batch at a time, so that its owner can look at other requests
/// between batches. Steps, in order:
///  1. pair the catalogues; decide what needs no bytes (one-sided, unlike shapes, unreadable);
///  2. read both sides of every pair, the largest first, in one pass: fingerprints, byte equality,
///     and the statistics of what differs (of all with options.full). What is equal before a pair's
///     first difference is read again, from A;
///  3. join what is still unpaired on both sides by content;
///  4. measure what could not be while it was read: opaque types, and joined pairs with
///     options.full;
///  5. read what both sides have of tensors whose last shards one may lack;
///  6. values, findings, verdict.
/// The result is the same for every batch size and thread count.
class CheckpointComparer
{
public:
    CheckpointComparer(std::shared_ptr<const TensorSource> a, std::shared_ptr<const TensorSource> b,
                       CompareOptions options, const ComputeBackend &backend, Executor &executor);
    ~CheckpointComparer();
    CheckpointComparer(const CheckpointComparer &) = delete;
    CheckpointComparer &operator=(const CheckpointComparer &) = delete;

    /// Does one batch (at most about 64 MiB of reading). False when there is nothing left to do.
    bool advance(std::stop_token stop);
    Progress progress() const;
    /// What is known so far; its verdict is final only when `finished`.
    CheckpointComparison snapshot() const;
    /// The same when nothing is left to do, once: what there may be millions of is not copied.
    CheckpointComparison take();

private:
    struct State;
    std::unique_ptr<State> m_state;
};

} // namespace forkpoint
