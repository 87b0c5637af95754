// SPDX-License-Identifier: GPL-3.0-or-later
// The commands about the program itself: formats, devices, selftest, and refusals.
#include "app/cli/commands.h"
#include "app/cli/output.h"
#include "gpu/backend_registry.h"
#include "gpu/selftest.h"
#include "loaders/formats.h"
#include "model/json_writer.h"

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

int runSelftestCommand(const Options &options)
{
    auto backend = makeBackend(options.device);
    if (!backend) {
        printError(backend.error());
        if (options.json)
            writeOutput(options, refusalDocument("selftest", backend.error().message()));
        return 2;
    }
    const SelftestReport report = runSelftest(**backend, options.deep);
    std::string text = (*backend)->description() + "\n";
    for (const std::string &failure : report.failures)
        text += "FAIL " + failure + "\n";
    for (const std::string &rate : report.rates)
        text += rate + "\n";
    for (const std::string &device : report.notRun)
        text += "not run: " + device + "\n";
    text +=
        std::to_string(report.passed) + " passed, " + std::to_string(report.failed) + " failed\n";
    if (options.json) {
        JsonWriter json;
        json.beginObject();
        json.key("device").text((*backend)->description());
        json.key("passed").number(std::uint64_t(report.passed));
        json.key("failed").number(std::uint64_t(report.failed));
        const auto list = [&](const char *key, const std::vector<std::string> &lines) {
            json.key(key).beginArray();
            for (const std::string &line : lines)
                json.text(line);
            json.endArray();
        };
        list("failures", report.failures);
        list("not_run", report.notRun);
        list("rates", report.rates);
        json.endObject();
        text = json.take();
    }
    return writeOutput(options, text) && report.failed == 0 && report.passed > 0 ? 0 : 2;
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
