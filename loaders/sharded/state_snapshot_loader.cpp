// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/sharded/state_snapshot_loader.h"

#include "loaders/arrays/numpy_dtype.h"
#include "loaders/elements/running_digest.h"
#include "loaders/limits.h"
#include "loaders/text/json_fields.h"
#include "loaders/text/number_fold.h"

#include <algorithm>
#include <array>
#include <bit>

namespace forkpoint {

namespace {

constexpr std::string_view FormatName = "megatron_training_state_v1";

/// "rank-000003.json" as "rank-000003".
std::optional<std::string> stemOfIndex(std::string_view name)
{
    constexpr std::string_view Word = "rank-", Extension = ".json";
    if (!name.starts_with(Word) || !name.ends_with(Extension))
        return std::nullopt;
    const std::string_view stem = name.substr(0, name.size() - Extension.size());
    const std::string_view digits = stem.substr(Word.size());
    const bool isNumber =
        !digits.empty() && digits.find_first_not_of("0123456789") == std::string_view::npos;
    return isNumber ? std::optional(std::string(stem)) : std::nullopt;
}

std::vector<std::string> stemsOf(const DirectoryView &view)
{
    std::vector<std::string> stems;
    for (const DirectoryEntry &entry : view.listing.entries) {
        const auto stem = stemOfIndex(entry.name);
        if (stem && view.hasFile(*stem + ".bin"))
            stems.push_back(*stem);
    }
    return stems;
}

/// One rank: the entries of its index become items whose bytes are in its other file.
class RankReader
{
public:
    RankReader(std::shared_ptr<const ByteSource> bytes, std::string file, KeyPath prefix,
               CheckpointBuilder &builder)
        : m_bytes(std::move(bytes)),
          m_file(std::move(file)),
          m_prefix(std::move(prefix)),
          m_builder(builder)
    {
        m_index = m_builder.addFile(m_bytes);
    }

    Status read(const JsonValue &root)
    {
        JsonProblem problem;
        const JsonFields fields(root, {}, problem);
        const std::string format = fields.text("format");
        if (problem.error || format != FormatName)
            return Error{ErrorCode::Unsupported, m_file, "format",
                         "must be " + std::string(FormatName) + ", is '" + format + "'"};
        if (const std::string status = fields.textOr("status"); status != "complete") {
            m_builder.setIncomplete();
            tell("status", "is '" + status + "', not complete: " + fields.textOr("reason"));
        }
        addContext(fields);
        const std::vector<JsonValue> entries = fields.arrayIf("index");
        for (std::size_t i = 0; i < entries.size();)
            i += addEntry(entries, i);
        if (m_next != m_bytes->size()) {
            m_builder.setIncomplete();
            tell("byte " + std::to_string(m_next),
                 "the index ends here, the file has " + std::to_string(m_bytes->size()) + " bytes");
        }
        if (problem.error)
            return std::move(*problem.error).inFile(m_file);
        return {};
    }

private:
    void tell(std::string place, std::string text)
    {
        m_builder.addDiagnostic(
            {Severity::Warning, "malformed", m_file, std::move(place), std::move(text)});
    }

    /// What the index says beside the state: run, process, versions. Context by its name.
    void addContext(const JsonFields &fields)
    {
        for (const char *key : {"run_id", "process_id", "boundary"}) {
            if (fields.has(key))
                addValue(m_prefix.child(Key::of("snapshot")).child(Key::of(key)),
                         Value::text(fields.textOr(key)), StateClass::Bookkeeping);
        }
        addResume(fields);
        const auto provenance = fields.objectIf("provenance");
        if (!provenance)
            return;
        for (const JsonValue &member : provenance->members()) {
            const auto value = scalarOf(member);
            if (value)
                addValue(
                    m_prefix.child(Key::of("provenance")).child(Key::of(std::string(member.key()))),
                    *value, StateClass::Recipe);
        }
    }

