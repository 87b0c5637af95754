// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/commands.h"
#include "app/cli/output.h"
#include "app/core/elements_document.h"
#include "app/core/elements_search.h"
#include "loaders/open_run.h"

namespace forkpoint {

namespace {

int refuse(const Options &options, const Error &error, Outcome outcome = Outcome::NotCompared)
{
    printError(error);
    if (options.json)
        writeOutput(options, refusalDocument("elements", error.message()));
    return exitStatus(outcome);
}

} // namespace

int runElements(const Options &options)
{
    auto a = openRun(options.pathA, options.open, {});
    if (!a)
        return refuse(options, a.error());
    auto b = openRun(options.pathB, options.open, {});
    if (!b)
        return refuse(options, b.error());
    ProgressLine line(options);
    const FoundElements found = findElements(
        **a, **b, {options.tensor, options.compare.pairing, options.steps, options.query},
        [&](const Progress &progress) { line.show(progress); });
    if (!found.page)
        return refuse(options, found.error.value_or(Error{}), found.outcome);
    if (found.error)
        printError(*found.error);
    const std::string text = options.json ? elementsJson(found) : elementsText(found);
    return writeOutput(options, text) ? exitStatus(found.outcome) : 2;
}

} // namespace forkpoint
