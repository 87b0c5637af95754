// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compare/comparison.h"
#include "model/executor.h"
#include "model/tensor_source.h"

#include <cstdint>
#include <optional>
#include <stop_token>
#include <vector>

namespace forkpoint {

/// Of which pairs of two floating-point types the narrower tensor is the wider one rounded to
/// nearest, ties to even, bit for bit. Reads both once more, in pieces, up to the first that is not.
class RoundedRows
{
public:
    RoundedRows(const TensorSource &a, const TensorSource &b) : m_a(a), m_b(b) {}

    /// Looks for such pairs among rows that were measured; how many bytes they have.
    std::uint64_t plan(const CheckpointComparison &comparison);
    /// Reads one batch; how many of those bytes are done with then. Nothing where all are. A batch
    /// that is stopped is done again by the next call.
    std::optional<std::uint64_t> advance(Executor &executor, std::stop_token stop);
    /// Positions of the rows, rising. Complete when there is nothing left to read.
    const std::vector<std::size_t> &rows() const { return m_rows; }

private:
    struct Candidate
    {
        std::size_t row = 0;
        TensorIndex a = 0, b = 0;
        bool wideIsA = false, holds = true;
    };
    struct Piece
    {
        std::size_t candidate = 0;
        Index first = 0, count = 0;
        std::uint64_t bytes = 0;
    };

    std::optional<bool> look(const Piece &piece, const std::stop_token &stop) const;

    const TensorSource &m_a, &m_b;
    std::vector<Candidate> m_candidates;
    std::vector<Piece> m_pieces;
    std::size_t m_next = 0;
    std::vector<std::size_t> m_rows;
};

} // namespace forkpoint