    /// Which run and checkpoint it began from, with the hash of each file; null of a fresh run.
    void addResume(const JsonFields &fields)
    {
        const auto resume = fields.find("resume_from");
        if (!resume || resume->kind() != JsonValue::Kind::Object)
            return;
        const KeyPath path = m_prefix.child(Key::of("snapshot")).child(Key::of("resume_from"));
        for (const JsonValue &member : resume->children()) {
            const KeyPath own = path.child(Key::of(std::string(member.key())));
            if (const auto value = scalarOf(member))
                addValue(own, *value, StateClass::Bookkeeping);
            if (member.kind() != JsonValue::Kind::Object)
                continue;
            for (const JsonValue &file : member.children()) {
                if (const auto hash = scalarOf(file))
                    addValue(own.child(Key::of(std::string(file.key()))), *hash,
                             StateClass::Bookkeeping);
            }
        }
    }

    void addValue(KeyPath path, Value value, StateClass stateClass = StateClass::Unknown)
    {
        ValueRef ref;
        ref.path = std::move(path);
        ref.value = std::move(value);
        ref.stateClass = stateClass;
        ref.file = m_file;
        m_builder.addValue(std::move(ref));
    }

    static std::optional<Value> scalarOf(const JsonValue &value)
    {
        switch (value.kind()) {
        case JsonValue::Kind::Null: return Value::none();
        case JsonValue::Kind::Bool: return Value::boolean(*value.boolean());
        case JsonValue::Kind::Unsigned: return Value::unsignedInteger(*value.unsignedInteger());
        case JsonValue::Kind::Negative: return Value::integer(*value.negative());
        case JsonValue::Kind::Digits: return Value::bigInteger(std::string(*value.text()));
        case JsonValue::Kind::Real: return Value::real(*value.real());
        case JsonValue::Kind::Text: return Value::text(std::string(*value.text()));
        case JsonValue::Kind::Array:
        case JsonValue::Kind::Object: break;
        }
        return std::nullopt;
    }

    /// The path of an entry; keys keep their types: 0 and "0" are two.
    std::optional<KeyPath> pathOf(const JsonFields &entry) const
    {
        KeyPath path = m_prefix;
        for (const JsonValue &key : entry.arrayIf("path")) {
            if (key.kind() == JsonValue::Kind::Text)
                path.keys.push_back(Key::of(std::string(*key.text())));
            else if (const auto number = integerOf(key))
                path.keys.push_back(Key::at(*number));
            else
                return std::nullopt;
        }
        return path.keys.size() == m_prefix.keys.size() ? std::nullopt
                                                        : std::optional(std::move(path));
    }

    /// Adds entry `at` and returns how many entries that took.
    std::size_t addEntry(const std::vector<JsonValue> &entries, std::size_t at)
    {
        JsonProblem problem;
        const std::string place = "index[" + std::to_string(at) + "]";
        const JsonFields entry(entries[at], place, problem);
        const auto path = pathOf(entry);
        const std::string kind = entry.text("kind");
        if (!path)
            entry.problem("path", "must be a list of texts and whole numbers");
        std::size_t taken = 1;
        if (!problem.error)
            taken = addKind(entries, at, kind, *path, entry);
        if (problem.error) {
            m_builder.setIncomplete();
            tell(problem.error->place, problem.error->text);
        }
        return taken;
    }

    std::size_t addKind(const std::vector<JsonValue> &entries, std::size_t at,
                        const std::string &kind, const KeyPath &path, const JsonFields &entry)
    {
        if (kind == "mapping") {
            if (entry.arrayIf("keys").empty())
                addValue(path, Value::empty("{}"));
        } else if (kind == "list" || kind == "tuple") {
            return addList(entries, at, kind, path, entry);
        } else if (kind == "tensor" || kind == "numpy") {
            addTensor(kind, path, entry);
        } else if (kind == "float" || kind == "complex") {
            addReal(kind, path, entry);
        } else if (kind == "bytes" || kind == "bytes_io") {
            addBytes(path, entry);
        } else if (kind == "bool" || kind == "int" || kind == "str" || kind == "NoneType") {
            const auto member = entry.find("value");
            const auto value = member ? scalarOf(*member) : std::nullopt;
            if (value)
                addValue(path, *value);
            else
                entry.problem("value", "must be a plain value");
        } else {
            entry.problem("kind", "'" + kind + "' is not a kind of this format");
        }
        return 1;
    }

