// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/safetensors_loader.h"

#include "loaders/json_members.h"
#include "loaders/limits.h"
#include "model/trace_stage.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <unordered_map>

namespace forkpoint {

namespace {

constexpr std::uint64_t LengthBytes = 8;
constexpr std::string_view MetadataKey = "__metadata__";
constexpr std::uint64_t MaxTypeBits = std::uint64_t(1) << 28; ///< of an unknown type
constexpr std::string_view JsonSpace = " \t\r\n";

struct Code
{
    std::string_view code;
    std::string_view dtype;
};

// safetensors/src/tensor.rs, enum Dtype. F4 counts single elements, torch pairs of them.
constexpr Code Codes[] = {
    {"BOOL", "bool"},
    {"U8", "uint8"},
    {"I8", "int8"},
    {"U16", "uint16"},
    {"I16", "int16"},
    {"U32", "uint32"},
    {"I32", "int32"},
    {"U64", "uint64"},
    {"I64", "int64"},
    {"F16", "float16"},
    {"BF16", "bfloat16"},
    {"F32", "float32"},
    {"F64", "float64"},
    {"C64", "complex64"},
    {"F8_E4M3", "float8_e4m3fn"},
    {"F8_E5M2", "float8_e5m2"},
    {"F8_E4M3FNUZ", "float8_e4m3fnuz"},
    {"F8_E5M2FNUZ", "float8_e5m2fnuz"},
    {"F8_E8M0", "float8_e8m0fnu"},
    {"F6_E2M3", "float6_e2m3"},
    {"F6_E3M2", "float6_e3m2"},
    {"F4", "float4_e2m1fn_x2"},
};

std::optional<DType> dtypeOfCode(std::string_view code)
{
    for (const Code &row : Codes) {
        if (row.code == code)
            return dtypeByName(row.dtype);
    }
    return std::nullopt;
}

/// "a,,b" as three; of an empty text none.
std::vector<std::string_view> commaList(std::string_view text)
{
    std::vector<std::string_view> words;
    while (!text.empty()) {
        const std::size_t comma = std::min(text.find(','), text.size());
        words.push_back(text.substr(0, comma));
        if (comma + 1 == text.size())
            words.emplace_back(); // a list may end in an empty entry
        text.remove_prefix(std::min(comma + 1, text.size()));
    }
    return words;
}

std::optional<std::int64_t> wholeNumber(std::string_view text)
{
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool isWhole = error == std::errc() && end == text.data() + text.size();
    return isWhole ? std::optional(number) : std::nullopt;
}

/// One member of the header, as it stands there.
struct Entry
{
    std::string name;
    std::string_view code; ///< of the reader's own
    Shape shape;
    std::uint64_t begin = 0; ///< relative to the data
    std::uint64_t end = 0;
};

/// One member of the metadata.
struct Note
{
    std::string key;
    std::optional<std::string> text;
    std::string_view kindName; ///< of what is not text
};

std::string inQuotes(std::string_view name)
{
    return "'" + escapeInvalidUtf8(name) + "'";
}

/// Parses one file; the steps in the order in which the file can be wrong.
class Reader
{
public:
    Reader(std::shared_ptr<const ByteSource> source, CheckpointBuilder &builder)
        : m_source(std::move(source)),
          m_builder(builder)
    {
    }

    Status load(std::stop_token stop)
    {
        FP_CHECK(readHeader());
        if (stop.stop_requested())
            return bad({}, "stopped", ErrorCode::Cancelled);
        FP_CHECK(checkCover());
        m_file = m_builder.addFile(m_source);
        m_builder.expectTensors(m_entries.size());
        for (const Entry &entry : m_entries)
            FP_CHECK(addEntry(entry));
        addMetadata();
        for (const std::string &extra : m_extraMembers)
            tell(Severity::Note, "extra-member", inQuotes(extra),
                 "the format knows no such member");
        return {};
    }

private:
    Error bad(std::string place, std::string text, ErrorCode code = ErrorCode::Malformed) const
    {
        return {code, m_source->name(), std::move(place), std::move(text)};
    }
    Error badEntry(const Entry &entry, std::string text,
                   ErrorCode code = ErrorCode::Malformed) const
    {
        return bad("tensor " + inQuotes(entry.name), std::move(text), code);
    }

