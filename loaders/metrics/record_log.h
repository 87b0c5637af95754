// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/storage/byte_source.h"
#include "loaders/storage/forward_reader.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace forkpoint {

/// One record of a log that is written by appending.
struct LogRecord
{
    std::uint64_t offset = 0; ///< of its first byte in the file
    ByteView data;            ///< valid until the next record is asked for
};

/// What a log of records holds that is no whole record.
struct LogDamage
{
    enum class Kind { Torn, Checksum, Structure, TooLong };
    Kind kind = Kind::Torn;
    std::uint64_t offset = 0;
    std::string text;
};

/// The records of a file in order. Where one is damaged, damage() says so after next(), and reading
/// goes on behind it if its end is known; a record that the file ends in is a torn tail.
class RecordLog
{
public:
    virtual ~RecordLog() = default;
    RecordLog(const RecordLog &) = delete;
    RecordLog &operator=(const RecordLog &) = delete;

    /// The next whole record, nothing at the end, or the error of reading.
    virtual Result<std::optional<LogRecord>> next() = 0;
    /// The first few, and how many there were in all.
    const std::vector<LogDamage> &damage() const { return m_damage; }
    std::uint64_t damageCount() const { return m_damageCount; }

protected:
    RecordLog() = default;
    void report(LogDamage::Kind kind, std::uint64_t offset, std::string text);

private:
    std::vector<LogDamage> m_damage;
    std::uint64_t m_damageCount = 0;
};

/// TFRecord, as TensorBoard and TensorFlow write it: u64 length, its masked CRC-32C, the data, and
/// theirs, little-endian.
class TfRecordLog final : public RecordLog
{
public:
    explicit TfRecordLog(const ByteSource &source) : m_reader(source) {}
    Result<std::optional<LogRecord>> next() override;

private:
    ForwardReader m_reader;
    bool m_ended = false;
};

/// The log of wandb: LevelDB's, in blocks of 32 KiB with records cut at their borders, after a
/// header of seven bytes (":W&B", the magic 0xBEE1, a version), with plain CRC-32.
class WandbLog final : public RecordLog
{
public:
    static constexpr std::size_t HeaderBytes = 7;

    explicit WandbLog(const ByteSource &source) : m_reader(source) { m_reader.skip(HeaderBytes); }
    Result<std::optional<LogRecord>> next() override;

    static bool hasHeader(ByteView head);

private:
    struct Chunk
    {
        int type = 0;
        std::uint64_t offset = 0;
        ByteView data;
    };
    Result<std::optional<Chunk>> nextChunk();
    void skipBlock();

    ForwardReader m_reader;
    std::vector<std::byte> m_data;
    bool m_ended = false;
};

} // namespace forkpoint
