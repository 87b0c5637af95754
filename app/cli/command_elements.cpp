// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/commands.h"
#include "app/cli/output.h"
#include "app/core/elements_document.h"
#include "app/core/open_side.h"

namespace forkpoint {

namespace {

int refuse(const Options &options, const Error &error, Outcome outcome = Outcome::NotCompared)
{
    printError(error);
    if (options.json)
        writeOutput(options, refusalDocument("elements", error.message()));
    return exitStatus(outcome);
}

/// What `compare` would say of a tensor that has no rows to show.
Outcome outcomeOf(const Error &error, bool complete)
{
    switch (error.code) {
    case ErrorCode::NotFound:
    case ErrorCode::Usage:
    case ErrorCode::Cancelled: return Outcome::NotCompared;
    case ErrorCode::Mismatch: return complete ? Outcome::Different : Outcome::Undecided;
    default: return Outcome::Undecided;
    }
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
    const bool complete = a->source->catalog().complete && b->source->catalog().complete;
    if (!pair)
        return refuse(options, pair.error(), outcomeOf(pair.error(), complete));
    const TensorRef &tensorA = pair->tensorA(), &tensorB = pair->tensorB();
    const bool alike = tensorA.dtype == tensorB.dtype && tensorA.shape == tensorB.shape;
    for (const TensorRef *tensor : {&tensorA, &tensorB}) {
        if (tensor->unreadable && alike)
            return refuse(options, *tensor->unreadable, Outcome::Undecided);
    }
    ProgressLine line(options);
    auto page = readElements(*pair, options.query, {},
                             [&](const Progress &progress) { line.show(progress); });
    if (!page) {
        const bool asked = page.error().code == ErrorCode::Limit; // more rows than can be shown
        return refuse(options, page.error(),
                      asked ? Outcome::NotCompared : outcomeOf(page.error(), true));
    }
    const std::string text = options.json ? elementsJson(*pair, *page) : elementsText(*pair, *page);
    if (!writeOutput(options, text))
        return 2;
    return page->differentElements > 0 ? 1 : 0;
}

} // namespace forkpoint
