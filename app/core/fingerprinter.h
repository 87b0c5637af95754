// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compare/known_digests.h"
#include "model/compare/verdict.h"
#include "model/executor.h"
#include "model/fingerprint.h"
#include "model/progress.h"

#include <functional>
#include <optional>
#include <stop_token>
#include <vector>

namespace forkpoint {

/// Where what was fingerprinted on the way is kept, so that an interrupted run goes on.
class FingerprintJournal
{
public:
    virtual ~FingerprintJournal() = default;
    virtual std::optional<RecordedDigests> find(const TensorSource &source, TensorIndex tensor) = 0;
    virtual void add(const TensorSource &source, TensorIndex tensor,
                     const RecordedDigests &digests) = 0;

protected:
    FingerprintJournal() = default;
};

/// What a fingerprint is to find out beside the digests, and what may spare reading.
struct FingerprintWork
{
    /// Keep the nodes of this level, and count facts of floats: for a fingerprint file.
    std::optional<std::uint32_t> keptLevel;
    KnownDigests *known = nullptr; ///< spares reading where nothing is kept
    FingerprintJournal *journal = nullptr;
};

struct Fingerprints
{
    std::vector<std::optional<RecordedDigests>> tensors; ///< parallel to the catalogue's
    std::size_t resumed = 0;                             ///< of these, found in the journal
    Strength strength = Strength::Xxh3;                  ///< the weakest of all
    Diagnostics diagnostics;
    bool finished = false; ///< false: stopped
};

/// Fingerprints all tensors of a source: a batch of ranges in parallel at a time. What a
/// fingerprint file recorded is taken from it.
Fingerprints fingerprintTensors(const TensorSource &source, const FingerprintWork &work,
                                const ComputeBackend &backend, Executor &executor,
                                std::stop_token stop,
                                const std::function<void(const Progress &)> &progress);

} // namespace forkpoint
