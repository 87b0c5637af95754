// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/bytes.h"
#include "model/compare/diff_stats.h"
#include "model/digest.h"
#include "model/dtype.h"
#include "model/tolerance.h"

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace forkpoint {

/// Memory to read into, and how it is given back. Does not outlive the backend that lent it.
using HostBuffer = std::unique_ptr<std::byte[], std::function<void(std::byte *)>>;

/// What a measurement is to find out beside what it always does.
struct DiffOptions
{
    Tolerance tolerance;
    bool magnitudes = true; ///< count |a| and |b| too; they cost about as much as all the rest
};

/// Pairs of one dtype, from `firstElement` on.
struct PairPiece
{
    const DType &dtype;
    ByteView a, b;
    Index firstElement = 0;
    Index elements = 0;
};

/// Fills digests and statistics of pieces; everything above a piece is folded by one code on the
/// host. All backends give the same bits. Functions may be called from several threads at once.
class ComputeBackend
{
public:
    virtual ~ComputeBackend() = default;

    /// "CPU, AVX2" - for the status line and standard error, never for a report.
    virtual std::string description() const = 0;

    /// XXH3-128 (seed 0) of `data`.
    virtual Digest128 hash(ByteView data) const = 0;

    /// XXH3-128 of the consecutive leaves of `data`; the last one may be short.
    /// leaves.size() == ceil(data.size() / LeafBytes).
    virtual void hashLeaves(ByteView data, std::span<Digest128> leaves) const = 0;

    /// Statistics of `elements` pairs of one dtype, appended to `stats`, which hold nothing or what
    /// precedes in the same unit. `firstElement` is a multiple of leafElements(), and the count of
    /// all pieces but the tensor's last is a power of two of them. Elements narrower than a byte
    /// begin at bit 0 of both views.
    virtual void diff(const DType &dtype, ByteView a, ByteView b, Index firstElement,
                      Index elements, const DiffOptions &options, DiffStats &stats) const = 0;

    /// hashLeaves() of each side whose leaves are asked for (no empty span) and diff(), of a piece
    /// that begins a leaf: at once where that saves bringing the bytes to a device twice.
    virtual void hashAndDiff(const PairPiece &piece, const DiffOptions &options,
                             std::span<Digest128> leavesA, std::span<Digest128> leavesB,
                             DiffStats &stats) const;

    // How a device wants to be fed; none of it changes a result.

    /// Memory that pieces are best read into; what it holds at first is unspecified.
    virtual HostBuffer hostBuffer(std::size_t size) const;
    /// Bytes of one side that a piece had better have; 0: what suits the processor's caches.
    virtual std::uint64_t pieceBytes() const { return 0; }
    /// Threads that may wait for a device at a time, beside those that keep the processor busy.
    virtual std::size_t waitingThreads() const { return 0; }

    /// What went wrong so far and was made good, one line each: a device that was lost.
    virtual std::vector<std::string> incidents() const { return {}; }
};

/// Bytes of a fingerprint leaf (fingerprint version 1).
constexpr std::uint64_t LeafBytes = 65536;
/// Parts of a statistics block.
constexpr Index BlockParts = 2048;

/// Elements of one aligned unit of statistics work for that type: a power of two of blocks, about
/// 8 MiB of logical bytes.
Index unitElements(const DType &dtype);

/// Elements of one stretch of LeafFacts: of types of 1, 2, 4, ... bytes or bits those of a
/// fingerprint leaf, of others the largest power of two of blocks that fits into one.
Index leafElements(const DType &dtype);

} // namespace forkpoint