    Status readHeader()
    {
        const std::uint64_t size = m_source->size();
        if (size < LengthBytes) {
            return bad({},
                       "must begin with 8 bytes of header length, file has " + std::to_string(size),
                       ErrorCode::Truncated);
        }
        FP_TRY(const auto length, readAll(*m_source, 0, LengthBytes, LengthBytes));
        const auto header = loadLittle<std::uint64_t>(length.data());
        if (header > limits::SafetensorsHeaderBytes) {
            return bad("byte 0",
                       "header may have at most " + std::to_string(limits::SafetensorsHeaderBytes)
                           + " bytes, announces " + std::to_string(header),
                       ErrorCode::Limit);
        }
        if (header > size - LengthBytes) {
            return bad("byte 0",
                       "header ends at byte " + std::to_string(LengthBytes + header) + ", file has "
                           + std::to_string(size),
                       ErrorCode::Truncated);
        }
        m_dataBegin = LengthBytes + header;
        FP_TRY(const auto bytes,
               readAll(*m_source, LengthBytes, header, limits::SafetensorsHeaderBytes));
        if (readPlainEntries(asText(bytes)))
            return {};
        m_entries.clear();
        m_notes.clear();
        m_extraMembers.clear();
        return readEntries(asText(bytes));
    }

    /// Without a tree of the header, which would be larger than what is kept of it. False where the
    /// header is not plain, or wrong.
    bool readPlainEntries(std::string_view header)
    {
        JsonMembers members(header);
        JsonMembers::Step step = members.next();
        for (; step == JsonMembers::Step::Member; step = members.next()) {
            if (!readMember(members.key(), members.value()).ok())
                return false;
        }
        return step == JsonMembers::Step::End && namesAreDistinct();
    }

    /// By their hashes, which cost little of names by the million.
    bool namesAreDistinct() const
    {
        std::vector<std::size_t> hashes;
        hashes.reserve(m_entries.size());
        for (const Entry &entry : m_entries)
            hashes.push_back(std::hash<std::string>()(entry.name));
        std::sort(hashes.begin(), hashes.end());
        return m_metadataMembers <= 1
            && std::adjacent_find(hashes.begin(), hashes.end()) == hashes.end();
    }

    Status readEntries(std::string_view header)
    {
        const auto document = JsonDocument::parse(header);
        if (!document.ok())
            return Error(document.error()).inFile(m_source->name()).atPlace("header");
        const JsonValue root = document->root();
        if (!root.isObject())
            return bad("header", "must be an object, is " + std::string(root.kindName()));
        m_entries.reserve(root.childCount());
        for (const JsonValue &member : root.each())
            FP_CHECK(readMember(member.key(), member));
        return {};
    }

    Status readMember(std::string_view key, const JsonValue &member)
    {
        if (key != MetadataKey)
            return readEntry(key, member);
        ++m_metadataMembers;
        if (!member.isObject()) {
            return bad(std::string(MetadataKey),
                       "must be an object, is " + std::string(member.kindName()));
        }
        if (member.find("dtype") && member.find("data_offsets"))
            return bad(std::string(MetadataKey), "must hold texts, is a tensor");
        for (const JsonValue &note : member.each()) {
            const bool isText = note.kind() == JsonValue::Kind::Text;
            m_notes.push_back({std::string(note.key()),
                               isText ? std::optional<std::string>(*note.text()) : std::nullopt,
                               note.kindName()});
        }
        return {};
    }

    Status readEntry(std::string_view name, const JsonValue &member)
    {
        Entry entry;
        entry.name = name;
        if (!member.isObject())
            return badEntry(entry, "must be an object, is " + std::string(member.kindName()));
        std::optional<JsonValue> dtype, shape, offsets;
        for (const JsonValue &field : member.each()) {
            if (field.key() == "dtype")
                dtype = field;
            else if (field.key() == "shape")
                shape = field;
            else if (field.key() == "data_offsets")
                offsets = field;
            else
                m_extraMembers.push_back(entry.name + "." + std::string(field.key()));
        }
        if (!dtype || !shape || !offsets) {
            return badEntry(entry,
                            std::string("lacks ")
                                + (!dtype       ? "dtype"
                                       : !shape ? "shape"
                                                : "data_offsets"));
        }
        if (dtype->kind() != JsonValue::Kind::Text)
            return badEntry(entry, "dtype must be text, is " + std::string(dtype->kindName()));
        entry.code = kept(*dtype->text());
        FP_CHECK(readShape(*shape, entry));
        FP_CHECK(readOffsets(*offsets, entry));
        m_entries.push_back(std::move(entry));
        return {};
    }

