// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/trace_record.h"

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
    /// Those of one side, stage and micro-batch.
    struct Sum
    {
        TraceRecord first; ///< of them; without its tensors and values
        std::uint64_t ordinal = 0;
        bool isA = false;
        std::uint64_t count = 0;
    };
    using Key = std::tuple<bool, std::string, std::optional<std::int64_t>>;

    void add(const TraceRecord &record, bool isA, std::uint64_t ordinal);
    const std::map<Key, Sum> &sums() const { return m_sums; }

private:
    std::map<Key, Sum> m_sums;
};

} // namespace forkpoint
