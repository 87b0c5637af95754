// SPDX-License-Identifier: GPL-3.0-or-later
// Record of wandb's wandb_internal.proto, by field number.
#include "loaders/metrics/metrics_wandb.h"

#include "loaders/metrics/metrics_damage.h"
#include "loaders/metrics/metrics_jsonl.h"
#include "loaders/metrics/metrics_step.h"
#include "loaders/metrics/proto_reader.h"
#include "loaders/metrics/record_log.h"
#include "loaders/text/json_values.h"

#include <algorithm>
#include <map>

namespace forkpoint {

namespace {

namespace record {
enum Field : std::uint32_t { History = 2, Summary = 3, Config = 5, Run = 17, Exit = 18 };
}
namespace item { // of a history, a summary or a configuration
enum Field : std::uint32_t { Key = 1, NestedKey = 2, ValueJson = 16 };
}
constexpr std::uint32_t RunConfig = 4;
constexpr std::uint32_t Update = 1, Remove = 2;
constexpr std::uint32_t HistoryItem = 1, HistoryStep = 2;

/// Values of a configuration that are kept; real ones have below a thousand.
constexpr std::size_t MaxValues = 100'000;
/// Characters of the keys around all values together, as they are repeated for each.
constexpr std::size_t MaxPathText = 256u << 20;

using Path = std::vector<std::string>;
using Values = std::map<Path, std::string>; ///< JSON by place

struct Item
{
    Path path;
    std::string_view json;

    std::string name() const
    {
        std::string joined;
        for (const std::string &key : path)
            joined += (joined.empty() ? "" : ".") + key;
        return joined;
    }
};

/// Nothing where the message is malformed, or names nothing, or by more than a name may be.
std::optional<Item> itemOf(ByteView message)
{
    constexpr std::size_t MostKeys = limits::JsonDepth;
    Item result;
    std::size_t length = 0;
    ProtoReader fields(message);
    while (const auto field = fields.next()) {
        const bool isKey = field->number == item::Key || field->number == item::NestedKey;
        length += isKey ? field->bytes.size() + 1 : 0;
        if (length > limits::PrintedText)
            return std::nullopt;
        if (field->isBytes(item::Key) && !field->bytes.empty())
            result.path = {std::string(field->text())};
        else if (field->isBytes(item::NestedKey) && result.path.size() < MostKeys)
            result.path.emplace_back(field->text());
        else if (field->isBytes(item::ValueJson))
            result.json = field->text();
    }
    const bool usable = !fields.malformed() && !result.path.empty();
    return usable ? std::optional(std::move(result)) : std::nullopt;
}

class RecordReader
{
public:
    RecordReader(const ByteSource &source, MetricsTable &table) : m_source(source), m_table(table)
    {
    }

    /// False once the table is full.
    bool take(const LogRecord &log)
    {
        bool sound = true;
        ProtoReader fields(log.data);
        while (const auto field = fields.next()) {
            if (field->isBytes(record::History))
                sound &= takeHistory(field->bytes);
            else if (field->isBytes(record::Summary))
                sound &= takeValues(field->bytes, m_summary);
            else if (field->isBytes(record::Config))
                sound &= takeValues(field->bytes, m_config);
            else if (field->isBytes(record::Run))
                sound &= takeRun(field->bytes);
            m_exited |= field->number == record::Exit;
        }
        if ((!sound || fields.malformed()) && m_malformed++ == 0)
            m_table.addGap(Severity::Error, "malformed", "byte " + std::to_string(log.offset),
                           "is no record of this format; what it holds was left out");
        return !m_full;
    }

    void addValues(CheckpointBuilder &builder) const
    {
        add(m_config, "config", StateClass::Recipe, builder);
        add(m_summary, "summary", StateClass::Bookkeeping, builder);
        if (!m_exited)
            m_table.addNote("unfinished", {},
                            "the run wrote no end: it was cut, or is still going on");
    }

private:
    bool takeHistory(ByteView message)
    {
        std::vector<Item> items;
        std::optional<std::int64_t> step;
        ProtoReader fields(message);
        while (const auto field = fields.next()) {
            if (field->isBytes(HistoryStep))
                step = stepOf(field->bytes);
            if (!field->isBytes(HistoryItem))
                continue;
            auto item = itemOf(field->bytes);
            if (!item)
                return false;
            items.push_back(std::move(*item));
        }
        for (const Item &item : items) {
            if (!step && item.name() == "_step")
                step = wholeStep(item.json);
        }
        if (fields.malformed() || !step)
            return false;
        for (const Item &item : items)
            m_full |= !addNumbers(item, *step);
        return true;
    }

