// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/arrays/safetensors_loader.h"

#include "loaders/arrays/safetensors_header.h"
#include "loaders/limits.h"
#include "model/traces/trace_stage.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <unordered_map>

namespace forkpoint {

namespace {

constexpr std::uint64_t MaxTypeBits = std::uint64_t(1) << 28; ///< of an unknown type

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

std::string inQuotes(std::string_view name)
{
    return "'" + escapeInvalidUtf8(name) + "'";
}

using Entry = SafetensorsEntry;

/// Lists what one file holds.
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
        FP_TRY(m_header, readSafetensorsHeader(*m_source));
        if (stop.stop_requested())
            return Error{ErrorCode::Cancelled, m_source->name(), {}, "stopped"};
        if (m_header.truncated)
            m_builder.addDiagnostic(*m_header.truncated, Severity::Error);
        m_file = m_builder.addFile(m_source);
        m_builder.expectTensors(m_header.entries.size());
        for (const Entry &entry : m_header.entries)
            FP_CHECK(addEntry(entry));
        addMetadata();
        for (const std::string &extra : m_header.extraMembers)
            tell(Severity::Note, "extra-member", inQuotes(extra),
                 "the format knows no such member");
        return {};
    }

private:
    Error badEntry(const Entry &entry, std::string text) const
    {
        return {ErrorCode::Malformed, m_source->name(), "tensor " + inQuotes(entry.name),
                std::move(text)};
    }

    void addUnreadable(TensorRef tensor, ErrorCode code, std::string reason)
    {
        m_builder.addUnreadable(std::move(tensor), {code, m_source->name(), {}, std::move(reason)});
    }

    const std::string &codeOf(const Entry &entry) const { return m_header.codes[entry.code]; }

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
        const auto dtype = dtypeOfCode(codeOf(entry));
        tensor.shape = entry.shape;
        if (!dtype) {
            // How wide its elements are, the bytes tell.
            const std::uint64_t all = tensor.shape.count().value_or(0);
            const auto bits = checkedMul(entry.end - entry.begin, 8);
            tensor.dtype = namedOpaqueDType(escapeInvalidUtf8(codeOf(entry)), 1);
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
                        codeOf(entry) + " " + entry.shape.toString() + " needs "
                            + std::to_string(*bits / 8) + " bytes, has "
                            + std::to_string(entry.end - entry.begin));
    }

    Status addEntry(const Entry &entry)
    {
        TensorRef tensor;
        tensor.path.keys = {Key::of(entry.name)};
        tensor.files = {m_source->name()};
        FP_CHECK(describe(entry, tensor));
        const std::uint64_t there = m_source->size() - m_header.dataBegin;
        if (entry.end > there) {
            addUnreadable(std::move(tensor), ErrorCode::Truncated,
                          "ends at byte " + std::to_string(m_header.dataBegin + entry.end)
                              + ", file has " + std::to_string(m_source->size()));
            return {};
        }
        if (!dtypeOfCode(codeOf(entry))) {
            addUnreadable(std::move(tensor), ErrorCode::Unsupported,
                          "element type " + inQuotes(codeOf(entry)) + " is unknown; its "
                              + std::to_string(entry.end - entry.begin) + " bytes are at "
                              + std::to_string(m_header.dataBegin + entry.begin));
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
        extent.offset = m_header.dataBegin + entry.begin;
        extent.length = entry.end - entry.begin;
        extent.flatCount = tensor.shape.count().value_or(0);
        return extent;
    }

    void addMetadata()
    {
        if (m_header.notes.empty())
            return;
        std::unordered_map<std::string_view, std::size_t> numbers;
        for (std::size_t i = 0; i < m_header.entries.size(); ++i)
            numbers.emplace(m_header.entries[i].name, i);
        std::string_view order, stages, microBatches;
        for (const auto &[key, content, kindName] : m_header.notes) {
            const std::string place = std::string(SafetensorsMetadataKey) + "." + key;
            if (!content) {
                tell(Severity::Warning, toString(ErrorCode::Malformed), place,
                     "metadata must be text, is " + std::string(kindName));
                continue;
            }
            const std::string_view text = *content;
            ValueRef value;
            value.path.keys = {Key::of(std::string(SafetensorsMetadataKey)), Key::of(key)};
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
        const std::size_t first = tensors.size() - m_header.entries.size();
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
    SafetensorsHeader m_header;
    FileIndex m_file = 0;
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
        if (!looksLikeSafetensors(head))
            return Confidence::No;
        const auto length = loadLittle<std::uint64_t>(head.data());
        const bool fits = length <= source.size() - sizeof length;
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
