// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/text/json_values.h"

namespace forkpoint {

void writeShape(JsonWriter &json, const Shape &shape)
{
    json.beginArray();
    for (const Index dim : shape.dims)
        json.number(dim);
    json.endArray();
}

void writePath(JsonWriter &json, const KeyPath &path)
{
    json.beginArray();
    for (const Key &key : path.keys) {
        if (key.kind == Key::Kind::Integer && key.text.empty())
            json.number(key.number);
        else if (key.kind == Key::Kind::Text)
            json.text(key.text);
        else
            json.beginObject().key("python").text(key.toString()).endObject();
    }
    json.endArray();
}

void writeValue(JsonWriter &json, const Value &value, std::string_view key, std::string_view suffix)
{
    if (value.type == ValueType::None) {
        json.key(key).null();
    } else if (const auto *flag = std::get_if<bool>(&value.data)) {
        json.key(key).boolean(*flag);
    } else if (const auto *i = std::get_if<std::int64_t>(&value.data)) {
        json.key(key).number(*i);
    } else if (const auto *u = std::get_if<std::uint64_t>(&value.data)) {
        json.key(key).number(*u);
    } else if (const auto *d = std::get_if<double>(&value.data)) {
        json.key(key).number(*d);
    } else if (const auto *text = std::get_if<std::string>(&value.data);
               text && value.type != ValueType::Numbers) {
        json.key(key).text(*text);
    }
    if (value.type == ValueType::Bytes || value.type == ValueType::Numbers)
        json.key("count" + std::string(suffix)).number(value.count);
    if (!value.digest.empty())
        json.key("sha256" + std::string(suffix)).text(value.digest);
}

void writePlace(JsonWriter &json, std::string_view key, const ElementPlace &place)
{
    json.key(key).beginObject();
    if (!place.owner.axes.empty()) {
        json.key("owner").beginObject();
        for (const auto &[axis, number] : place.owner.axes)
            json.key(axis).number(number);
        json.endObject();
    }
    json.key("file").text(place.file);
    json.key("offset").number(place.offset);
    json.endObject();
}

namespace {

void writeCheck(JsonWriter &json, const SelfCheck &check, std::string_view suffix)
{
    if (check.holds)
        json.key("consistent" + std::string(suffix)).boolean(*check.holds);
    if (!check.reason.empty())
        json.key("check" + std::string(suffix)).text(check.reason);
}

} // namespace

void writeResume(JsonWriter &json, const std::vector<ResumeFact> &facts, bool pair)
{
    json.key("resume").beginArray();
    for (const ResumeFact &fact : facts) {
        json.beginObject();
        json.key("state").text(fact.state);
        if (!fact.name.empty())
            json.key("name").text(fact.name);
        if (!fact.a.empty())
            json.key(pair ? "a" : "is").text(fact.a);
        if (!fact.b.empty())
            json.key("b").text(fact.b);
        if (fact.equal)
            json.key("equal").boolean(*fact.equal);
        if (!fact.relation.empty())
            json.key("relation").text(fact.relation);
        writeCheck(json, fact.checkA, pair ? "_a" : "");
        writeCheck(json, fact.checkB, "_b");
        json.endObject();
    }
    json.endArray();
}

void writeFindings(JsonWriter &json, const std::vector<Finding> &findings)
{
    json.key("findings").beginArray();
    for (const Finding &finding : findings) {
        json.beginObject();
        json.key("id").text(finding.id);
        json.key("certainty").text(toString(finding.certainty));
        json.key("severity").text(toString(finding.severity));
        json.key("text").text(finding.text);
        json.key("where").beginArray();
        for (const std::string &place : finding.where)
            json.text(place);
        json.endArray();
        json.endObject();
    }
    json.endArray();
}

void writeDiagnostics(JsonWriter &json, const Diagnostics &diagnostics)
{
    json.key("diagnostics").beginArray();
    for (const Diagnostic &diagnostic : diagnostics) {
        json.beginObject();
        json.key("severity").text(toString(diagnostic.severity));
        json.key("code").text(diagnostic.code);
        if (!diagnostic.file.empty())
            json.key("file").text(diagnostic.file);
        if (!diagnostic.place.empty())
            json.key("place").text(diagnostic.place);
        json.key("text").text(diagnostic.text);
        json.endObject();
    }
    json.endArray();
}

} // namespace forkpoint
