// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/traces/own_segment.h"
#include "model/traces/trace_record.h"

#include <algorithm>
#include <memory>
#include <string>

namespace forkpoint {

/// Makes records of the rows of a segment, one after the other.
class OwnRecords
{
public:
    /// Begins with the record of that number, from 0. `file`: what payloads are said to lie in.
    OwnRecords(std::shared_ptr<const OwnSegment> segment, std::string file, std::uint64_t first);

    bool atEnd() const { return position() >= m_segment->part().records; }
    std::uint64_t position() const
    {
        return std::max(m_at.record, m_first);
    } ///< of the next record
    /// Fills everything but the place. The text is what is wrong with the row, empty if nothing is;
    /// the next row is read in any case. An error means that reading failed.
    Result<std::string> read(TraceRecord &record);

private:
    Result<std::uint64_t> number(OwnColumn column, std::uint64_t row);
    Result<std::string> text(OwnColumn column, std::uint64_t row, std::string &problem);
    Status takeIdentity(TraceRecord &record, std::string &problem);
    Result<Observation> takeTensor(std::string &problem);
    Status takeEvidence(Observation &observation, std::uint64_t bytes, std::string &problem);
    Status takeLeaves(Observation &observation, std::uint64_t bytes, std::string &problem);
    Status takeStatistics(Observation &observation);
    Status skipTo(std::uint64_t record);

    std::shared_ptr<const OwnSegment> m_segment;
    std::string m_file;
    std::array<NumberColumn, std::size_t(OwnColumn::Count_)> m_columns;
    NumberColumn m_dimensions;
    OwnStrings m_strings;
    std::uint64_t m_payloadBytes = 0;
    OwnStart m_at;
    std::uint64_t m_first;
};

} // namespace forkpoint
