// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/commands.h"
#include "app/cli/options.h"

#include <cstdio>
#include <iterator>

using namespace forkpoint;

namespace {

struct Command
{
    std::string_view name;
    int (*run)(const Options &);
};

constexpr Command Commands[] = {
    {"compare", runCompare},         {"report", runReport},     {"inspect", runInspect},
    {"fingerprint", runFingerprint}, {"elements", runElements}, {"extract", runExtract},
    {"formats", runFormats},         {"devices", runDevices},   {"selftest", runSelftestCommand},
};

} // namespace

int main(int argc, char **argv)
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
    for (const Command &command : Commands) {
        if (command.name == parsed.options->command)
            return command.run(*parsed.options);
    }
    return 2;
}
