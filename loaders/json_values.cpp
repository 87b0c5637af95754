// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/json_values.h"

#include "loaders/limits.h"
#include "loaders/running_digest.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <bit>
#include <set>
#include <span>

namespace forkpoint {

namespace {

/// An open object or list: where it is, and what it holds so far.
struct Container
{
    bool isObject = false;
    std::int64_t count = 0;
    std::set<std::string> keys;
    std::size_t firstValue = 0; ///< what it holds begins here in the list of values
};

/// The fold of a long list of plain numbers (see Value::digest), or nothing where some item of it
/// is something else.
std::optional<Value> foldNumbers(std::span<const ValueRef> items)
{
    bool allIntegers = true;
    for (const ValueRef &item : items) {
        const bool isInteger = std::holds_alternative<std::int64_t>(item.value.data);
        if (!isInteger && !std::holds_alternative<double>(item.value.data))
            return std::nullopt;
        allIntegers = allIntegers && isInteger;
    }
    std::vector<std::byte> bytes;
    bytes.reserve(items.size() * 8);
    for (const ValueRef &item : items) {
        const auto *integer = std::get_if<std::int64_t>(&item.value.data);
        const double real = integer ? double(*integer) : std::get<double>(item.value.data);
        const std::uint64_t bits =
            allIntegers ? std::uint64_t(*integer) : std::bit_cast<std::uint64_t>(real);
        for (int shift = 0; shift < 64; shift += 8)
            bytes.push_back(std::byte(bits >> shift));
    }
    return Value{ValueType::Numbers, {}, items.size(), sha256Hex(bytes)};
}

class ValueCollector final : public nlohmann::json_sax<nlohmann::json>
{
public:
    ValueCollector(KeyPath prefix, std::string file)
        : m_path(std::move(prefix)),
          m_file(std::move(file))
    {
    }

    std::vector<ValueRef> values;
    std::optional<Error> error;

    bool null() override { return add(Value::none()); }
    bool boolean(bool value) override { return add(Value::boolean(value)); }
    bool number_integer(number_integer_t value) override { return add(Value::integer(value)); }
    bool number_unsigned(number_unsigned_t value) override
    {
        return add(Value::unsignedInteger(value));
    }
    bool number_float(number_float_t value, const string_t &text) override
    {
        // nlohmann reads integers beyond 64 bits as floats; their digits must not be lost.
        const bool isInteger = text.find_first_of(".eE") == std::string::npos;
        return add(isInteger ? Value::bigInteger(text) : Value::real(value));
    }
    bool string(string_t &text) override { return add(Value::text(std::move(text))); }
    bool binary(binary_t &) override { return false; }
    bool start_object(std::size_t) override { return open(true); }
    bool start_array(std::size_t) override { return open(false); }
    bool end_object() override { return close("{}"); }
    bool end_array() override { return close("[]"); }
    bool key(string_t &text) override
    {
        if (!m_open.back().keys.insert(text).second)
            return fail(ErrorCode::Malformed, "repeats the key '" + text + "'");
        m_path.keys.push_back(Key::of(std::move(text)));
        return true;
    }
    bool parse_error(std::size_t position, const std::string &,
                     const nlohmann::json::exception &) override
    {
        error =
            Error{ErrorCode::Malformed, m_file, "byte " + std::to_string(position), "is not JSON"};
        return false;
    }

private:
    bool fail(ErrorCode code, std::string text)
    {
        error =
            Error{code, m_file, "'" + escapeInvalidUtf8(m_path.toString()) + "'", std::move(text)};
        return false;
    }

    /// An item begins: in a list its position is its key, in an object key() has been called.
    void begin()
    {
        if (m_open.empty())
            return;
        Container &parent = m_open.back();
        if (!parent.isObject)
            m_path.keys.push_back(Key::at(parent.count));
        ++parent.count;
    }
    void end()
    {
        if (!m_open.empty())
            m_path.keys.pop_back();
    }

    bool add(Value value)
    {
        begin();
        if (values.size() == limits::TreeItems)
            return fail(ErrorCode::Limit, "holds more values than may be listed");
        push(std::move(value));
        end();
        return true;
    }

    void push(Value value)
    {
        values.push_back({m_path, {}, StateClass::Unknown, std::move(value), m_file});
    }

    bool open(bool isObject)
    {
        begin();
        if (m_open.size() == limits::JsonDepth)
            return fail(ErrorCode::Limit,
                        "is nested deeper than " + std::to_string(limits::JsonDepth) + " levels");
        m_open.push_back({isObject, 0, {}, values.size()});
        return true;
    }

    bool close(std::string_view empty)
    {
        const Container container = std::move(m_open.back());
        m_open.pop_back();
        const auto items = std::span<const ValueRef>(values).subspan(container.firstValue);
        const bool isFlat = std::all_of(items.begin(), items.end(), [this](const ValueRef &item) {
            return item.path.keys.size() == m_path.keys.size() + 1;
        });
        const bool isLong = !container.isObject && items.size() > limits::FoldedNumbers
            && items.size() == std::size_t(container.count) && isFlat;
        if (container.count == 0)
            push(Value::empty(std::string(empty)));
        else if (auto folded = isLong ? foldNumbers(items) : std::nullopt) {
            values.resize(container.firstValue);
            push(std::move(*folded));
        }
        end();
        return true;
    }

    KeyPath m_path;
    std::string m_file;
    std::vector<Container> m_open;
};

} // namespace

Status addJsonValues(const ByteSource &source, const KeyPath &prefix, CheckpointBuilder &builder)
{
    FP_TRY(const auto bytes, readAll(source, 0, source.size(), limits::JsonBytes));
    const std::string_view text = asText(bytes);
    ValueCollector collector(prefix, source.name());
    if (!nlohmann::json::sax_parse(text.begin(), text.end(), &collector)) {
        return collector.error.value_or(
            Error{ErrorCode::Malformed, source.name(), {}, "is not JSON"});
    }
    for (ValueRef &value : collector.values)
        builder.addValue(std::move(value));
    return {};
}

} // namespace forkpoint
