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

SharedRows::Look SharedRows::look(const TensorRow &row, const Piece &piece,
                                  const std::stop_token &stop) const
{
    PairOfTensors pair;
    pair.a = SourcedTensor{&m_a, *row.a};
    pair.b = SourcedTensor{&m_b, *row.b};
    LeafReading reading = readLeaves(pair, {piece.first, piece.size}, m_backend, false, stop);
    Look result;
    if (reading.errorA || reading.errorB) {
        const bool onA = reading.errorA.has_value();
        result.found = Found::Unread;
        result.error =
            std::move(onA ? *reading.errorA : *reading.errorB)
                .atPlace("tensor '" + (onA ? row.nameA : row.nameB) + "' of " + (onA ? "A" : "B"));
    }
    if (reading.differs)
        result.found = Found::Different;
    return result;
}

void SharedRows::take(CheckpointComparison &comparison, const Piece &piece, Look look)
{
    if (piece.first == 0)
        m_sofar = {};
    if (m_sofar.found != Found::Different && look.found != Found::Equal)
        m_sofar.found = look.found;
    if (look.error && !m_sofar.error) {
        comparison.diagnostics.push_back(toDiagnostic(*look.error, Severity::Error));
        m_sofar.error = std::move(look.error);
    }
    if (!piece.isLast)
        return;
    TensorRow &row = comparison.tensors[piece.row];
    if (m_sofar.found == Found::Unread) {
        row.reason +=
            "; the rows that both sides have were not read to the end: " + m_sofar.error->message();
    } else if (m_sofar.found == Found::Different) {
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
    const Piece &next = m_pieces[m_next];
    const bool isKnown = next.first > 0 && m_sofar.found == Found::Different;
    const auto isRead = [&](const Piece &piece) { return !isKnown || piece.row != next.row; };
    std::uint64_t bytes = 0, read = 0;
    std::size_t end = m_next;
    for (; end < m_pieces.size() && read < BatchBytes; ++end) {
        bytes += 2 * m_pieces[end].size;
        read += isRead(m_pieces[end]) ? 2 * m_pieces[end].size : 0;
    }
    std::vector<Look> looks(end - m_next);
    executor.forEach(looks.size(), [&](std::size_t i) {
        const Piece &piece = m_pieces[m_next + i];
        if (isRead(piece))
            looks[i] = look(comparison.tensors[piece.row], piece, stop);
    });
    if (stop.stop_requested())
        return 0;
    for (std::size_t i = 0; i < looks.size(); ++i)
        take(comparison, m_pieces[m_next + i], std::move(looks[i]));
    m_next = end;
    return bytes;
}

} // namespace forkpoint