    /// The few element types of a file, each held once.
    std::string_view kept(std::string_view code)
    {
        const auto known = m_codes.find(code);
        return known != m_codes.end() ? *known : *m_codes.emplace(code).first;
    }

    Status readShape(const JsonValue &shape, Entry &entry) const
    {
        if (!shape.isArray())
            return badEntry(entry, "shape must be a list, is " + std::string(shape.kindName()));
        if (shape.childCount() > limits::Rank) {
            return badEntry(entry,
                            "may have at most " + std::to_string(limits::Rank) + " dimensions, has "
                                + std::to_string(shape.childCount()),
                            ErrorCode::Limit);
        }
        entry.shape.dims.reserve(shape.childCount());
        for (const JsonValue &dimension : shape.each()) {
            const auto size = dimension.unsignedInteger();
            if (!size) {
                return badEntry(entry,
                                "a dimension must be an integer from 0 to 2^64 - 1, is "
                                    + std::string(dimension.kindName()));
            }
            entry.shape.dims.push_back(*size);
        }
        return {};
    }

    Status readOffsets(const JsonValue &offsets, Entry &entry) const
    {
        if (!offsets.isArray() || offsets.childCount() != 2)
            return badEntry(entry, "data_offsets must be a list of two integers");
        std::uint64_t *next = &entry.begin;
        for (const JsonValue &offset : offsets.each()) {
            if (!offset.unsignedInteger()) {
                return badEntry(entry,
                                "an offset must be an integer from 0 to 2^64 - 1, is "
                                    + std::string(offset.kindName()));
            }
            *std::exchange(next, &entry.end) = *offset.unsignedInteger();
        }
        if (entry.end >= entry.begin)
            return {};
        return badEntry(entry,
                        "begins at " + std::to_string(entry.begin) + " and ends before, at "
                            + std::to_string(entry.end));
    }

    /// No hole, no overlap, nothing behind: the ranges cover the data exactly.
    Status checkCover()
    {
        std::vector<const Entry *> sorted;
        sorted.reserve(m_entries.size());
        for (const Entry &entry : m_entries)
            sorted.push_back(&entry);
        const auto isBefore = [](const Entry *a, const Entry *b) {
            return std::pair(a->begin, a->end) < std::pair(b->begin, b->end);
        };
        if (!std::is_sorted(sorted.begin(), sorted.end(), isBefore)) // as most are
            std::stable_sort(sorted.begin(), sorted.end(), isBefore);
        std::uint64_t end = 0;
        for (const Entry *entry : sorted) {
            FP_CHECK(checkBegin(*entry, end));
            end = entry->end;
        }
        const std::uint64_t there = m_source->size() - m_dataBegin;
        if (end < there) {
            return bad("byte " + std::to_string(m_dataBegin + end),
                       "must end with its last tensor, has " + std::to_string(there - end)
                           + " bytes more that no tensor covers");
        }
        if (end > there) {
            m_builder.addDiagnostic(bad({},
                                        "data needs " + std::to_string(end) + " bytes, file has "
                                            + std::to_string(there) + " of them",
                                        ErrorCode::Truncated),
                                    Severity::Error);
        }
        return {};
    }

    Status checkBegin(const Entry &entry, std::uint64_t end) const
    {
        if (entry.begin == end)
            return {};
        const std::string numbers =
            "must begin at " + std::to_string(end) + ", begins at " + std::to_string(entry.begin);
        if (entry.begin < end)
            return badEntry(entry, numbers + ": its bytes belong to another tensor too");
        return badEntry(entry, numbers + ": the bytes between belong to no tensor");
    }

