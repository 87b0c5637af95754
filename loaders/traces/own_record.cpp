// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/traces/own_record.h"

#include "loaders/limits.h"
#include "model/compute_backend.h"
#include "model/dtype.h"
#include "model/format.h"
#include "model/shape.h"

#include <bit>
#include <cmath>

namespace forkpoint {

namespace {

std::optional<RecordRole> roleOf(std::uint64_t code)
{
    constexpr RecordRole Roles[] = {RecordRole::Tensor,         RecordRole::Op,
                                    RecordRole::Collective,     RecordRole::Values,
                                    RecordRole::IterationBegin, RecordRole::IterationEnd,
                                    RecordRole::Failure,        RecordRole::Truncated,
                                    RecordRole::Phase};
    return code < std::size(Roles) ? std::optional(Roles[code]) : std::nullopt;
}

std::optional<Absence> absenceOf(std::uint64_t code)
{
    constexpr Absence Absences[] = {Absence::Recorded,   Absence::Null,       Absence::Oversize,
                                    Absence::Unresolved, Absence::Unfinished, Absence::Metadata};
    return code < std::size(Absences) ? std::optional(Absences[code]) : std::nullopt;
}

std::string hexOf(ByteView bytes)
{
    constexpr std::string_view Digits = "0123456789abcdef";
    std::string hex;
    for (const std::byte byte : bytes) {
        hex += Digits[std::size_t(byte) >> 4];
        hex += Digits[std::size_t(byte) & 15];
    }
    return hex;
}

/// Bytes of a logical stream; nothing where the type is not known or 64 bits do not suffice.
std::optional<std::uint64_t> streamBytes(const DType &dtype, const Shape &shape)
{
    const auto positions = shape.count();
    const auto bits = positions ? checkedMul(*positions, dtype.positionBits()) : std::nullopt;
    return bits ? std::optional((*bits + 7) / 8) : std::nullopt;
}

void say(std::string &problem, std::string text)
{
    if (problem.empty())
        problem = std::move(text);
}

} // namespace

OwnRecords::OwnRecords(std::shared_ptr<const OwnSegment> segment, std::string file,
                       std::uint64_t first)
    : m_segment(std::move(segment)),
      m_file(std::move(file)),
      m_dimensions(m_segment->dimensions()),
      m_strings(*m_segment),
      m_payloadBytes(m_segment->payload() ? m_segment->payload()->size() : 0),
      m_at(m_segment->startBefore(first)),
      m_first(first)
{
    for (std::size_t i = 0; i < m_columns.size(); ++i)
        m_columns[i] = m_segment->column(OwnColumn(i));
}

Result<std::uint64_t> OwnRecords::number(OwnColumn column, std::uint64_t row)
{
    return m_columns[std::size_t(column)].number(row);
}

/// A string that is not there is a problem of the row, storage that fails is an error.
Result<std::string> OwnRecords::text(OwnColumn column, std::uint64_t row, std::string &problem)
{
    FP_TRY(const std::uint64_t index, number(column, row));
    auto found = m_strings.text(index);
    if (found.ok()
        || (found.error().code != ErrorCode::Malformed && found.error().code != ErrorCode::Limit))
        return found;
    say(problem, found.error().place + " " + found.error().text);
    return std::string();
}

Status OwnRecords::skipTo(std::uint64_t record)
{
    while (m_at.record < std::min(record, m_segment->part().records)) {
        FP_TRY(const std::uint64_t in, number(OwnColumn::Inputs, m_at.record));
        FP_TRY(const std::uint64_t out, number(OwnColumn::Outputs, m_at.record));
        FP_TRY(const std::uint64_t values, number(OwnColumn::Values, m_at.record));
        for (const std::uint64_t end = m_at.tensor + in + out; m_at.tensor < end; ++m_at.tensor) {
            FP_TRY(const std::uint64_t rank, number(OwnColumn::Rank, m_at.tensor));
            m_at.dimension += rank;
        }
        m_at.value += values;
        ++m_at.record;
    }
    return {};
}

Status OwnRecords::takeIdentity(TraceRecord &record, std::string &problem)
{
    const std::uint64_t row = m_at.record;
    FP_TRY(const std::uint64_t role, number(OwnColumn::Role, row));
    FP_TRY(const std::uint64_t step, number(OwnColumn::Step, row));
    FP_TRY(const std::uint64_t microBatch, number(OwnColumn::MicroBatch, row));
    FP_TRY(const std::uint64_t flags, number(OwnColumn::Flags, row));
    FP_TRY(record.sequence, number(OwnColumn::Sequence, row));
    FP_TRY(record.call, number(OwnColumn::Call, row));
    FP_TRY(record.stage, text(OwnColumn::Stage, row, problem));
    FP_TRY(record.name, text(OwnColumn::Name, row, problem));
    FP_TRY(record.scope, text(OwnColumn::Scope, row, problem));
    if (m_columns[std::size_t(OwnColumn::Group)].rows() > 0) {
        FP_TRY(record.group, text(OwnColumn::Group, row, problem));
    }
    if (m_columns[std::size_t(OwnColumn::Caller)].rows() > 0) {
        FP_TRY(record.caller, text(OwnColumn::Caller, row, problem));
    }
    const auto known = roleOf(role);
    if (!known)
        say(problem, "its role must be below 9, is " + std::to_string(role));
    record.role = known.value_or(RecordRole::Phase);
    record.iteration = std::int64_t(step);
    if (const auto micro = std::int32_t(std::uint32_t(microBatch)); micro >= 0)
        record.microBatch = micro;
    record.callIsStated = true;
    record.key = (record.microBatch ? std::to_string(*record.microBatch) : std::string()) + '\x1f'
        + record.stage + '\x1f' + record.name + '\x1f' + std::to_string(flags);
    // Marks have no name: a failure is neither a begin nor an end.
    if (record.stage.empty() && record.name.empty())
        record.key += '\x1f' + std::to_string(role);
    return {};
}

Status OwnRecords::takeEvidence(Observation &observation, std::uint64_t bytes, std::string &problem)
{
    const std::uint64_t row = m_at.tensor;
    FP_TRY(const std::uint64_t absence, number(OwnColumn::Absence, row));
    const auto known = absenceOf(absence);
    if (!known)
        say(problem, "its absence must be below 6, is " + std::to_string(absence));
    observation.absence = known.value_or(Absence::Null);
    observation.kind = DigestKind::Fingerprint;
    if (observation.absence == Absence::Recorded) {
        FP_TRY(const ByteView digest, m_columns[std::size_t(OwnColumn::Content)].bytes(row));
        observation.digest = hexOf(digest);
    }
    FP_TRY(const std::uint64_t payload, number(OwnColumn::Payload, row));
    if (std::int64_t(payload) < 0)
        return {};
    if (bytes > m_payloadBytes || payload > m_payloadBytes - bytes) {
        say(problem,
            "its " + std::to_string(bytes) + " bytes from " + std::to_string(payload)
                + " must lie in the payload of " + std::to_string(m_payloadBytes));
        return {};
    }
    observation.payload = m_file;
    observation.payloadOffset = payload;
    return {};
}

/// Digests of leaves belong to a tensor that has one of its own.
Status OwnRecords::takeLeaves(Observation &observation, std::uint64_t bytes, std::string &problem)
{
    FP_TRY(const std::uint64_t row, number(OwnColumn::Leaves, m_at.tensor));
    if (std::int64_t(row) < 0 || observation.absence != Absence::Recorded)
        return {};
    const std::uint64_t count = bytes / LeafBytes + (bytes % LeafBytes > 0 ? 1 : 0);
    if (count > limits::TraceLeaves)
        say(problem,
            "may have digests of at most " + std::to_string(limits::TraceLeaves) + " leaves, has "
                + std::to_string(count));
    else if (count > m_segment->leaves() || row > m_segment->leaves() - count)
        say(problem,
            "the digests of its " + std::to_string(count) + " leaves from row "
                + std::to_string(row) + " on must lie among the "
                + std::to_string(m_segment->leaves()) + " that are kept");
    else
        observation.leaves = LeafRows{row, count};
    return {};
}

Status OwnRecords::takeStatistics(Observation &observation)
{
    const std::uint64_t row = m_at.tensor;
    for (const auto &[column, name] :
         {std::pair{OwnColumn::AbsMax, "abs_max"}, std::pair{OwnColumn::L2, "l2"}}) {
        FP_TRY(const std::uint64_t bits, number(column, row));
        const auto value = std::bit_cast<double>(bits);
        if (std::isnan(value))
            return {}; // none was taken
        observation.statistics.emplace_back(name, shortest(value));
    }
    for (const auto &[column, name] :
         {std::pair{OwnColumn::Nan, "nan"}, std::pair{OwnColumn::Inf, "inf"},
          std::pair{OwnColumn::Zero, "zero"}}) {
        FP_TRY(const std::uint64_t count, number(column, row));
        observation.statistics.emplace_back(name, std::to_string(count));
    }
    return {};
}

Result<Observation> OwnRecords::takeTensor(std::string &problem)
{
    Observation observation;
    const std::uint64_t row = m_at.tensor;
    FP_TRY(observation.path, text(OwnColumn::Path, row, problem));
    FP_TRY(observation.dtype, text(OwnColumn::DType, row, problem));
    FP_TRY(const std::uint64_t rank, number(OwnColumn::Rank, row));
    Shape shape;
    for (std::uint64_t i = 0; i < rank; ++i, ++m_at.dimension) {
        FP_TRY(const std::uint64_t dimension, m_dimensions.number(m_at.dimension));
        shape.dims.push_back(dimension);
    }
    if (rank > limits::Rank)
        say(problem,
            "may have at most " + std::to_string(limits::Rank) + " dimensions, has "
                + std::to_string(rank));
    FP_TRY(const std::uint64_t bytes, number(OwnColumn::Bytes, row));
    if (const auto dtype = dtypeByName(observation.dtype)) {
        const auto needed = streamBytes(*dtype, shape);
        if (needed != bytes)
            say(problem,
                observation.dtype + " " + shape.toString() + " needs "
                    + (needed ? std::to_string(*needed) : "more than 64 bits of") + " bytes, has "
                    + std::to_string(bytes));
        observation.count = shape.count().value_or(0) * dtype->packing;
    } else {
        observation.count = shape.count();
    }
    observation.shape = std::move(shape.dims);
    FP_CHECK(takeEvidence(observation, bytes, problem));
    FP_CHECK(takeLeaves(observation, bytes, problem));
    FP_TRY(const std::string note, text(OwnColumn::Note, row, problem));
    if (!note.empty())
        observation.metadata.emplace_back("note", note);
    FP_CHECK(takeStatistics(observation));
    ++m_at.tensor;
    return observation;
}

Result<std::string> OwnRecords::read(TraceRecord &record)
{
    FP_CHECK(skipTo(m_first));
    std::string problem;
    FP_CHECK(takeIdentity(record, problem));
    FP_TRY(const std::uint64_t inputs, number(OwnColumn::Inputs, m_at.record));
    FP_TRY(const std::uint64_t outputs, number(OwnColumn::Outputs, m_at.record));
    FP_TRY(const std::uint64_t values, number(OwnColumn::Values, m_at.record));
    for (std::uint64_t i = 0; i < inputs + outputs; ++i) {
        FP_TRY(Observation observation, takeTensor(problem));
        (i < inputs ? record.inputs : record.outputs).push_back(std::move(observation));
    }
    for (std::uint64_t i = 0; i < values; ++i, ++m_at.value) {
        FP_TRY(std::string name, text(OwnColumn::ValueName, m_at.value, problem));
        FP_TRY(std::string value, text(OwnColumn::ValueText, m_at.value, problem));
        record.fields.emplace_back(std::move(name), std::move(value));
    }
    ++m_at.record;
    return problem;
}

} // namespace forkpoint
