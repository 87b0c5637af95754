// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compare/comparison.h"
#include "model/compute_backend.h"
#include "model/executor.h"
#include "model/tensor_source.h"

#include <cstdint>
#include <optional>
#include <stop_token>
#include <vector>

namespace forkpoint {

/// Of tensors that are not compared because the last shards of a side may be missing
/// (model/pairing/shard_shapes.h): the rows that both sides have. Where these differ, the tensor does,
/// and is partly read; where they are equal, it stays not compared, and its reason says so.
class SharedRows
{
public:
    SharedRows(const TensorSource &a, const TensorSource &b, const ComputeBackend &backend)
        : m_a(a),
          m_b(b),
          m_backend(backend)
    {
    }

    /// Looks for such tensors; how many bytes they have.
    std::uint64_t plan(const CheckpointComparison &comparison);
    /// Reads one batch and decides what is read to its end; how many of those bytes are done with
    /// then. Nothing where all are. Of a row that was seen to differ nothing more is read. A batch that is stopped is done again by the next call.
    std::optional<std::uint64_t> advance(CheckpointComparison &comparison, Executor &executor,
                                         std::stop_token stop);

private:
    struct Piece
    {
        std::size_t row = 0;
        std::uint64_t first = 0, size = 0; ///< bytes of each side
        bool isLast = false;
    };
    enum class Found : char { Equal, Different, Unread };
    struct Look
    {
        Found found = Found::Equal;
        std::optional<Error> error; ///< of what was not read
    };

    bool isShared(const TensorRow &row) const;
    Look look(const TensorRow &row, const Piece &piece, const std::stop_token &stop) const;
    void take(CheckpointComparison &comparison, const Piece &piece, Look look);

    const TensorSource &m_a, &m_b;
    const ComputeBackend &m_backend;
    std::vector<Piece> m_pieces;
    std::size_t m_next = 0;
    Look m_sofar; ///< of the row whose pieces are taken; its first error
};

} // namespace forkpoint