    /// A long list of numbers is one value, as everywhere.
    std::size_t addList(const std::vector<JsonValue> &entries, std::size_t at,
                        const std::string &kind, const KeyPath &path, const JsonFields &entry)
    {
        const std::uint64_t length = entry.count("length");
        if (length == 0)
            addValue(path, Value::empty(kind == "list" ? "[]" : "()"));
        if (length <= limits::FoldedNumbers || length > entries.size() - at - 1)
            return 1;
        NumberFold fold;
        for (std::size_t i = 1; i <= length; ++i) {
            const auto value = entries[at + i].find("value");
            const auto number = value ? integerOf(*value) : std::nullopt;
            if (!number)
                return 1; // something else is among them
            fold.addInteger(*number);
        }
        const auto value = fold.value();
        if (!value)
            return 1;
        addValue(path, *value);
        return std::size_t(length) + 1;
    }

    /// The next bytes of the file, which entries take one after the other.
    std::optional<std::uint64_t> takeBytes(const JsonFields &entry, std::uint64_t count)
    {
        const std::uint64_t offset = entry.count("offset");
        if (offset != m_next)
            entry.problem("offset",
                          "must follow the entry before, at " + std::to_string(m_next) + ", is "
                              + std::to_string(offset));
        if (entry.count("nbytes") != count)
            entry.problem("nbytes", "must be " + std::to_string(count));
        const std::uint64_t size = m_bytes->size();
        if (offset > size || count > size - offset) {
            entry.problem("offset",
                          "ends at byte " + std::to_string(offset) + " + " + std::to_string(count)
                              + ", the file has " + std::to_string(size));
            return std::nullopt;
        }
        m_next = offset + count;
        return offset;
    }

    void addTensor(const std::string &kind, const KeyPath &path, const JsonFields &entry)
    {
        const std::string name = entry.text("dtype");
        TensorRef tensor;
        Extent extent;
        if (kind == "tensor") {
            const auto dtype = dtypeByName(name.starts_with("torch.") ? name.substr(6) : name);
            if (!dtype)
                return entry.problem("dtype", "'" + name + "' is not known");
            tensor.dtype = *dtype;
        } else {
            const auto described = numpyDescription(name);
            if (!described.ok())
                return entry.problem("dtype", described.error().text);
            tensor.dtype = described->dtype;
            extent.order = described->order;
        }
        for (const JsonValue &dimension : entry.arrayIf("shape")) {
            const auto count = dimension.unsignedInteger();
            if (!count || tensor.shape.dims.size() == limits::Rank)
                return entry.problem("shape", "must be a list of counts");
            tensor.shape.dims.push_back(*count);
        }
        const auto elements = tensor.shape.count();
        const std::uint64_t itemSize = entry.count("itemsize");
        if (!elements || *elements != entry.count("elements") || itemSize == 0
            || *elements > m_bytes->size() / itemSize)
            return entry.problem("elements", "must be what the shape gives, inside the file");
        const auto offset = takeBytes(entry, *elements * itemSize);
        if (!offset)
            return;
        tensor.path = path;
        tensor.files = {m_file};
        extent.fills = Extent::Fills::FlatRange;
        extent.file = m_index;
        extent.offset = *offset;
        extent.length = *elements * itemSize;
        extent.flatCount = *elements;
        tensor.extents = {std::move(extent)};
        m_builder.addTensor(std::move(tensor));
    }