    /// Turns a count of single elements into one of pairs, as torch has it.
    Status halveLastDimension(const Entry &entry, Shape &shape) const
    {
        if (shape.dims.empty() || shape.dims.back() % 2 != 0)
            return badEntry(entry,
                            "F4 needs an even last dimension, shape is " + entry.shape.toString());
        shape.dims.back() /= 2;
        return {};
    }

    /// Checks the size, but not of unknown types, whose width nobody knows.
    Status describe(const Entry &entry, TensorRef &tensor) const
    {
        const auto dtype = dtypeOfCode(entry.code);
        tensor.shape = entry.shape;
        if (!dtype) {
            // How wide its elements are, the bytes tell.
            const std::uint64_t all = tensor.shape.count().value_or(0);
            const auto bits = checkedMul(entry.end - entry.begin, 8);
            tensor.dtype = namedOpaqueDType(escapeInvalidUtf8(entry.code), 1);
            tensor.layoutKnown = all > 0 && bits && *bits % all == 0 && *bits / all <= MaxTypeBits;
            if (tensor.layoutKnown)
                tensor.dtype.bits = std::uint32_t(*bits / all);
            return {};
        }
        tensor.dtype = *dtype;
        if (dtype->packing > 1)
            FP_CHECK(halveLastDimension(entry, tensor.shape));
        const auto count = tensor.shape.count();
        const auto bits = count ? checkedMul(*count, dtype->positionBits()) : std::nullopt;
        if (!bits)
            return badEntry(entry,
                            "shape " + entry.shape.toString()
                                + " overflows 64 bits: its bits must be fewer than 2^64");
        if (*bits % 8 != 0)
            return badEntry(entry, "its " + std::to_string(*bits) + " bits are no whole bytes");
        if (*bits / 8 == entry.end - entry.begin)
            return {};
        return badEntry(entry,
                        std::string(entry.code) + " " + entry.shape.toString() + " needs "
                            + std::to_string(*bits / 8) + " bytes, has "
                            + std::to_string(entry.end - entry.begin));
    }

    Status addEntry(const Entry &entry)
    {
        TensorRef tensor;
        tensor.path.keys = {Key::of(entry.name)};
        tensor.files = {m_source->name()};
        FP_CHECK(describe(entry, tensor));
        const std::uint64_t there = m_source->size() - m_dataBegin;
        if (entry.end > there) {
            m_builder.addUnreadable(std::move(tensor),
                                    bad({},
                                        "ends at byte " + std::to_string(m_dataBegin + entry.end)
                                            + ", file has " + std::to_string(m_source->size()),
                                        ErrorCode::Truncated));
            return {};
        }
        if (!dtypeOfCode(entry.code)) {
            m_builder.addUnreadable(std::move(tensor),
                                    bad({},
                                        "element type " + inQuotes(entry.code) + " is unknown; its "
                                            + std::to_string(entry.end - entry.begin)
                                            + " bytes are at "
                                            + std::to_string(m_dataBegin + entry.begin),
                                        ErrorCode::Unsupported));
            return {};
        }
        tensor.extents = {wholeExtent(entry, tensor)};
        m_builder.addTensor(std::move(tensor));
        return {};
    }

    Extent wholeExtent(const Entry &entry, const TensorRef &tensor) const
    {
        Extent extent;
        extent.fills = Extent::Fills::FlatRange;
        extent.file = m_file;
        extent.offset = m_dataBegin + entry.begin;
        extent.length = entry.end - entry.begin;
        extent.flatCount = tensor.shape.count().value_or(0);
        return extent;
    }

    void addMetadata()
    {
        if (m_notes.empty())
            return;
        std::unordered_map<std::string_view, std::size_t> numbers;
        for (std::size_t i = 0; i < m_entries.size(); ++i)
            numbers.emplace(m_entries[i].name, i);
        std::string_view order, stages, microBatches;
        for (const auto &[key, content, kindName] : m_notes) {
            const std::string place = std::string(MetadataKey) + "." + key;
            if (!content) {
                tell(Severity::Warning, toString(ErrorCode::Malformed), place,
                     "metadata must be text, is " + std::string(kindName));
                continue;
            }
            const std::string_view text = *content;
            ValueRef value;
            value.path.keys = {Key::of(std::string(MetadataKey)), Key::of(key)};
            value.value = Value::text(*content);
            value.file = m_source->name();
            m_builder.addValue(std::move(value));
            if (key == "order")
                order = text;
            if (key == "stages")
                stages = text;
            if (key == "micro_batches")
                microBatches = text;
            // save_model of the reference: names it dropped because another shares the storage.
            if (!numbers.contains(key) && numbers.contains(text)) {
                tell(Severity::Note, "tied", place,
                     "was saved as " + inQuotes(text) + ", which shares its storage");
            }
        }
        setRecordedPlaces(setExecutionOrder(order, numbers), stages, microBatches);
    }

