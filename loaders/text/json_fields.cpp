// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/text/json_fields.h"

#include <limits>

namespace forkpoint {

JsonFields::JsonFields(const JsonValue &value, std::string place, JsonProblem &problem)
    : m_place(std::move(place)),
      m_problem(&problem)
{
    if (value.isObject())
        m_value = value;
    else
        problem.note(m_place, "expected an object, got " + std::string(value.kindName()));
}

std::optional<JsonValue> JsonFields::find(std::string_view key) const
{
    return m_value ? m_value->find(key, m_last) : std::nullopt;
}

std::vector<JsonValue> JsonFields::members() const
{
    return m_value ? m_value->children() : std::vector<JsonValue>();
}

bool JsonFields::has(std::string_view key) const
{
    return find(key).has_value();
}

void JsonFields::problem(std::string_view key, const std::string &text) const
{
    const bool both = !m_place.empty() && !key.empty();
    m_problem->note(m_place + (both ? "." : "") + std::string(key), text);
}

std::string JsonFields::text(std::string_view key) const
{
    return std::string(view(key));
}

std::string_view JsonFields::view(std::string_view key) const
{
    const auto value = find(key);
    if (!value)
        problem(key, "expected text, got nothing");
    return textOf(value, key);
}

std::string JsonFields::textOr(std::string_view key) const
{
    return std::string(textOf(find(key), key));
}

std::string_view JsonFields::textOf(const std::optional<JsonValue> &value,
                                    std::string_view key) const
{
    if (!value)
        return {};
    if (value->kind() == JsonValue::Kind::Text)
        return *value->text();
    problem(key, "expected text, got " + std::string(value->kindName()));
    return {};
}

std::uint64_t JsonFields::count(std::string_view key) const
{
    if (!has(key))
        problem(key, "expected a number, got nothing");
    return countIf(key).value_or(0);
}

std::optional<std::uint64_t> JsonFields::countIf(std::string_view key) const
{
    const auto value = find(key);
    if (!value)
        return std::nullopt;
    const auto number = value->unsignedInteger();
    if (!number)
        problem(key, "expected a whole number from 0 on, got " + std::string(value->kindName()));
    return number;
}

std::int64_t JsonFields::integer(std::string_view key) const
{
    if (!has(key))
        problem(key, "expected a number, got nothing");
    return integerIf(key).value_or(0);
}

std::optional<std::int64_t> JsonFields::integerIf(std::string_view key) const
{
    const auto value = find(key);
    if (!value)
        return std::nullopt;
    const auto number = integerOf(*value);
    if (!number)
        problem(key, "expected a whole number of 64 bits, got " + std::string(value->kindName()));
    return number;
}

std::optional<double> JsonFields::realIf(std::string_view key) const
{
    const auto value = find(key);
    if (!value)
        return std::nullopt;
    const auto number = realOf(*value);
    if (!number)
        problem(key, "expected a number, got " + std::string(value->kindName()));
    return number;
}

std::optional<bool> JsonFields::flagIf(std::string_view key) const
{
    const auto value = find(key);
    if (!value)
        return std::nullopt;
    const auto flag = value->boolean();
    if (!flag)
        problem(key, "expected true or false, got " + std::string(value->kindName()));
    return flag;
}

JsonFields JsonFields::object(std::string_view key) const
{
    if (const auto fields = objectIf(key))
        return *fields;
    problem(key, "expected an object, got nothing");
    JsonFields nothing = *this;
    nothing.m_value.reset();
    return nothing;
}

std::optional<JsonFields> JsonFields::objectIf(std::string_view key) const
{
    const auto value = find(key);
    if (!value)
        return std::nullopt;
    return JsonFields(*value, m_place.empty() ? std::string(key) : m_place + "." + std::string(key),
                      *m_problem);
}

std::vector<JsonValue> JsonFields::arrayIf(std::string_view key) const
{
    std::vector<JsonValue> elements;
    for (const JsonValue &element : elementsIf(key))
        elements.push_back(element);
    return elements;
}

JsonChildren JsonFields::elementsIf(std::string_view key) const
{
    const auto value = find(key);
    if (!value)
        return {};
    if (value->isArray())
        return value->each();
    problem(key, "expected an array, got " + std::string(value->kindName()));
    return {};
}

std::vector<std::string> JsonFields::textsIf(std::string_view key) const
{
    std::vector<std::string> texts;
    for (const JsonValue &value : arrayIf(key)) {
        if (value.kind() == JsonValue::Kind::Text)
            texts.emplace_back(*value.text());
        else
            problem(key, "expected text, got " + std::string(value.kindName()));
    }
    return texts;
}

std::optional<std::int64_t> integerOf(const JsonValue &value)
{
    if (const auto negative = value.negative())
        return negative;
    const auto number = value.unsignedInteger();
    if (!number || *number > std::uint64_t(std::numeric_limits<std::int64_t>::max()))
        return std::nullopt;
    return std::int64_t(*number);
}

std::optional<double> realOf(const JsonValue &value)
{
    if (const auto real = value.real())
        return real;
    if (const auto negative = value.negative())
        return double(*negative);
    if (const auto number = value.unsignedInteger())
        return double(*number);
    if (value.kind() != JsonValue::Kind::Text)
        return std::nullopt;
    const std::string_view text = *value.text();
    if (text == "nan")
        return std::numeric_limits<double>::quiet_NaN();
    if (text == "inf" || text == "-inf")
        return std::numeric_limits<double>::infinity() * (text == "inf" ? 1 : -1);
    return std::nullopt;
}

} // namespace forkpoint
