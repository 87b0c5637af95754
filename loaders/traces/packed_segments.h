// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/traces/record_form.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace forkpoint {

/// Records of segments that are all of known forms, packed while a trace is indexed: some 20 bytes each, where
/// their lines have some hundred, so that who reads a segment later need not read its lines again. A segment in
/// which one record has no form is not kept, nor one for which there is no room
/// (limits::TracePackedBytes): it is read from its file.
class PackedSegments
{
public:
    PackedSegments() = default;
    PackedSegments(const PackedSegments &) = delete;
    PackedSegments &operator=(const PackedSegments &) = delete;
    ~PackedSegments();

    /// The next record of the segment at hand.
    void add(const FormedRecord &record);
    /// One of it that has no form, or that could not be read.
    void spoil() { m_isSpoilt = true; }
    /// The segment at hand began at `begin` and has ended.
    void endSegment(const TracePlace &begin);
    /// The last one has.
    void finish();

    /// The records of a segment that begins there, one after the other; nullptr where it is not kept.
    /// Valid as long as this.
    std::unique_ptr<FormedCursor> open(const TracePlace &begin,
                                       std::optional<std::int64_t> iteration) const;

private:
    class Cursor;
    struct Known
    {
        const RecordForm *form = nullptr;
        std::size_t next = 0; ///< what came behind it the last time
    };

    std::size_t numberOf(const RecordForm &form);

    std::vector<Known> m_forms;
    std::unordered_map<const RecordForm *, std::size_t> m_numbers; ///< into m_forms
    std::map<std::pair<std::uint32_t, std::uint64_t>, std::string>
        m_segments;          ///< by file and first byte
    std::size_t m_taken = 0; ///< of what all traces of the process may take
    bool m_isFull = false;

    // Of the segment at hand:
    std::string m_bytes;
    std::size_t m_last = 0; ///< form
    TracePlace m_place;     ///< of the last record
    std::uint64_t m_sequence = 0;
    bool m_isSpoilt = false;
};

} // namespace forkpoint
