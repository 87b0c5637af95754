// SPDX-License-Identifier: GPL-3.0-or-later
// Summary of TensorFlow's summary.proto and tensor.proto, by field number.
#include "loaders/metrics/metrics_tensorboard.h"

#include "loaders/metrics/metrics_damage.h"
#include "loaders/metrics/proto_reader.h"
#include "loaders/metrics/record_log.h"
#include "loaders/metrics/tensorboard_event.h"
#include "model/key_path.h"

#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <string>

namespace forkpoint {

namespace {

namespace value {
enum Field : std::uint32_t {
    Tag = 1,
    SimpleValue = 2,
    OldHistogram = 3,
    Image = 4,
    Histogram = 5,
    Audio = 6,
    Tensor = 8,
    Metadata = 9
};
}
namespace tensor {
enum Field : std::uint32_t {
    DType = 1,
    Shape = 2,
    Content = 4,
    FloatValue = 5,
    DoubleValue = 6,
    IntValue = 7,
    Int64Value = 10
};
enum Type : std::uint64_t { Float = 1, Double = 2, Int32 = 3, Int64 = 9 };
} // namespace tensor

/// What plugins keep that belongs to the recipe rather than to the training.
bool isSideInformation(std::string_view plugin)
{
    return plugin == "text" || plugin == "hparams" || plugin == "custom_scalars";
}

std::uint64_t bytesOf(std::uint64_t dtype)
{
    return dtype == tensor::Double || dtype == tensor::Int64 ? 8 : 4;
}

/// A number out of a tensor of one element.
struct Scalar
{
    bool float32 = false;
    double value = 0;
    std::optional<std::int64_t> integer = {}; ///< of which `value` may not hold every bit
};

class TensorReader
{
public:
    /// Nothing where the tensor is no number, or of more or fewer elements than one.
    static std::optional<Scalar> read(ByteView message)
    {
        TensorReader reader;
        ProtoReader fields(message);
        while (const auto field = fields.next())
            reader.take(*field);
        if (fields.malformed() || reader.m_count != 1 || reader.m_elements != 1)
            return std::nullopt;
        switch (reader.m_dtype) {
        case tensor::Float:
            return Scalar{true, double(std::bit_cast<float>(std::uint32_t(reader.m_bits)))};
        case tensor::Double: return Scalar{false, std::bit_cast<double>(reader.m_bits)};
        case tensor::Int32: return Scalar{false, double(std::int32_t(reader.m_bits))};
        case tensor::Int64: {
            const auto integer = std::int64_t(reader.m_bits);
            return Scalar{false, double(integer), integer};
        }
        default: return std::nullopt;
        }
    }

private:
    void take(const ProtoField &field)
    {
        switch (field.number) {
        case tensor::DType: m_dtype = field.value; break;
        case tensor::Shape: m_elements = elementsOf(field.bytes); break;
        case tensor::Content: takeContent(field.bytes); break;
        case tensor::FloatValue: takeNumbers(field, 4); break;
        case tensor::DoubleValue: takeNumbers(field, 8); break;
        case tensor::IntValue:
        case tensor::Int64Value: takeNumbers(field, 0); break;
        default: break;
        }
    }

    /// The type may stand behind the content, but never does in what writers make.
    void takeContent(ByteView bytes)
    {
        const std::uint64_t width = bytesOf(m_dtype);
        m_count += bytes.size() % width == 0 ? bytes.size() / width : 2;
        if (bytes.size() == 8)
            m_bits = loadLittle<std::uint64_t>(bytes.data());
        else if (bytes.size() == 4)
            m_bits = loadLittle<std::uint32_t>(bytes.data());
    }

    /// Packed or one by one; `width` 0: varints.
    void takeNumbers(const ProtoField &field, std::size_t width)
    {
        if (field.wire != ProtoField::Wire::Bytes) {
            ++m_count;
            m_bits = field.value;
            return;
        }
        ProtoReader packed(field.bytes);
        for (std::size_t at = 0; width > 0 && at + width <= field.bytes.size(); at += width) {
            ++m_count;
            m_bits = width == 8 ? loadLittle<std::uint64_t>(field.bytes.data() + at)
                                : loadLittle<std::uint32_t>(field.bytes.data() + at);
        }
        while (width == 0 && !packed.atEnd()) {
            const auto number = packed.varint();
            m_count += number ? 1 : 2;
            if (!number)
                return;
            m_bits = *number;
        }
    }

    static std::uint64_t elementsOf(ByteView shape)
    {
        constexpr std::uint32_t Dimension = 2, Size = 1;
        std::uint64_t elements = 1;
        ProtoReader fields(shape);
        while (const auto field = fields.next()) {
            std::uint64_t size = 0;
            ProtoReader inside(field->bytes);
            while (const auto part = inside.next())
                size = part->number == Size ? part->value : size;
            if (field->isBytes(Dimension))
                elements = size == 1 ? elements : 0; // only whether it is one matters
        }
        return elements;
    }

    std::uint64_t m_dtype = 0, m_elements = 1, m_count = 0, m_bits = 0;
};

/// Reads the files of one run into a table.
class EventReader
{
public:
    explicit EventReader(MetricsTable &table) : m_table(table) {}

