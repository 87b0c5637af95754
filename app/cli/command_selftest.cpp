// SPDX-License-Identifier: GPL-3.0-or-later
// selftest: what can compute here is checked, and what could not be checked is said.
#include "app/cli/commands.h"
#include "app/cli/output.h"
#include "gpu/backend_registry.h"
#include "gpu/selftest.h"
#include "model/text/json_writer.h"

#include <algorithm>

namespace forkpoint {

namespace {

/// The devices by name, as --device takes them, that are to be checked: with "auto" all that can be.
std::vector<std::string> namesToCheck(const Options &options,
                                      const std::vector<DeviceInfo> &devices)
{
    if (options.device != "auto")
        return {options.device};
    std::vector<std::string> names;
    for (const DeviceInfo &device : devices) {
        if (device.available)
            names.push_back(device.name);
    }
    return names;
}

/// What was checked, as one.
struct Checked
{
    std::vector<std::string> names;
    std::string description;
    SelftestReport report;
    std::vector<std::string> notRun; ///< the other devices, and why

    void add(const std::string &name, const ComputeBackend &backend, SelftestReport found)
    {
        names.push_back(name);
        description += (description.empty() ? "" : "; ") + backend.description();
        report.passed += found.passed;
        report.failed += found.failed;
        for (std::string &line : found.failures)
            report.failures.push_back(name + ": " + line);
        for (std::string &line : found.rates)
            report.rates.push_back(name + ": " + line);
    }

    void tellNotRun(const std::vector<DeviceInfo> &devices)
    {
        for (const DeviceInfo &device : devices) {
            const bool checked = std::ranges::any_of(names, [&](const std::string &name) {
                return device.name == name || (name == "cuda" && device.name.starts_with("cuda:"));
            });
            if (!checked || !device.available)
                notRun.push_back(device.name + ": "
                                 + (device.available ? "not asked for" : device.reason));
        }
    }
};

std::string toText(const Checked &checked)
{
    std::string text = checked.description + "\n";
    for (const std::string &failure : checked.report.failures)
        text += "FAIL " + failure + "\n";
    for (const std::string &rate : checked.report.rates)
        text += rate + "\n";
    for (const std::string &device : checked.notRun)
        text += "not run: " + device + "\n";
    return text + std::to_string(checked.report.passed) + " passed, "
        + std::to_string(checked.report.failed) + " failed\n";
}

std::string toJson(const Checked &checked)
{
    JsonWriter json;
    json.beginObject();
    json.key("schema").text("forkpoint.selftest/1");
    json.key("device").text(checked.description);
    json.key("passed").number(std::uint64_t(checked.report.passed));
    json.key("failed").number(std::uint64_t(checked.report.failed));
    const auto list = [&](const char *key, const std::vector<std::string> &lines) {
        json.key(key).beginArray();
        for (const std::string &line : lines)
            json.text(line);
        json.endArray();
    };
    list("failures", checked.report.failures);
    list("not_run", checked.notRun);
    list("rates", checked.report.rates);
    json.endObject();
    return json.take();
}

} // namespace

int runSelftestCommand(const Options &options)
{
    const std::vector<DeviceInfo> devices = listDevices();
    Checked checked;
    for (const std::string &name : namesToCheck(options, devices)) {
        const auto chosen = chooseDevice({name, options.threads, true});
        if (!chosen) {
            printError(chosen.error());
            if (options.json)
                writeOutput(options, refusalDocument("selftest", chosen.error().message()));
            return 2;
        }
        SelftestReport report = runSelftest(*chosen->backend, options.deep);
        checked.add(name, *chosen->backend, std::move(report));
    }
    checked.tellNotRun(devices);
    const bool written = writeOutput(options, options.json ? toJson(checked) : toText(checked));
    return written && checked.report.failed == 0 && checked.report.passed > 0 ? 0 : 2;
}

} // namespace forkpoint
