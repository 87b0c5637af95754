// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/traces/trace_lines.h"

#include "loaders/limits.h"
#include "loaders/text/ascii.h"
#include "model/text/json_writer.h"

#include <algorithm>
#include <array>
#include <map>
#include <typeinfo>
#include <utility>

namespace forkpoint {

namespace {

/// A hexadecimal digit in lower case, by its byte; 0 for any other. Digits of digests are random: a
/// table, where branches would be guessed wrong.
constexpr std::array<char, 256> LowerHex = [] {
    std::array<char, 256> table{};
    for (const char c : std::string_view("0123456789abcdef"))
        table[std::uint8_t(c)] = c;
    for (const char c : std::string_view("ABCDEF"))
        table[std::uint8_t(c)] = char(c - 'A' + 'a');
    return table;
}();

void writeCanonical(JsonWriter &json, const JsonValue &value)
{
    switch (value.kind()) {
    case JsonValue::Kind::Null: json.null(); return;
    case JsonValue::Kind::Bool: json.boolean(*value.boolean()); return;
    case JsonValue::Kind::Unsigned: json.number(*value.unsignedInteger()); return;
    case JsonValue::Kind::Negative: json.number(*value.negative()); return;
    case JsonValue::Kind::Real: json.number(*value.real()); return;
    case JsonValue::Kind::Digits:
    case JsonValue::Kind::Text: json.text(*value.text()); return;
    case JsonValue::Kind::Array:
        json.beginArray();
        for (const JsonValue &child : value.children())
            writeCanonical(json, child);
        json.endArray();
        return;
    case JsonValue::Kind::Object: break;
    }
    std::map<std::string_view, JsonValue> sorted;
    for (const JsonValue &child : value.children())
        sorted.emplace(child.key(), child);
    json.beginObject();
    for (const auto &[key, child] : sorted) {
        json.key(key);
        writeCanonical(json, child);
    }
    json.endObject();
}

} // namespace

TraceLineReader::TraceLineReader(const TraceFile &file, const TracePlace &from)
    : m_file(file),
      m_lines(*m_file.source, limits::TraceLineBytes)
{
    if (from.line > 0)
        m_lines.seek(from.line, from.byte, m_file.end);
}

TracePlace TraceLineReader::placeOf(const LineReader::Line &line) const
{
    return {m_file.index, line.number, line.byte, line.text.size()};
}

Result<std::optional<TraceRecord>> TraceLineReader::next()
{
    for (;;) {
        if (!m_line) {
            FP_TRY(m_line, m_lines.next());
        }
        const auto line = std::exchange(m_line, std::nullopt);
        if (!line) {
            atEnd();
            return std::optional<TraceRecord>();
        }
        TraceRecord record;
        record.place = placeOf(*line);
        if (line->tooLong) {
            addProblem(record.place, "long-line",
                       "is longer than " + std::to_string(limits::TraceLineBytes)
                           + " bytes and was left out");
            continue;
        }
        if (isBlank(line->text))
            continue;
        std::string problem;
        const bool isSilent = !hasDiagnostics();
        const Use use = take(line->text, record, problem);
        // A writer ends every line: without its end even a whole object may be half a record.
        if (!line->ended) {
            addProblem(record.place, "torn-line", "the last line is torn and was left out");
            continue;
        }
        if (use == Use::Bad)
            addProblem(record.place, "bad-line", std::move(problem));
        if (use != Use::Record)
            continue;
        if (isSilent && !hasDiagnostics())
            learn(line->text, record);
        return std::optional(std::move(record));
    }
}

Result<bool> TraceLineReader::nextFormed(FormedRecord &into)
{
    if (!m_line) {
        FP_TRY(m_line, m_lines.next());
    }
    if (!m_line || !m_line->ended || m_line->tooLong)
        return false;
    into.place = placeOf(*m_line);
    if (!takeFormed(m_line->text, into))
        return false;
    m_line.reset();
    return true;
}

TraceJsonReader::TraceJsonReader(const TraceFile &file, const TracePlace &from)
    : TraceLineReader(file, from)
{
    if (m_file.forms)
        m_forms = m_file.forms->take();
}

TraceJsonReader::~TraceJsonReader()
{
    if (m_forms)
        m_file.forms->give(std::move(m_forms));
}

bool TraceJsonReader::takeFormed(std::string_view line, FormedRecord &into)
{
    const LineForm *const form = m_forms && isLineAlone() ? m_forms->match(line, into) : nullptr;
    if (!form)
        return false;
    if (m_forms->isNewHere(*form)) {
        for (const TraceFact &fact : form->remarks().facts)
            addFact(fact.role, fact.name, fact.value);
    }
    if (form->remarks().rank)
        takeRank(*form->remarks().rank, into.place);
    seeFormed(into);
    return true;
}

void TraceJsonReader::learn(std::string_view line, const TraceRecord &record)
{
    if (!m_forms || !m_hasSlots || m_slots.empty() || !isLineAlone())
        return;
    // A digest that is not as it stands there, for its capitals, is no slot: it is part of the form.
    std::erase_if(m_slots, [&](const LineSlot &slot) {
        return slot.kind == LineSlot::Kind::Digest
            && line.substr(slot.begin, slot.size)
            != (slot.isOutput ? record.outputs : record.inputs)[slot.observation].digest;
    });
    m_forms->learn(LineForm(line, std::move(m_slots), record,
                            *std::exchange(m_remarks, std::nullopt), typeid(*this).name()));
}

void TraceJsonReader::noteNumber(LineSlot::Kind kind, const JsonFields &fields,
                                 std::string_view key)
{
    const auto value = fields.find(key);
    if (!value || value->kind() != JsonValue::Kind::Unsigned)
        return;
    const auto place = value->place();
    m_hasSlots = m_hasSlots && place;
    if (place)
        m_slots.push_back({kind, place->begin, place->size});
}

void TraceJsonReader::takeDigestOf(const JsonFields &tensor, std::string_view key, DigestKind kind,
                                   std::size_t digits, Observation &observation, bool &wrong)
{
    takeDigest(observation, kind, tensor.view(key), digits, wrong);
    const auto value = tensor.find(key);
    if (value && !observation.digest.empty())
        m_digest = value->place();
}

void TraceJsonReader::addTensor(const JsonFields &tensor, const TracePlace &place,
                                std::vector<Observation> &observations)
{
    m_digest.reset();
    observations.push_back(takeTensor(tensor, place));
    if (m_digest)
        m_slots.push_back({LineSlot::Kind::Digest, m_digest->begin, m_digest->size,
                           &observations == &m_record->outputs, observations.size() - 1});
}

TraceLineReader::Use TraceJsonReader::take(std::string_view line, TraceRecord &record,
                                           std::string &problem)
{
    const Status parsed = m_document.reparse(line, RepeatedKeys::Refuse, NonFinite::Take);
    if (parsed.ok() && m_document.hasNonFinite())
        addNote(record.place, "non-finite",
                "has NaN or an infinity without quotes, which is no JSON: read as that float");
    if (!parsed.ok()) {
        problem = parsed.error().place + " of the line: " + parsed.error().text;
        return Use::Bad;
    }
    m_slots.clear();
    m_hasSlots = true;
    m_record = &record;
    m_remarks.reset();
    if (m_forms)
        m_remarks.emplace();
    JsonProblem trouble;
    const JsonFields fields(m_document.root(), {}, trouble);
    const Use use = trouble.error ? Use::Bad : takeObject(fields, record);
    if (!trouble.error)
        return use;
    problem =
        (trouble.error->place.empty() ? "" : trouble.error->place + " ") + trouble.error->text;
    return Use::Bad;
}

void TraceJsonReader::takeTensors(const JsonFields &fields, std::string_view key,
                                  const TracePlace &place, std::vector<Observation> &observations)
{
    JsonProblem trouble;
    for (const JsonValue &entry : fields.elementsIf(key)) {
        if (observations.size() == limits::TraceObservations) {
            addProblem(place, "limit",
                       "has more than " + std::to_string(limits::TraceObservations) + " tensors");
            break;
        }
        const bool isWord = entry.kind() == JsonValue::Kind::Text;
        if (isWord || entry.kind() == JsonValue::Kind::Null)
            observations.emplace_back().absence = isWord ? Absence::Oversize : Absence::Null;
        else
            addTensor(JsonFields(entry, std::string(key), trouble), place, observations);
    }
    if (trouble.error)
        fields.problem({}, trouble.error->place + ": " + trouble.error->text);
}

bool firstLineHas(std::string_view head, std::initializer_list<std::string_view> members)
{
    const std::string_view line = head.substr(0, head.find('\n'));
    if (line.empty() || line.front() != '{')
        return false;
    // Of a long line no parse is begun for a dialect whose words are not in it.
    const bool hasWords = std::all_of(members.begin(), members.end(), [&](std::string_view member) {
        return line.find("\"" + std::string(member) + "\"") != std::string_view::npos;
    });
    if (!hasWords)
        return false;
    const auto document = JsonDocument::parse(line, RepeatedKeys::Refuse, NonFinite::Take);
    if (!document.ok())
        return line.size() == head.size(); // longer than the head: judged by what is there of it
    return std::all_of(members.begin(), members.end(), [&](std::string_view member) {
        return document->root().find(member).has_value();
    });
}

std::string dtypeWord(std::string_view word)
{
    return std::string(word.starts_with("torch.") ? word.substr(6) : word);
}

std::string canonicalText(const JsonValue &value)
{
    JsonWriter json(0);
    writeCanonical(json, value);
    std::string text = json.take();
    if (text.ends_with('\n'))
        text.pop_back();
    return text;
}

std::optional<std::int64_t> integerOrNull(const JsonFields &fields, std::string_view key)
{
    const auto value = fields.find(key);
    if (!value || value->kind() == JsonValue::Kind::Null)
        return std::nullopt;
    return fields.integerIf(key);
}

std::string textOrNull(const JsonFields &fields, std::string_view key)
{
    const auto value = fields.find(key);
    if (!value || value->kind() == JsonValue::Kind::Null)
        return {};
    return fields.textOr(key);
}

std::optional<std::string> hexDigest(std::string_view text, std::size_t digits)
{
    if (text.size() != digits)
        return std::nullopt;
    std::string hex(text);
    char wrong = 0;
    for (char &c : hex) {
        const char lower = LowerHex[std::uint8_t(c)];
        wrong |= char(lower == 0);
        c = lower;
    }
    return wrong != 0 ? std::nullopt : std::optional(std::move(hex));
}

void takeDigest(Observation &observation, DigestKind kind, std::string_view text,
                std::size_t digits, bool &wrong)
{
    observation.kind = kind;
    if (auto hex = hexDigest(text, digits)) {
        observation.digest = *std::move(hex);
        return;
    }
    const bool isPlaceholder = text.starts_with("__staged");
    observation.absence = text == "skipped_oversize" ? Absence::Oversize : Absence::Unresolved;
    wrong = wrong || (!isPlaceholder && observation.absence == Absence::Unresolved);
}

std::optional<std::vector<std::uint64_t>> shapeOf(const JsonFields &fields, std::string_view key)
{
    const auto value = fields.find(key);
    if (!value || !value->isArray())
        return std::nullopt;
    std::vector<std::uint64_t> shape;
    shape.reserve(std::min(value->childCount(), limits::Rank));
    for (const JsonValue &dimension : value->each()) {
        const auto count = dimension.unsignedInteger();
        if (!count || shape.size() == limits::Rank) {
            fields.problem(key,
                           "must be a list of at most " + std::to_string(limits::Rank) + " counts");
            return std::nullopt;
        }
        shape.push_back(*count);
    }
    return shape;
}

} // namespace forkpoint
