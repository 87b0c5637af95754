// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/inspect_trace.h"

#include "model/format.h"
#include "model/text/printable.h"

#include <set>

namespace forkpoint {

namespace {

std::string_view roleName(TraceFact::Role role)
{
    switch (role) {
    case TraceFact::Role::Schema: return "schema";
    case TraceFact::Role::Parallel: return "parallel";
    case TraceFact::Role::Runtime: return "runtime";
    case TraceFact::Role::Placement: return "placement";
    }
    return "runtime";
}

std::uint64_t recordsOf(const TraceStream &stream)
{
    std::uint64_t records = 0;
    for (const TraceSegment &segment : stream.segments)
        records += segment.records;
    return records;
}

std::set<std::int64_t> iterationsOf(const Trace &trace)
{
    std::set<std::int64_t> all;
    for (const TraceStream &stream : trace.streams()) {
        for (const TraceSegment &segment : stream.segments) {
            if (segment.iteration)
                all.insert(*segment.iteration);
        }
    }
    return all;
}

void writeStream(JsonWriter &json, const TraceStream &stream)
{
    json.beginObject();
    if (stream.coordinate.rank)
        json.key("rank").number(*stream.coordinate.rank);
    if (!stream.coordinate.axes.empty()) {
        json.key("coord").beginObject();
        for (const auto &[axis, place] : stream.coordinate.axes)
            json.key(axis).number(place);
        json.endObject();
    }
    json.key("records").number(recordsOf(stream));
    json.key("facts").beginArray();
    for (const TraceFact &fact : stream.facts) {
        json.beginObject();
        json.key("kind").text(roleName(fact.role));
        json.key("name").text(fact.name);
        json.key("value").text(fact.value);
        json.endObject();
    }
    json.endArray();
    json.endObject();
}

} // namespace

void writeTraceSteps(JsonWriter &json, const Trace &trace)
{
    json.key("steps").beginArray();
    for (const std::int64_t iteration : iterationsOf(trace))
        json.number(iteration);
    json.endArray();
}

void writeTrace(JsonWriter &json, const Trace &trace)
{
    json.key("trace").beginObject();
    json.key("dialect").text(trace.dialect());
    json.key("complete").boolean(trace.complete());
    json.key("files").number(std::uint64_t(trace.files().size()));
    json.key("ranks").beginArray();
    for (const TraceStream &stream : trace.streams())
        writeStream(json, stream);
    json.endArray();
    json.endObject();
}

std::string traceText(const Trace &trace)
{
    std::string text = "trace: " + trace.dialect() + ", "
        + counted(trace.files().size(), "file", "files") + (trace.complete() ? "" : ", INCOMPLETE")
        + "\niterations:";
    for (const std::int64_t iteration : iterationsOf(trace))
        text += " " + std::to_string(iteration);
    text += "\n";
    for (const TraceStream &stream : trace.streams()) {
        text += "  " + stream.coordinate.toText() + ": "
            + counted(recordsOf(stream), "record", "records") + "\n";
        for (const TraceFact &fact : stream.facts)
            text += "    " + std::string(roleName(fact.role)) + " " + printable(fact.name) + " = "
                + printable(fact.value) + "\n";
    }
    return text;
}

} // namespace forkpoint
