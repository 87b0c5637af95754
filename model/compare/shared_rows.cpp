// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/compare/shared_rows.h"

#include "model/compare/pair_reading.h"

#include <algorithm>

namespace forkpoint {

namespace {

constexpr std::uint64_t PieceBytes = 16u << 20, BatchBytes = 64u << 20;
static_assert(PieceBytes % LeafBytes == 0);

} // namespace

/// Shapes are unlike along the first axis alone, so that what both have is a beginning of both.
bool SharedRows::isShared(const TensorRow &row) const
{
    const auto &dimsA = row.shapeA.dims, &dimsB = row.shapeB.dims;
    if (row.status != ItemStatus::NotCompared || !row.notComparable || !row.a || !row.b
        || row.dtypeA != row.dtypeB || row.dtypeA.bits % 8 != 0 || dimsA.empty()
        || dimsA.size() != dimsB.size() || dimsA.front() == dimsB.front()
        || !std::equal(dimsA.begin() + 1, dimsA.end(), dimsB.begin() + 1))
        return false;
    const TensorRef &a = m_a.catalog().tensors[*row.a], &b = m_b.catalog().tensors[*row.b];
    const Catalog &shorter = dimsA.front() < dimsB.front() ? m_a.catalog() : m_b.catalog();
    return shorter.format == "safetensors-shards" && !a.unreadable && !b.unreadable
        && !m_a.recorded(*row.a) && !m_b.recorded(*row.b) && std::min(a.bytes, b.bytes) > 0;
}

std::uint64_t SharedRows::plan(const CheckpointComparison &comparison)
{
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < comparison.tensors.size(); ++i) {
        const TensorRow &row = comparison.tensors[i];
        if (!isShared(row))
            continue;
        const std::uint64_t shared =
            std::min(m_a.catalog().tensors[*row.a].bytes, m_b.catalog().tensors[*row.b].bytes);
        for (std::uint64_t first = 0; first < shared; first += PieceBytes)
            m_pieces.push_back({i, first, std::min(PieceBytes, shared - first), false});
        m_pieces.back().isLast = true;
        bytes += 2 * shared;
    }
    return bytes;
}

SharedRows::Found SharedRows::look(const TensorRow &row, const Piece &piece,
                                   const std::stop_token &stop) const
{
    PairOfTensors pair;
    pair.a = SourcedTensor{&m_a, *row.a};
    pair.b = SourcedTensor{&m_b, *row.b};
    const LeafReading reading = readLeaves(pair, {piece.first, piece.size}, m_backend, false, stop);
    return reading.differs                 ? Found::Different
        : reading.errorA || reading.errorB ? Found::Unread
                                           : Found::Equal;
}

void SharedRows::take(TensorRow &row, const Piece &piece, Found found)
{
    if (piece.first == 0 || (m_sofar != Found::Different && found != Found::Equal))
        m_sofar = found;
    if (!piece.isLast)
        return;
    if (m_sofar == Found::Unread)
        return;
    if (m_sofar == Found::Different) {
        row.status = ItemStatus::Different;
        row.notComparable = false;
        row.partlyRead = true;
        row.reason = "the rows that both sides have differ; " + row.reason;
    } else {
        row.reason += "; the rows that both sides have are equal";
    }
}

std::optional<std::uint64_t> SharedRows::advance(CheckpointComparison &comparison,
                                                 Executor &executor, std::stop_token stop)
{
    if (m_next == m_pieces.size())
        return std::nullopt;
    std::uint64_t bytes = 0;
    std::size_t end = m_next;
    while (end < m_pieces.size() && bytes < BatchBytes)
        bytes += 2 * m_pieces[end++].size;
    std::vector<Found> found(end - m_next, Found::Equal);
    executor.forEach(found.size(), [&](std::size_t i) {
        const Piece &piece = m_pieces[m_next + i];
        found[i] = look(comparison.tensors[piece.row], piece, stop);
    });
    if (stop.stop_requested())
        return 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
        const Piece &piece = m_pieces[m_next + i];
        take(comparison.tensors[piece.row], piece, found[i]);
    }
    m_next = end;
    return bytes;
}

} // namespace forkpoint
