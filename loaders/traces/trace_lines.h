// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loaders/storage/line_reader.h"
#include "loaders/text/json_fields.h"
#include "loaders/traces/trace_dialect.h"
#include "model/traces/record_form.h"

#include <optional>
#include <string>
#include <string_view>

namespace forkpoint {

/// Base of readers of text, one record a line. Lines that are too long, torn or no record become
/// problems with line and byte; what follows them is read.
class TraceLineReader : public TraceReader, public FormedCursor
{
public:
    TraceLineReader(const TraceFile &file, const TracePlace &from);

    Result<std::optional<TraceRecord>> next() final;
    Result<bool> nextFormed(FormedRecord &into) final;

protected:
    /// What a line was.
    enum class Use {
        Record, ///< `record` is filled; its place is set already
        Other,  ///< a header, a blank line: no record, nothing missing
        Bad,    ///< `problem` says why
    };
    virtual Use take(std::string_view line, TraceRecord &record, std::string &problem) = 0;
    /// Whether a line is of a known form: then `into`, whose place is set, is what it says.
    virtual bool takeFormed(std::string_view, FormedRecord &) { return false; }
    /// A line that made a record, and of which there is nothing else to say.
    virtual void learn(std::string_view, const TraceRecord &) {}
    /// After the last line.
    virtual void atEnd() {}

    TraceFile m_file;

private:
    TracePlace placeOf(const LineReader::Line &line) const;

    LineReader m_lines;
    std::optional<LineReader::Line> m_line; ///< that was read and not taken
};

/// Base of readers of JSON lines: `take` gets the parsed object.
class TraceJsonReader : public TraceLineReader
{
public:
    TraceJsonReader(const TraceFile &file, const TracePlace &from);
    ~TraceJsonReader() override;

protected:
    /// Whether the next record depends on its line alone, and on nothing that was read before but the
    /// rank and the facts of the file: only then, and of lines whose slots are noted, forms are used.
    virtual bool isLineAlone() const { return false; }
    /// A record was read by its form.
    virtual void seeFormed(const FormedRecord &) {}
    /// The record takes that number as it is, if it is one from 0 on, and nothing else depends on it.
    void noteNumber(LineSlot::Kind kind, const JsonFields &fields, std::string_view key);
    /// As takeDigest(), of a member of a tensor, for takeTensor().
    void takeDigestOf(const JsonFields &tensor, std::string_view key, DigestKind kind,
                      std::size_t digits, Observation &observation, bool &wrong);
    /// One tensor more, of takeTensor(), among the inputs or outputs of the record that is being read.
    void addTensor(const JsonFields &tensor, const TracePlace &place,
                   std::vector<Observation> &observations);
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
    bool takeFormed(std::string_view line, FormedRecord &into) final;
    void learn(std::string_view line, const TraceRecord &record) final;

    JsonDocument m_document; ///< of the line at hand: kept for its memory
    std::unique_ptr<LineForms> m_forms;
    std::vector<LineSlot> m_slots;            ///< of the line at hand
    bool m_hasSlots = false;                  ///< all that were noted have a place
    std::optional<JsonValue::Place> m_digest; ///< of the tensor at hand
    const TraceRecord *m_record = nullptr;    ///< that is being read
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