    /// Doubles are big-endian, alone in this format.
    void addReal(const std::string &kind, const KeyPath &path, const JsonFields &entry)
    {
        const std::size_t parts = kind == "float" ? 1 : 2;
        const auto offset = takeBytes(entry, 8 * parts);
        if (!offset)
            return;
        std::array<std::byte, 16> bytes{};
        const auto wanted = MutableByteView(bytes).first(8 * parts);
        if (const Status status = m_bytes->read(*offset, wanted); !status.ok())
            return entry.problem("offset", status.error().text);
        std::array<double, 2> numbers{};
        for (std::size_t part = 0; part < parts; ++part) {
            std::uint64_t bits = 0;
            for (std::size_t i = 0; i < 8; ++i)
                bits = bits << 8 | std::to_integer<std::uint64_t>(bytes[8 * part + i]);
            numbers[part] = std::bit_cast<double>(bits);
        }
        if (parts == 1) {
            addValue(path, Value::real(numbers[0]));
            return;
        }
        Value value = Value::opaque("complex(" + Value::real(numbers[0]).toDisplay() + ", "
                                    + Value::real(numbers[1]).toDisplay() + ")");
        value.digest = sha256Hex(wanted);
        addValue(path, std::move(value));
    }

    void addBytes(const KeyPath &path, const JsonFields &entry)
    {
        const std::uint64_t count = entry.count("nbytes");
        const auto offset = takeBytes(entry, count);
        if (!offset)
            return;
        const auto bytes = readAll(*m_bytes, *offset, count, limits::JsonBytes);
        if (!bytes.ok())
            return entry.problem("offset", bytes.error().text);
        Value value{ValueType::Bytes, {}, count, sha256Hex(*bytes)};
        addValue(path, std::move(value));
    }

    std::shared_ptr<const ByteSource> m_bytes;
    std::string m_file;
    KeyPath m_prefix;
    CheckpointBuilder &m_builder;
    FileIndex m_index = 0;
    std::uint64_t m_next = 0; ///< where the bytes of the next entry begin
};

class StateSnapshotLoader final : public DirectoryLoader
{
public:
    std::string_view name() const override { return "megatron-state"; }
    std::string_view description() const override
    {
        return "Megatron training state snapshots (rank-*.json and .bin): raw bytes of all state";
    }

    DirectoryClaim claim(const DirectoryView &view) const override
    {
        return {!stemsOf(view).empty(), {}};
    }

    Result<LoadedFile> load(const DirectoryView &view, const OpenOptions &,
                            std::stop_token stop) const override
    {
        LoadedFile loaded;
        loaded.format = "megatron-state";
        const std::vector<std::string> stems = stemsOf(view);
        std::size_t opened = 0;
        std::optional<Error> first;
        for (const std::string &stem : stems) {
            if (stop.stop_requested())
                return Error{ErrorCode::Cancelled, {}, {}, "cancelled"};
            const Status status = loadRank(view, stem, stems.size() > 1, loaded.builder);
            if (status.ok()) {
                ++opened;
                continue;
            }
            loaded.builder.setIncomplete();
            loaded.builder.addDiagnostic(status.error(), Severity::Error);
            if (!first)
                first = status.error();
        }
        if (opened == 0 && first)
            return *first;
        return loaded;
    }

private:
    static Status loadRank(const DirectoryView &view, const std::string &stem, bool prefixed,
                           CheckpointBuilder &builder)
    {
        FP_TRY(const auto index, view.open(stem + ".json"));
        FP_TRY(const auto text, readAll(*index, 0, index->size(), limits::JsonBytes));
        auto document = JsonDocument::parse(asText(text));
        if (!document.ok())
            return std::move(document).error().inFile(index->name());
        FP_TRY(auto bytes, view.open(stem + ".bin"));
        KeyPath prefix;
        if (prefixed)
            prefix.keys.push_back(Key::of(stem));
        return RankReader(std::move(bytes), stem + ".bin", prefix, builder).read(document->root());
    }
};

} // namespace

const DirectoryLoader &stateSnapshotLoader()
{
    static const StateSnapshotLoader loader;
    return loader;
}

} // namespace forkpoint
