// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/commands.h"
#include "app/cli/options.h"
#include "app/cli/output.h"
#include "app/core/output_file.h"
#include "app/core/unfinished_files.h"
#include "loaders/storage/read_watch.h"
#include "loaders/traces/mapping_sheet.h"

#include <chrono>
#include <cstdio>
#include <iterator>
#include <new>
#include <string>
#include <vector>

using namespace forkpoint;

namespace {

struct Command
{
    std::string_view name;
    int (*run)(const Options &);
};

constexpr Command Commands[] = {
    {"compare", runCompare},   {"report", runReport},
    {"inspect", runInspect},   {"fingerprint", runFingerprint},
    {"elements", runElements}, {"extract", runExtract},
    {"index", runIndex},       {"formats", runFormats},
    {"devices", runDevices},   {"selftest", runSelftestCommand},
};

/// Before any work: that it can be written, over nothing that is read and nothing else written.
Status checkOutputs(const Options &options)
{
    std::vector<std::string> inputs;
    for (const std::string &path : {options.pathA, options.pathB}) {
        if (!path.empty())
            inputs.push_back(path);
    }
    if (options.open.mapping)
        inputs.push_back(options.open.mapping->path());
    std::vector<std::string> outputs = options.reports;
    outputs.push_back(options.output);
    outputs.push_back(options.fingerprintFile);
    for (const std::string &output : outputs)
        FP_CHECK(checkOutput(output, inputs));
    return checkOutputsApart(outputs);
}

int run(int argc, char **argv)
{
    const ParsedArguments parsed = parseArguments(argc, argv);
    if (!parsed.options) {
        if (!parsed.error.empty())
            std::fprintf(stderr, "forkpoint-cli: %s\nTry: forkpoint-cli --help\n",
                         parsed.error.c_str());
        const std::string text = parsed.json && parsed.status != 0
            ? refusalDocument(parsed.command, parsed.error)
            : parsed.text;
        std::fputs(text.c_str(), stdout);
        return parsed.status;
    }
    setStallAfter(std::chrono::milliseconds(std::int64_t(parsed.options->stallAfter * 1000)));
    if (const Status status = checkOutputs(*parsed.options); !status) {
        printError(status.error());
        if (parsed.json)
            std::fputs(refusalDocument(parsed.command, status.error().message()).c_str(), stdout);
        return 2;
    }
    for (const Command &command : Commands) {
        if (command.name == parsed.options->command)
            return command.run(*parsed.options);
    }
    return 2;
}

} // namespace

int main(int argc, char **argv)
{
    removeUnfinishedFilesOnSignals();
    try {
        return run(argc, argv);
    } catch (const std::bad_alloc &) {
        std::fputs("forkpoint-cli: error: needs more memory than there is; nothing was concluded\n",
                   stderr);
        return 2;
    }
}
