// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/traces/trace_comparison.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>

namespace forkpoint {

/// Records without a partner of one rank and iteration, until both sides were read to their ends:
/// only then is known whether the other side may have lost them.
class LoneRecords
{
public:
    /// Those of one side, stage and micro-batch, before or behind the last pair.
    struct Sum
    {
        RecordName first; ///< of them
        RecordRole role = RecordRole::Tensor;
        std::uint64_t ordinal = 0; ///< of the first
        std::uint64_t count = 0;
        bool isA = false;
        bool isBehind = false; ///< no later record met a partner
        bool isPlaced = true;  ///< of all: they tell the order
    };

    /// A pair at that place: what stands before it is behind the last pair no more.
    void meet(std::uint64_t ordinal);
    void add(const TraceRecord &record, bool isA, std::uint64_t ordinal);

    std::vector<Sum> sums() const;
    /// Whether one side has records behind the last pair.
    bool hasBehind(bool isA) const;

private:
    using Key = std::tuple<bool, std::string, std::optional<std::int64_t>>;
    using Sums = std::map<Key, Sum>;

    static void add(Sums &sums, const Key &key, const Sum &sum);
    static Key keyIn(const Sums &sums, Key key);

    Sums m_before, m_behind;
    std::uint64_t m_lastPair = 0;
    bool m_hasMet = false;
};

} // namespace forkpoint
