// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/commands.h"
#include "app/cli/output.h"
#include "app/core/elements_document.h"
#include "app/core/open_side.h"

namespace forkpoint {

namespace {

int refuse(const Options &options, const Error &error)
{
    printError(error);
    if (options.json)
        writeOutput(options, refusalDocument("elements", error.message()));
    return 2;
}

} // namespace

int runElements(const Options &options)
{
    std::optional<Step> stepA, stepB;
    if (options.steps.only) {
        stepA = options.steps.only->a;
        stepB = options.steps.only->b;
    }
    auto a = openCheckpoint(options.pathA, options.open, stepA, {});
    if (!a)
        return refuse(options, a.error());
    auto b = openCheckpoint(options.pathB, options.open, stepB, {});
    if (!b)
        return refuse(options, b.error());
    auto pair = findPair(a->source, b->source, options.compare.pairing, options.tensor);
    if (!pair)
        return refuse(options, pair.error());
    for (const TensorRef *tensor : {&pair->tensorA(), &pair->tensorB()}) {
        if (tensor->unreadable)
            return refuse(options, *tensor->unreadable);
    }
    ProgressLine line(options);
    auto page = readElements(*pair, options.query, {},
                             [&](const Progress &progress) { line.show(progress); });
    if (!page)
        return refuse(options, page.error());
    const std::string text = options.json ? elementsJson(*pair, *page) : elementsText(*pair, *page);
    if (!writeOutput(options, text))
        return 2;
    return page->differentElements > 0 ? 1 : 0;
}

} // namespace forkpoint
