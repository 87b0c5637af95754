// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/fingerprint_document.h"

namespace forkpoint {

/// The level of the tree that a fingerprint file keeps of so many bytes: the leaves (64 KiB) up to
/// 256 GiB, else the nodes over them (16 MiB), so that digests take at most 64 MiB, and 1 MiB a
/// TiB beyond.
std::uint32_t fpxLevel(std::uint64_t bytes);

struct FingerprintFile
{
    FingerprintDocument shown; ///< of the step asked for, else of the newest complete one
    bool written = false;      ///< with everything that could be read
    bool allRead = false;      ///< every listed tensor of every step was
    std::size_t wentOn = 0;    ///< tensors that an interrupted run had done
};

/// Fingerprints a run, every step or the one asked for, into the file `out`. What is interrupted
/// leaves FileJournal's file, from which the same call goes on unless `believe` is false.
FingerprintFile fingerprintToFile(const FingerprintRequest &request, const std::string &out,
                                  bool believe, const ComputeBackend &backend, Executor &executor,
                                  std::stop_token stop,
                                  const std::function<void(const Progress &)> &progress);

} // namespace forkpoint
