// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/limits.h"
#include "loaders/storage/byte_source.h"
#include "model/tensor_ref.h"

#include <memory>
#include <span>
#include <stop_token>

namespace forkpoint {

/// Tells tensors of ranks that are copies of one from those that merely share a name, by their bytes.
/// What was read counts against `mostBytes`; beyond that stretches at three places of what is left
/// of a tensor are read, so that what is unlike all over is still seen. Only `false` is certain:
/// copies that were not read to their end must be compared before they pass as one
/// (checkReplicas()).
class CopyGuess
{
public:
    explicit CopyGuess(std::stop_token stop, std::uint64_t mostBytes = limits::ReplicaBytes)
        : m_stop(std::move(stop)),
          m_left(mostBytes)
    {
    }

    /// False where dtype, shape or a byte that was read is unlike, or where one cannot be read.
    bool mayBeCopies(const TensorRef &a, const TensorRef &b,
                     std::span<const std::shared_ptr<const ByteSource>> files);

private:
    std::stop_token m_stop;
    std::uint64_t m_left; ///< bytes of one copy that may still be read
};

} // namespace forkpoint