    /// Takes the order only if every name of it is a tensor; they then count from 0. Returns the
    /// tensors in that order.
    std::vector<std::size_t>
    setExecutionOrder(std::string_view names,
                      const std::unordered_map<std::string_view, std::size_t> &numbers)
    {
        // Tensors of this file follow each other in the builder, from where it began.
        auto &tensors = m_builder.mutableCatalog().tensors;
        const std::size_t first = tensors.size() - m_entries.size();
        std::vector<std::size_t> order;
        for (const std::string_view name : commaList(names)) {
            const auto found = numbers.find(name);
            if (found == numbers.end())
                return {};
            order.push_back(first + found->second);
        }
        for (std::size_t i = 0; i < order.size(); ++i)
            tensors[order[i]].executionOrder = i;
        return order;
    }

    /// Lists beside the order, entry by entry: "forward,forward,loss" and "0,0,".
    void setRecordedPlaces(const std::vector<std::size_t> &order, std::string_view stages,
                           std::string_view microBatches)
    {
        const auto words = commaList(stages), numbers = commaList(microBatches);
        if (order.empty() || words.size() != order.size())
            return;
        std::map<RecordedPlace, std::shared_ptr<const RecordedPlace>> known;
        for (std::size_t i = 0; i < order.size(); ++i) {
            RecordedPlace place{stageByWord(words[i]), {}, {}};
            if (numbers.size() == order.size())
                place.microBatch = wholeNumber(numbers[i]);
            auto &shared = known[place];
            if (!shared)
                shared = std::make_shared<const RecordedPlace>(place);
            m_builder.mutableCatalog().tensors[order[i]].recorded = shared;
        }
    }

    void tell(Severity severity, std::string_view code, std::string_view place, std::string text)
    {
        m_builder.addDiagnostic({severity, std::string(code), m_source->name(),
                                 escapeInvalidUtf8(place), std::move(text)});
    }

    std::shared_ptr<const ByteSource> m_source;
    CheckpointBuilder &m_builder;
    std::uint64_t m_dataBegin = 0;
    FileIndex m_file = 0;
    std::vector<Entry> m_entries;
    std::set<std::string, std::less<>> m_codes;
    std::vector<Note> m_notes; ///< of the metadata
    std::size_t m_metadataMembers = 0;
    std::vector<std::string> m_extraMembers;
};

class SafetensorsLoader final : public Loader
{
public:
    std::string_view name() const override { return "safetensors"; }
    std::string_view description() const override
    {
        return "safetensors: a JSON header, then the tensors one after another";
    }

    Confidence probe(ByteView head, const ByteSource &source) const override
    {
        if (head.size() < LengthBytes)
            return Confidence::No;
        const auto length = loadLittle<std::uint64_t>(head.data());
        const std::string_view text = asText(head.subspan(LengthBytes));
        const std::size_t first = text.find_first_not_of(JsonSpace);
        if (first == std::string_view::npos || text[first] != '{')
            return Confidence::No;
        const bool fits = length <= source.size() - LengthBytes;
        return fits && length <= limits::SafetensorsHeaderBytes ? Confidence::Yes
                                                                : Confidence::Maybe;
    }

    Status load(std::shared_ptr<const ByteSource> source, const OpenOptions &, std::stop_token stop,
                CheckpointBuilder &builder) const override
    {
        return Reader(std::move(source), builder).load(stop);
    }
};

} // namespace

const Loader &safetensorsLoader()
{
    static const SafetensorsLoader loader;
    return loader;
}

} // namespace forkpoint