    Status read(const ByteSource &file, const std::stop_token &stop)
    {
        TfRecordLog log(file);
        m_seen.clear();
        m_file = &file;
        while (!m_full) {
            if (stop.stop_requested())
                return Error{ErrorCode::Cancelled, file.name(), {}, "cancelled"};
            FP_TRY(const auto record, log.next());
            if (!record)
                break;
            takeRecord(*record);
        }
        describeDamage(log, m_table,
                       m_file->name() == m_table.file() ? std::string() : m_file->name());
        return {};
    }

private:
    void takeRecord(const LogRecord &record)
    {
        constexpr std::uint64_t FrameHeader = 12;
        const TensorBoardEvent parsed = parseTensorBoardEvent(record.data);
        if (!parsed.sound) {
            malformed(record.offset + FrameHeader + parsed.badPlace);
            return;
        }
        if (parsed.session == TensorBoardEvent::SessionStart)
            m_table.supersedeAll(parsed.step);
        if (!parsed.summary)
            return;
        constexpr std::uint32_t Value = 1;
        ProtoReader values(*parsed.summary);
        while (const auto field = values.next()) {
            if (field->isBytes(Value) && !takeValue(field->bytes, parsed.step))
                malformed(record.offset + FrameHeader);
        }
        if (values.malformed())
            malformed(record.offset + FrameHeader);
    }

    void malformed(std::uint64_t offset)
    {
        if (m_malformed++ == 0)
            m_table.addGap(Severity::Error, "malformed", place(offset),
                           "is no event; it was left out");
    }

    /// Of several files the place names the one.
    std::string place(std::uint64_t offset) const
    {
        const std::string byte = "byte " + std::to_string(offset);
        return m_file->name() == m_table.file() ? byte : m_file->name() + ": " + byte;
    }

    /// False where the message is malformed.
    bool takeValue(ByteView message, std::int64_t step)
    {
        std::string_view tag;
        std::string kind;
        std::optional<float> simple;
        std::optional<ByteView> asTensor;
        ProtoReader fields(message);
        while (const auto field = fields.next()) {
            switch (field->number) {
            case value::Tag: tag = field->text(); break;
            case value::SimpleValue:
                if (field->wire != ProtoField::Wire::Fixed32)
                    return false;
                simple = std::bit_cast<float>(std::uint32_t(field->value));
                break;
            case value::OldHistogram:
            case value::Histogram: kind = "histograms"; break;
            case value::Image: kind = "images"; break;
            case value::Audio: kind = "sounds"; break;
            case value::Tensor: asTensor = field->bytes; break;
            case value::Metadata: notePlugin(tag, field->bytes); break;
            default: break;
            }
        }
        if (fields.malformed())
            return false;
        const std::string name(tag);
        if (simple)
            add(name, step, {true, double(*simple)});
        else if (asTensor)
            addTensor(name, step, *asTensor);
        else if (!kind.empty())
            leaveOut(kind, name);
        else if (isSideInformation(pluginOf(name)))
            mention(name);
        return true;
    }

    /// Writers name the plugin with the first value of a tag alone.
    void notePlugin(std::string_view tag, ByteView metadata)
    {
        constexpr std::uint32_t PluginData = 1, PluginName = 1;
        constexpr std::size_t MostTags = 100'000;
        ProtoReader fields(metadata);
        while (const auto field = fields.next()) {
            ProtoReader plugin(field->isBytes(PluginData) ? field->bytes : ByteView());
            while (const auto part = plugin.next()) {
                if (part->isBytes(PluginName) && m_plugins.size() < MostTags)
                    m_plugins[std::string(tag)] = std::string(part->text());
            }
        }
    }

    std::string pluginOf(const std::string &tag) const
    {
        const auto found = m_plugins.find(tag);
        return found == m_plugins.end() ? std::string() : found->second;
    }

    void addTensor(const std::string &name, std::int64_t step, ByteView message)
    {
        const std::string plugin = pluginOf(name);
        const bool mayBeScalar = plugin.empty() || plugin == "scalars";
        if (const auto scalar = mayBeScalar ? TensorReader::read(message) : std::nullopt)
            add(name, step, *scalar);
        else if (isSideInformation(plugin))
            mention(name);
        else
            leaveOut(plugin.empty() || plugin == "scalars" ? "tensors" : plugin, name);
    }

    void leaveOut(const std::string &kind, const std::string &tag)
    {
        m_table.leaveOut(kind.size() > 40 ? "data of a plugin" : escapeInvalidUtf8(kind), tag);
    }

    void mention(const std::string &tag)
    {
        m_table.leaveOut("text or settings", tag, MetricsTable::LeftOut::Mention);
    }

    void add(const std::string &name, std::int64_t step, const Scalar &scalar)
    {
        // A later file that goes back was begun by a restart.
        if (m_seen.insert(name).second)
            m_table.supersede(name, step);
        if (scalar.float32)
            m_full = !m_table.addFloat32(name, step, float(scalar.value));
        else if (const auto text =
                     scalar.integer ? parseDecimal(std::to_string(*scalar.integer)) : std::nullopt)
            m_full = !m_table.addText(name, step, *text);
        else
            m_full = !m_table.add(name, step, scalar.value);
    }

    MetricsTable &m_table;
    const ByteSource *m_file = nullptr;
    std::set<std::string> m_seen; ///< tags of this file
    std::map<std::string, std::string> m_plugins;
    std::uint64_t m_malformed = 0;
    bool m_full = false;
};

} // namespace

Status readTensorBoard(const std::vector<std::shared_ptr<const ByteSource>> &files,
                       MetricsTable &table, std::stop_token stop)
{
    EventReader reader(table);
    for (const auto &file : files)
        FP_CHECK(reader.read(*file, stop));
    return {};
}

bool isTensorBoard(const ByteSource &source)
{
    std::vector<std::byte> bytes;
    const auto first = firstTensorBoardEvent(source, bytes);
    return first && first->fileVersion.starts_with("brain.Event:");
}

} // namespace forkpoint
