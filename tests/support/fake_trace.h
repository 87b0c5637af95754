// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/traces/trace.h"

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace forkpoint::test {

/// A trace held in memory: one stream for each rank added.
class FakeTrace final : public Trace
{
public:
    /// A new rank, of iteration 1; the records follow in order.
    FakeTrace &rank(std::int64_t number, std::vector<TraceRecord> records)
    {
        return rankOf(number, {{1, std::move(records)}});
    }

    /// A new rank of several iterations, rising.
    FakeTrace &rankOf(std::int64_t number, std::map<std::int64_t, std::vector<TraceRecord>> steps)
    {
        TraceStream stream;
        stream.coordinate.rank = number;
        stream.facts = facts;
        std::vector<std::vector<TraceRecord>> all;
        for (auto &[iteration, records] : steps) {
            stream.segments.push_back({iteration, {}, records.size()});
            for (TraceRecord &record : records)
                record.iteration = iteration;
            all.push_back(std::move(records));
        }
        m_streams.push_back(std::move(stream));
        m_records.push_back(std::move(all));
        return *this;
    }

    /// The axes of a rank that was added, by the order of adding.
    FakeTrace &place(std::size_t stream, std::vector<std::pair<std::string, std::int64_t>> axes)
    {
        m_streams[stream].coordinate.axes = std::move(axes);
        return *this;
    }

    const std::string &dialect() const override { return kind; }
    const std::vector<TraceStream> &streams() const override { return m_streams; }
    const std::vector<std::string> &files() const override { return m_files; }
    const Diagnostics &diagnostics() const override { return m_diagnostics; }
    bool complete() const override { return isComplete; }
    Result<std::unique_ptr<TraceCursor>> open(std::size_t stream,
                                              std::size_t segment) const override
    {
        return std::unique_ptr<TraceCursor>(std::make_unique<Cursor>(m_records[stream][segment]));
    }
    Result<std::string> sourceText(const TracePlace &, std::size_t) const override
    {
        return std::string();
    }

    std::string kind = "fake";
    std::vector<TraceFact> facts; ///< of the ranks added from here on
    bool isComplete = true;

private:
    class Cursor final : public TraceCursor
    {
    public:
        explicit Cursor(const std::vector<TraceRecord> &records) : m_records(records) {}
        Result<std::optional<TraceRecord>> next() override
        {
            if (m_next == m_records.size())
                return std::optional<TraceRecord>();
            return std::optional(m_records[m_next++]);
        }

    private:
        const std::vector<TraceRecord> &m_records;
        std::size_t m_next = 0;
    };

    std::vector<TraceStream> m_streams;
    std::vector<std::vector<std::vector<TraceRecord>>> m_records; ///< by rank and iteration
    std::vector<std::string> m_files = {"fake"};
    Diagnostics m_diagnostics;
};

/// A float32 vector of two, seen through a digest.
inline Observation seen(std::string digest, DigestKind kind = DigestKind::XorLanes,
                        std::string dtype = "float32")
{
    Observation observation;
    observation.dtype = std::move(dtype);
    observation.shape = std::vector<std::uint64_t>{2};
    observation.count = 2;
    observation.kind = kind;
    observation.digest = std::move(digest);
    return observation;
}

inline Observation absent(Absence absence)
{
    Observation observation;
    observation.absence = absence;
    return observation;
}

/// A call as Megatron-Bridge writes it, numbered by its kind.
inline TraceRecord call(std::string name, std::uint64_t number, std::vector<Observation> inputs,
                        std::vector<Observation> outputs)
{
    TraceRecord record;
    record.role = RecordRole::Op;
    record.stage = "op";
    record.key = name;
    record.name = std::move(name);
    record.call = number;
    record.callIsStated = true;
    record.inputs = std::move(inputs);
    record.outputs = std::move(outputs);
    return record;
}

inline TraceRecord collective(std::string group, std::vector<Observation> inputs,
                              std::vector<Observation> outputs)
{
    TraceRecord record = call("all_reduce", 0, std::move(inputs), std::move(outputs));
    record.role = RecordRole::Collective;
    record.key = group + '\x1f' + record.name;
    record.group = std::move(group);
    return record;
}

} // namespace forkpoint::test
