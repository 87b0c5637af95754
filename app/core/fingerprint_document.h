// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/open_side.h"
#include "app/core/tensor_digests.h"
#include "model/fingerprint.h"

#include <string>
#include <vector>

namespace forkpoint {

/// Fingerprints of everything a path holds: the document "forkpoint.fingerprint/1".
struct FingerprintDocument
{
    std::string path;
    std::optional<ChosenCheckpoint> chosen;
    std::vector<std::optional<TensorFingerprint>> fingerprints; ///< parallel to the tensors
    std::vector<TensorDigests> digests;                         ///< parallel, or empty
    std::optional<CheckpointFingerprint>
        checkpoint; ///< only when every tensor is listed and was read
    Diagnostics diagnostics;

    bool allRead() const { return checkpoint.has_value(); }
};

FingerprintDocument fingerprint(const std::string &path, const OpenOptions &options,
                                std::optional<Step> step, const std::vector<std::string> &with,
                                const ComputeBackend &backend, Executor &executor,
                                std::stop_token stop,
                                const std::function<void(const Progress &)> &progress);

std::string fingerprintJson(const FingerprintDocument &document);
std::string fingerprintText(const FingerprintDocument &document);

} // namespace forkpoint
