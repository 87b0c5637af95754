// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/metrics/record_log.h"

#include "loaders/elements/running_digest.h"
#include "loaders/limits.h"
#include "loaders/metrics/crc32c.h"

#include <algorithm>

namespace forkpoint {

namespace {

constexpr std::size_t LengthBytes = 8;
constexpr std::size_t CrcBytes = 4;
constexpr std::size_t TfHeaderBytes = LengthBytes + CrcBytes;

constexpr std::uint64_t BlockBytes = 32768;
constexpr std::size_t ChunkHeaderBytes = 7;
enum ChunkType { Padding = 0, Full = 1, First = 2, Middle = 3, Last = 4 };

} // namespace

void RecordLog::report(LogDamage::Kind kind, std::uint64_t offset, std::string text)
{
    constexpr std::size_t Told = 8;
    ++m_damageCount;
    if (m_damage.size() < Told)
        m_damage.push_back({kind, offset, std::move(text)});
}

Result<std::optional<LogRecord>> TfRecordLog::next()
{
    constexpr std::optional<LogRecord> End;
    while (!m_ended && m_reader.left() > 0) {
        const std::uint64_t offset = m_reader.position();
        m_ended = true; // until the end of this record is known
        if (m_reader.left() < TfHeaderBytes) {
            report(LogDamage::Kind::Torn, offset, "the last record is torn and was left out");
            return End;
        }
        FP_TRY(const ByteView header, m_reader.peek(TfHeaderBytes));
        const auto length = loadLittle<std::uint64_t>(header.data());
        const auto crc = loadLittle<std::uint32_t>(header.data() + LengthBytes);
        if (maskedCrc32c(header.first(LengthBytes)) != crc) {
            report(LogDamage::Kind::Structure, offset,
                   "the checksum of a record's length is wrong; the rest was not read");
            return End;
        }
        m_reader.skip(TfHeaderBytes);
        if (m_reader.left() < CrcBytes || length > m_reader.left() - CrcBytes) {
            report(LogDamage::Kind::Torn, offset, "the last record is torn and was left out");
            return End;
        }
        m_ended = false;
        if (length > limits::LogRecordBytes) {
            m_reader.skip(length + CrcBytes);
            report(LogDamage::Kind::TooLong, offset,
                   "may have at most " + std::to_string(limits::LogRecordBytes)
                       + " bytes in a record, this one has " + std::to_string(length));
            continue;
        }
        FP_TRY(const ByteView body, m_reader.peek(std::size_t(length) + CrcBytes));
        m_reader.skip(length + CrcBytes);
        const ByteView data = body.first(std::size_t(length));
        if (maskedCrc32c(data) != loadLittle<std::uint32_t>(body.data() + length)) {
            report(LogDamage::Kind::Checksum, offset,
                   "the checksum of a record is wrong; it was left out");
            continue;
        }
        return std::optional(LogRecord{offset, data});
    }
    return End;
}

bool WandbLog::hasHeader(ByteView head)
{
    return head.size() >= HeaderBytes && asText(head.first(4)) == ":W&B"
        && loadLittle<std::uint16_t>(head.data() + 4) == 0xBEE1;
}

void WandbLog::skipBlock()
{
    const std::uint64_t rest = BlockBytes - m_reader.position() % BlockBytes;
    m_reader.skip(std::min(rest, m_reader.left()));
}

Result<std::optional<WandbLog::Chunk>> WandbLog::nextChunk()
{
    constexpr std::optional<Chunk> End;
    while (!m_ended && m_reader.left() > 0) {
        const std::uint64_t offset = m_reader.position();
        const std::uint64_t room = BlockBytes - offset % BlockBytes;
        if (room < ChunkHeaderBytes) {
            skipBlock();
            continue;
        }
        if (m_reader.left() < ChunkHeaderBytes) {
            m_ended = true;
            report(LogDamage::Kind::Torn, offset, "the last record is torn and was left out");
            return End;
        }
        FP_TRY(const ByteView header, m_reader.peek(ChunkHeaderBytes));
        const auto crc = loadLittle<std::uint32_t>(header.data());
        const std::size_t length = loadLittle<std::uint16_t>(header.data() + 4);
        const int type = int(header[6]);
        if (crc == 0 && length == 0 && type == Padding) { // room taken and not yet written
            skipBlock();
            continue;
        }
        if (ChunkHeaderBytes + length > room || type < Full || type > Last) {
            report(LogDamage::Kind::Structure, offset,
                   "is no record; the rest of its block was not read");
            skipBlock();
            continue;
        }
        if (ChunkHeaderBytes + length > m_reader.left()) {
            m_ended = true;
            report(LogDamage::Kind::Torn, offset, "the last record is torn and was left out");
            return End;
        }
        FP_TRY(const ByteView chunk, m_reader.peek(ChunkHeaderBytes + length));
        m_reader.skip(ChunkHeaderBytes + length);
        if (crc32Of(chunk.subspan(ChunkHeaderBytes - 1)) != crc) {
            report(LogDamage::Kind::Checksum, offset,
                   "the checksum of a record is wrong; it was left out");
            continue;
        }
        return std::optional(Chunk{type, offset, chunk.subspan(ChunkHeaderBytes)});
    }
    return End;
}

Result<std::optional<LogRecord>> WandbLog::next()
{
    bool inside = false, dropped = false;
    std::uint64_t offset = 0;
    m_data.clear();
    for (;;) {
        FP_TRY(const auto chunk, nextChunk());
        if (!chunk) {
            if (inside && damageCount() == 0)
                report(LogDamage::Kind::Torn, offset, "the last record is torn and was left out");
            return std::optional<LogRecord>();
        }
        const bool begins = chunk->type == Full || chunk->type == First;
        if (begins == inside) { // a part is missing: it was damaged, or never written
            report(LogDamage::Kind::Structure, begins ? offset : chunk->offset,
                   "a part of a record is missing; it was left out");
            m_data.clear();
            inside = false;
            if (!begins)
                continue;
        }
        if (begins) {
            offset = chunk->offset;
            dropped = false;
        }
        if (m_data.size() + chunk->data.size() > limits::LogRecordBytes && !dropped) {
            report(LogDamage::Kind::TooLong, offset,
                   "may have at most " + std::to_string(limits::LogRecordBytes)
                       + " bytes in a record");
            dropped = true;
        }
        if (!dropped)
            m_data.insert(m_data.end(), chunk->data.begin(), chunk->data.end());
        inside = chunk->type == First || chunk->type == Middle;
        if (!inside && !dropped)
            return std::optional(LogRecord{offset, m_data});
        if (!inside)
            m_data.clear();
    }
}

} // namespace forkpoint
