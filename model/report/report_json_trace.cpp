// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/report/report_json_trace.h"

namespace forkpoint {

namespace {

template <class Number>
void writeNumber(JsonWriter &json, std::string_view key, const std::optional<Number> &number)
{
    if (number)
        json.key(key).number(*number);
}

void writeText(JsonWriter &json, std::string_view key, const std::string &text)
{
    if (!text.empty())
        json.key(key).text(text);
}

void writeCoordinate(JsonWriter &json, const TraceCoordinate &coordinate)
{
    if (coordinate.axes.empty())
        return;
    json.key("coord").beginObject();
    for (const auto &[axis, place] : coordinate.axes)
        json.key(axis).number(place);
    json.endObject();
}

void writeWhere(JsonWriter &json, const std::vector<LeafDifference> &where)
{
    if (where.empty())
        return;
    json.key("where").beginArray();
    for (const LeafDifference &each : where) {
        json.beginObject();
        json.key("side").text(each.isInput ? "input" : "output");
        writeText(json, "path", each.path);
        json.key("first_index").number(each.firstElement);
        json.key("last_index").number(each.lastElement);
        json.key("elements").number(each.elements);
        json.key("leaf").number(each.leaf);
        json.key("different_leaves").number(each.different);
        json.key("leaves").number(each.leaves);
        json.endObject();
    }
    json.endArray();
}

} // namespace

void writeDivergence(JsonWriter &json, const std::optional<FirstDivergence> &divergence)
{
    json.key("first_divergence");
    if (!divergence) {
        json.null();
        return;
    }
    json.beginObject();
    writeNumber(json, "step", divergence->step);
    json.key("stage").text(divergence->stage);
    json.key("name").text(divergence->name);
    writeNumber(json, "micro_batch", divergence->microBatch);
    writeNumber(json, "rank", divergence->rank);
    if (divergence->coordinate)
        writeCoordinate(json, *divergence->coordinate);
    writeNumber(json, "call", divergence->call);
    json.key("kind").text(divergence->kind);
    writeText(json, "class", divergence->divergenceClass);
    if (divergence->provenEqualStep || !divergence->provenEqualName.empty()) {
        json.key("after").beginObject();
        writeNumber(json, "step", divergence->provenEqualStep);
        writeText(json, "stage", divergence->provenEqualStage);
        writeText(json, "name", divergence->provenEqualName);
        json.endObject();
    }
    json.key("proven_equal_before").boolean(divergence->provenEqualBefore);
    writeText(json, "probe", divergence->probe);
    writeWhere(json, divergence->where);
    json.key("sentence").text(divergence->sentence);
    json.endObject();
}

void writeChain(JsonWriter &json, const std::vector<ChainLink> &chain)
{
    if (chain.empty())
        return;
    json.key("chain").beginArray();
    for (const ChainLink &link : chain) {
        json.beginObject();
        writeNumber(json, "step", link.step);
        json.key("stage").text(link.stage);
        json.key("status").text(toString(link.status));
        json.key("compared").number(link.compared);
        json.key("different").number(link.different);
        if (link.strength != Strength::None)
            json.key("strength").text(toString(link.strength));
        json.endObject();
    }
    json.endArray();
}

void writeRanks(JsonWriter &json, const std::vector<RankSummary> &ranks)
{
    if (ranks.empty())
        return;
    json.key("ranks").beginArray();
    for (const RankSummary &rank : ranks) {
        json.beginObject();
        writeNumber(json, "rank", rank.coordinate.rank);
        writeCoordinate(json, rank.coordinate);
        json.key("records").number(rank.records);
        json.key("different").number(rank.different);
        if (rank.first) {
            json.key("first").beginObject();
            writeNumber(json, "step", rank.first->step);
            writeText(json, "stage", rank.first->stage);
            json.key("name").text(rank.first->name);
            writeNumber(json, "micro_batch", rank.first->microBatch);
            json.key("call").number(rank.first->call);
            json.key("kind").text(rank.first->kind);
            json.key("equal_before").number(rank.first->equalBefore);
            writeText(json, "source_a", rank.first->sourceA);
            writeText(json, "source_b", rank.first->sourceB);
            json.endObject();
        }
        writeText(json, "class", rank.divergenceClass);
        writeText(json, "why", rank.why);
        json.endObject();
    }
    json.endArray();
}

void writeNextCapture(JsonWriter &json, const std::optional<NextCapture> &capture)
{
    if (!capture)
        return;
    json.key("next_capture").beginObject();
    json.key("why").text(capture->why);
    json.key("steps").beginArray();
    json.number(capture->firstStep).number(capture->lastStep);
    json.endArray();
    json.key("ranks").beginArray();
    for (const std::int64_t rank : capture->ranks)
        json.number(rank);
    json.endArray();
    json.key("stages").beginArray();
    for (const std::string &stage : capture->stages)
        json.text(stage);
    json.endArray();
    json.key("commands").beginObject();
    for (const auto &[tool, command] : capture->commands)
        json.key(tool).text(command);
    json.endObject();
    json.endObject();
}

} // namespace forkpoint