    static std::int64_t stepOf(ByteView message)
    {
        std::int64_t step = 0;
        ProtoReader fields(message);
        while (const auto field = fields.next()) {
            if (field->number == 1 && field->wire == ProtoField::Wire::Varint)
                step = std::int64_t(field->value);
        }
        return step;
    }

    /// False once the table is full.
    bool addNumbers(const Item &item, std::int64_t step)
    {
        const std::string name = item.name();
        if (name == "_step")
            return true;
        // Histograms and media are objects of numbers that are no metrics.
        const bool isObject = item.json.starts_with('{');
        if (isObject && item.json.find("\"_type\"") != std::string_view::npos) {
            m_table.leaveOut("histograms or media", name);
            return true;
        }
        const auto read = jsonNumbers(item.json, name);
        if (!read || !read->refused.empty()) {
            m_table.leaveOut(read ? "more numbers than a value may have" : "what is no JSON", name);
            return true;
        }
        leaveOutUnread(*read, m_table);
        return std::all_of(read->numbers.begin(), read->numbers.end(),
                           [&](const JsonNumber &number) {
                               return m_table.addText(number.name, step, number.number);
                           });
    }

    static bool takeValues(ByteView message, Values &values)
    {
        ProtoReader fields(message);
        while (const auto field = fields.next()) {
            if (!field->isBytes(Update) && !field->isBytes(Remove))
                continue;
            const auto item = itemOf(field->bytes);
            if (!item)
                return false;
            if (field->number == Remove)
                values.erase(item->path);
            else if (values.size() < MaxValues)
                values[item->path] = std::string(item->json);
        }
        return !fields.malformed();
    }

    bool takeRun(ByteView message)
    {
        ProtoReader fields(message);
        while (const auto field = fields.next()) {
            if (field->isBytes(RunConfig) && !takeValues(field->bytes, m_config))
                return false;
        }
        return !fields.malformed();
    }

    void add(const Values &values, const std::string &root, StateClass stateClass,
             CheckpointBuilder &builder) const
    {
        std::size_t pathText = 0;
        for (const auto &[path, json] : values) {
            if (path.front() == "_wandb") // the client's own
                continue;
            if (pathText > MaxPathText) {
                m_table.addGap(Severity::Warning, "limit", root, "holds more values than are read");
                return;
            }
            KeyPath place{{Key::of(root)}};
            for (const std::string &key : path)
                place.keys.push_back(Key::of(key));
            CheckpointBuilder one;
            const ByteView bytes = asBytes(json);
            const MemorySource text(m_source.name(), {bytes.begin(), bytes.end()});
            if (!addJsonValues(text, place, one).ok())
                one.addValue({place, {}, stateClass, Value::text(json), m_source.name()});
            for (ValueRef &value : one.mutableCatalog().values) {
                value.stateClass = stateClass;
                for (const Key &key : value.path.keys)
                    pathText += key.text.size();
            }
            builder.merge(std::move(one), {});
        }
    }

    const ByteSource &m_source;
    MetricsTable &m_table;
    Values m_config, m_summary;
    std::uint64_t m_malformed = 0;
    bool m_full = false, m_exited = false;
};

} // namespace

Status readWandb(const ByteSource &source, MetricsTable &table, CheckpointBuilder &values,
                 std::stop_token stop)
{
    WandbLog log(source);
    RecordReader reader(source, table);
    for (;;) {
        if (stop.stop_requested())
            return Error{ErrorCode::Cancelled, source.name(), {}, "cancelled"};
        FP_TRY(const auto record, log.next());
        if (!record || !reader.take(*record))
            break;
    }
    describeDamage(log, table, {});
    reader.addValues(values);
    return {};
}

bool isWandb(const ByteSource &source)
{
    const auto head = readAll(source, 0, std::min<std::uint64_t>(source.size(), 8), 8);
    return head.ok() && WandbLog::hasHeader(*head);
}

} // namespace forkpoint
