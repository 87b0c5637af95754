// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/traces/trace_record.h"

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace forkpoint {

/// Numbers of records that count from 0 through a file, by a counter that threads share without a lock:
/// two records may have swapped numbers, or one number and leave out the next. What is missing is what
/// no such swap explains.
class SequenceGaps
{
public:
    struct Gap
    {
        TracePlace place;                  ///< of the record behind it
        std::uint64_t first = 0, last = 0; ///< numbers of which none, or not all, were seen
        std::uint64_t missing = 0;         ///< of these
        std::set<std::uint64_t> known;     ///< of these, which are not missing
    };

    /// "has seq_id 7: 2 records before it from seq_id 5 on are missing"; `key` holds the number.
    static std::string words(const Gap &gap, std::string_view key);

    void see(std::uint64_t number, const TracePlace &place);
    /// After the last record: those that are left, rising.
    const std::vector<Gap> &gaps() const { return m_gaps; }

private:
    bool explain(std::uint64_t number);

    std::vector<Gap> m_gaps;
    std::uint64_t m_next = 0;  ///< above every number seen
    std::uint64_t m_spare = 0; ///< records that share the number right below it
};

} // namespace forkpoint
