// SPDX-License-Identifier: GPL-3.0-or-later
// The commands about the program itself: formats, devices, and refusals.
#include "app/cli/commands.h"
#include "app/cli/output.h"
#include "gpu/backend_registry.h"
#include "loaders/formats.h"
#include "model/text/json_writer.h"

#include <cstdio>

namespace forkpoint {

namespace {

struct Row
{
    std::string name, kind, reason;
    bool available = false;
};

int writeRows(const Options &options, const std::vector<Row> &rows)
{
    JsonWriter json;
    std::string text;
    json.beginArray();
    for (const Row &row : rows) {
        json.beginObject();
        json.key("name").text(row.name);
        if (!row.kind.empty())
            json.key("kind").text(row.kind);
        json.key("available").boolean(row.available);
        if (!row.reason.empty())
            json.key("reason").text(row.reason);
        json.endObject();
        text += (row.available ? "yes  " : "no   ") + row.name
            + (row.kind.empty() ? "" : "  " + row.kind)
            + (row.reason.empty() ? "" : "  (" + row.reason + ")") + "\n";
    }
    json.endArray();
    return writeOutput(options, options.json ? json.take() : text) ? 0 : 2;
}

} // namespace

int runFormats(const Options &options)
{
    std::vector<Row> rows;
    for (const FormatInfo &format : listFormats())
        rows.push_back({format.name, format.description, format.reason, format.available});
    return writeRows(options, rows);
}

int runDevices(const Options &options)
{
    std::vector<Row> rows;
    for (const DeviceInfo &device : listDevices())
        rows.push_back({device.name, device.kind, device.reason, device.available});
    return writeRows(options, rows);
}

std::string refusalDocument(const std::string &command, const std::string &reason)
{
    const std::string name = command == "compare" ? "report" : command;
    JsonWriter json;
    json.beginObject();
    json.key("schema").text("forkpoint." + name + "/1");
    if (command == "compare") {
        json.key("verdict").beginObject();
        json.key("outcome").text("not-compared");
        json.key("sentence").text("Not compared: " + reason + ".");
        json.key("reason").text(reason);
        json.endObject();
    }
    json.key("diagnostics").beginArray().beginObject();
    json.key("severity").text("error");
    json.key("code").text("usage");
    json.key("text").text(reason);
    json.endObject().endArray();
    json.endObject();
    return json.take();
}

} // namespace forkpoint
