// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/text/json_values.h"

#include "loaders/limits.h"
#include "loaders/text/json.h"
#include "loaders/text/number_fold.h"

#include <limits>

namespace forkpoint {

namespace {

/// Characters of all paths together, besides twice the document.
constexpr std::uint64_t PathText = 256u << 20;

Value scalarOf(const JsonValue &json)
{
    switch (json.kind()) {
    case JsonValue::Kind::Bool: return Value::boolean(json.boolean().value_or(false));
    case JsonValue::Kind::Unsigned:
        return Value::unsignedInteger(json.unsignedInteger().value_or(0));
    case JsonValue::Kind::Negative: return Value::integer(json.negative().value_or(0));
    case JsonValue::Kind::Digits: return Value::bigInteger(std::string(json.text().value_or("")));
    case JsonValue::Kind::Real: return Value::real(json.real().value_or(0));
    case JsonValue::Kind::Text: return Value::text(std::string(json.text().value_or("")));
    default: return Value::none();
    }
}

/// A long list of plain numbers as one value; nothing where some item is something else.
std::optional<Value> foldedNumbers(const std::vector<JsonValue> &items)
{
    if (items.size() <= limits::FoldedNumbers)
        return std::nullopt;
    NumberFold fold;
    for (const JsonValue &item : items) {
        const auto positive = item.unsignedInteger();
        if (const auto real = item.real())
            fold.addReal(*real);
        else if (const auto negative = item.negative())
            fold.addInteger(*negative);
        else if (positive && *positive <= std::uint64_t(std::numeric_limits<std::int64_t>::max()))
            fold.addInteger(std::int64_t(*positive));
        else
            return std::nullopt;
    }
    return fold.value();
}

/// Walks over a document without recursion.
class ValueCollector
{
public:
    /// `size` of the document: a long key stands in the path of everything below it.
    ValueCollector(KeyPath prefix, std::string file, std::uint64_t size)
        : m_path(std::move(prefix)),
          m_file(std::move(file)),
          m_textLeft(PathText + 2 * size)
    {
    }

    Status collect(const JsonValue &root)
    {
        FP_CHECK(visit(root));
        while (!m_open.empty()) {
            Container &container = m_open.back();
            if (container.next == container.items.size()) {
                m_open.pop_back();
                if (!m_open.empty())
                    m_path.keys.pop_back();
                continue;
            }
            const std::size_t position = container.next++;
            const JsonValue item = container.items[position];
            m_path.keys.push_back(container.isObject ? Key::of(std::string(item.key()))
                                                     : Key::at(std::int64_t(position)));
            const std::size_t depth = m_open.size();
            FP_CHECK(visit(item));
            if (m_open.size() == depth)
                m_path.keys.pop_back();
        }
        return {};
    }

    std::vector<ValueRef> values;

private:
    struct Container
    {
        bool isObject = false;
        std::vector<JsonValue> items;
        std::size_t next = 0;
    };

    Status visit(const JsonValue &json)
    {
        if (!json.isObject() && !json.isArray())
            return add(scalarOf(json));
        if (json.childCount() == 0)
            return add(Value::empty(json.isObject() ? "{}" : "[]"));
        std::vector<JsonValue> items = json.children();
        if (json.isArray()) {
            if (auto folded = foldedNumbers(items))
                return add(std::move(*folded));
        }
        m_open.push_back({json.isObject(), std::move(items), 0});
        return {};
    }

    Status add(Value value)
    {
        std::uint64_t text = 0;
        for (const Key &key : m_path.keys)
            text += key.text.size();
        if (values.size() == limits::TreeItems || text > m_textLeft) {
            const std::string place = escapeInvalidUtf8(m_path.toString()).substr(0, 200);
            return Error{ErrorCode::Limit, m_file, "'" + place + "'",
                         "holds more values or longer paths than may be listed"};
        }
        m_textLeft -= text;
        values.push_back({m_path, {}, StateClass::Unknown, std::move(value), m_file});
        return {};
    }

    KeyPath m_path;
    std::string m_file;
    std::uint64_t m_textLeft;
    std::vector<Container> m_open;
};

} // namespace

Status addJsonValues(const ByteSource &source, const KeyPath &prefix, CheckpointBuilder &builder)
{
    FP_TRY(const auto bytes, readAll(source, 0, source.size(), limits::JsonBytes));
    auto document = JsonDocument::parse(asText(bytes));
    if (!document.ok())
        return std::move(document).error().inFile(source.name());
    ValueCollector collector(prefix, source.name(), source.size());
    FP_CHECK(collector.collect(document->root()));
    for (ValueRef &value : collector.values)
        builder.addValue(std::move(value));
    return {};
}

} // namespace forkpoint
