// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compare/comparison.h"
#include "model/compare/pair_reading.h"

#include <optional>
#include <string>
#include <vector>

namespace forkpoint {

/// What stands for the bytes of one side of a row.
struct SideEvidence
{
    std::optional<Digest128> content; ///< known without reading
    Strength strength = Strength::Bytes;
    const RecordedDigests *recorded = nullptr; ///< not null: there are no bytes, only these
};

struct RowEvidence
{
    SideEvidence a, b;

    bool withoutBytes() const { return a.recorded || b.recorded; }
    bool any() const { return a.content || b.content; }
    /// The weaker one's.
    Strength strength() const { return std::min(a.strength, b.strength); }
};

/// What the sources recorded, else what is remembered of them.
RowEvidence evidenceOf(const TensorRow &row, const TensorSource &a, const TensorSource &b,
                       KnownDigests *known);

/// Whether nothing needs to be read of a pair whose digests are both known: equal where no
/// statistics of equal pairs are wanted, different where none are at all.
bool decidedByDigests(const RowEvidence &evidence, const MeasuredAs &as, bool measureEqual,
                      bool measureDifferent);

/// The contents of both sides of a pair, and of a side that was read beside a fingerprint file's
/// the nodes of that file's level.
struct PairOfContents
{
    Digest128 a, b;
    std::vector<Digest128> nodesRead;
};

/// Decides a pair by its digests. What differs without bytes says in which stretches, as far as the
/// recorded nodes tell, and what was recorded of either side; whether it is within a tolerance
/// cannot be said then.
void decideByDigests(TensorRow &row, const MeasuredAs &as, const RowEvidence &evidence,
                     const PairOfContents &contents, bool toleranceAsked,
                     const ComputeBackend &backend);

} // namespace forkpoint
