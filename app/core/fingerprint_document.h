// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/fingerprinter.h"
#include "app/core/open_side.h"
#include "app/core/tensor_digests.h"

#include <string>
#include <vector>

namespace forkpoint {

/// What is asked of a path, and by which means.
struct FingerprintRequest
{
    std::string path;
    OpenOptions open;
    std::optional<Step> step;
    std::vector<std::string> with; ///< names of digests that other tools record
    std::shared_ptr<KnownDigests> known;
};

/// Fingerprints of everything a path holds: the document "forkpoint.fingerprint/1".
struct FingerprintDocument
{
    std::string path;
    std::optional<ChosenCheckpoint> chosen;
    std::vector<std::optional<TensorFingerprint>> fingerprints; ///< parallel to the tensors
    Strength strength = Strength::Xxh3;                         ///< the weakest of them
    std::vector<std::string> with;
    std::vector<TensorDigests> digests; ///< parallel, or empty
    std::optional<CheckpointFingerprint>
        checkpoint; ///< only when every tensor is listed and was read
    Diagnostics diagnostics;

    /// Of a series: which of its checkpoints this is.
    std::optional<Step> step() const
    {
        return chosen && chosen->run->isSeries() ? chosen->run->steps()[chosen->index].step
                                                 : std::nullopt;
    }
    bool allRead() const { return checkpoint.has_value(); }
};

FingerprintDocument fingerprint(const FingerprintRequest &request, const ComputeBackend &backend,
                                Executor &executor, std::stop_token stop,
                                const std::function<void(const Progress &)> &progress);

/// Takes over what was fingerprinted of the chosen checkpoint: every fingerprint, and what else is
/// asked of its bytes.
void takeFingerprints(FingerprintDocument &document, const FingerprintRequest &request,
                      const Fingerprints &prints, const ComputeBackend &backend, Executor &executor,
                      std::stop_token stop, const std::function<void(const Progress &)> &progress);

/// Lets an index learn what was read, if the files are still what they were; else a diagnostic.
bool checkUnchanged(const TensorSource &source, const Fingerprints &prints, KnownDigests *known,
                    Executor &executor, Diagnostics &diagnostics);

std::string fingerprintJson(const FingerprintDocument &document);
std::string fingerprintText(const FingerprintDocument &document);

} // namespace forkpoint
