// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/executor.h"
#include "model/progress.h"
#include "model/tensor_source.h"

#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace forkpoint {

/// Digests of one tensor's logical bytes, by the names of tensorDigestInfos().
struct TensorDigests
{
    std::map<std::string, std::string> byName; ///< as their tools write them
    std::map<std::string, std::string> absent; ///< why there is none of that name
    std::optional<Error> error;                ///< the bytes could not be read
};

/// Hands the logical bytes of a readable tensor over, piece by piece, in bounded memory.
Status readPieces(const TensorSource &source, TensorIndex index, const std::stop_token &stop,
                  const std::function<void(ByteView)> &take);

/// Reads every readable tensor once, in bounded memory, several tensors at a time. Tensors that
/// the catalogue calls unreadable get that as their error.
std::vector<TensorDigests> digestTensors(const TensorSource &source,
                                         const std::vector<std::string> &names, Executor &executor,
                                         std::stop_token stop,
                                         const std::function<void(const Progress &)> &progress);

} // namespace forkpoint
