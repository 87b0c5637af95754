// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/json_fields.h"
#include "loaders/line_reader.h"
#include "loaders/trace_dialect.h"
#include "model/twin_cursor.h"

#include <optional>
#include <string>
#include <string_view>

namespace forkpoint {

/// Base of readers of text, one record a line. Lines that are too long, torn or no record become
/// problems with line and byte; what follows them is read.
class TraceLineReader : public TraceReader, public TwinCursor
{
public:
    TraceLineReader(const TraceFile &file, const TracePlace &from);

    Result<std::optional<TraceRecord>> next() final;
    std::string_view lastLine() const final
    {
        return isLineAlone() ? m_lastLine : std::string_view();
    }
    Result<std::optional<TraceRecord>> nextBeside(std::string_view line, const TraceRecord &record,
                                                  bool &isTwin) final;

protected:
    /// Whether the next record depends on its line alone, and on nothing that was read before.
    virtual bool isLineAlone() const { return false; }
    /// What a line was.
    enum class Use {
        Record, ///< `record` is filled; its place is set already
        Other,  ///< a header, a blank line: no record, nothing missing
        Bad,    ///< `problem` says why
    };
    virtual Use take(std::string_view line, TraceRecord &record, std::string &problem) = 0;
    /// After the last line.
    virtual void atEnd() {}

private:
    struct Twin
    {
        std::string_view line;
        const TraceRecord *record = nullptr;
        bool isMet = false;
    };
    Result<std::optional<TraceRecord>> read(Twin &twin);

    TraceFile m_file;
    LineReader m_lines;
    std::string_view m_lastLine; ///< in the buffer of m_lines
};

/// Base of readers of JSON lines: `take` gets the parsed object.
class TraceJsonReader : public TraceLineReader
{
public:
    using TraceLineReader::TraceLineReader;

protected:
    /// Reads through `fields`; what is missing or of another kind there makes the line bad.
    virtual Use takeObject(const JsonFields &fields, TraceRecord &record) = 0;
    /// The tensors of a list of signatures, up to limits::TraceObservations; null is an absence. What
    /// is wrong with one is a problem of `fields`.
    void takeTensors(const JsonFields &fields, std::string_view key, const TracePlace &place,
                     std::vector<Observation> &observations);
    /// One signature, neither null nor of another kind than an object; of readers that take lists.
    virtual Observation takeTensor(const JsonFields &, const TracePlace &) { return {}; }

private:
    Use take(std::string_view line, TraceRecord &record, std::string &problem) final;

    JsonDocument m_document; ///< of the line at hand: kept for its memory
};

/// The first line of a file as a JSON object with all these members.
bool firstLineHas(std::string_view head, std::initializer_list<std::string_view> members);

/// "torch.float32" as "float32".
std::string dtypeWord(std::string_view word);
/// Canonical text of any JSON value: sorted keys, numbers as they are; bounded by its line.
std::string canonicalText(const JsonValue &value);
/// A member that is null, or absent, or of that kind; another kind is a problem of `fields`.
std::optional<std::int64_t> integerOrNull(const JsonFields &fields, std::string_view key);
std::string textOrNull(const JsonFields &fields, std::string_view key);
/// Lower-case hexadecimal digits of exactly that number, or nothing.
std::optional<std::string> hexDigest(std::string_view text, std::size_t digits);
/// Fills kind and digest from a member's text: a placeholder ("__staged") and a text of another
/// length are absences, the latter said to be so by `wrong`.
void takeDigest(Observation &observation, DigestKind kind, std::string_view text,
                std::size_t digits, bool &wrong);
/// A shape: a list of counts; nothing where it is none.
std::optional<std::vector<std::uint64_t>> shapeOf(const JsonFields &fields, std::string_view key);

} // namespace forkpoint
