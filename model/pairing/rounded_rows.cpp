// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/pairing/rounded_rows.h"

#include "model/pairing/rounded_copy.h"

#include <algorithm>

namespace forkpoint {

namespace {

constexpr Index PieceElements = 1u << 20;
constexpr std::uint64_t BatchBytes = 64u << 20;

bool isCandidate(const TensorRow &row)
{
    return row.stats && !row.comparedAs.empty() && row.elements > 0 && row.dtypeA.isFloating()
        && row.dtypeB.isFloating() && row.dtypeA.bits % 8 == 0 && row.dtypeB.bits % 8 == 0
        && row.dtypeA.bits != row.dtypeB.bits;
}

} // namespace

std::uint64_t RoundedRows::plan(const CheckpointComparison &comparison)
{
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < comparison.tensors.size(); ++i) {
        const TensorRow &row = comparison.tensors[i];
        if (!isCandidate(row))
            continue;
        const std::uint64_t width = (row.dtypeA.bits + row.dtypeB.bits) / 8;
        for (Index first = 0; first < row.elements; first += PieceElements) {
            const Index count = std::min(PieceElements, row.elements - first);
            m_pieces.push_back({m_candidates.size(), first, count, count * width});
            bytes += count * width;
        }
        m_candidates.push_back({i, *row.a, *row.b, row.comparedAs == row.dtypeA.name});
    }
    return bytes;
}

/// Nothing where it could not be read; a candidate that is none is not read on.
std::optional<bool> RoundedRows::look(const Piece &piece, const std::stop_token &stop) const
{
    const Candidate &candidate = m_candidates[piece.candidate];
    if (!candidate.holds || stop.stop_requested())
        return false;
    const SourcedTensor a{&m_a, candidate.a}, b{&m_b, candidate.b};
    return isRoundedCopy(candidate.wideIsA ? a : b, candidate.wideIsA ? b : a,
                         {piece.first, piece.count}, stop);
}

std::optional<std::uint64_t> RoundedRows::advance(Executor &executor, std::stop_token stop)
{
    if (m_next == m_pieces.size())
        return std::nullopt;
    std::uint64_t bytes = 0;
    std::size_t end = m_next;
    while (end < m_pieces.size() && bytes < BatchBytes)
        bytes += m_pieces[end++].bytes;
    std::vector<char> holds(end - m_next, 0);
    executor.forEach(holds.size(), [&](std::size_t i) {
        holds[i] = look(m_pieces[m_next + i], stop).value_or(false);
    });
    if (stop.stop_requested())
        return 0;
    for (std::size_t i = 0; i < holds.size(); ++i)
        m_candidates[m_pieces[m_next + i].candidate].holds &= holds[i] != 0;
    m_next = end;
    if (m_next == m_pieces.size()) {
        for (const Candidate &candidate : m_candidates) {
            if (candidate.holds)
                m_rows.push_back(candidate.row);
        }
    }
    return bytes;
}

} // namespace forkpoint
