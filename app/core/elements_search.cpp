// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/elements_search.h"

#include "app/core/elements_document.h"
#include "model/compare/owner_differences.h"
#include "model/pairing/logical_sides.h"
#include "model/pairing/widened_source.h"

#include <algorithm>

namespace forkpoint {

namespace {

FoundElements failed(Error error, Outcome outcome)
{
    FoundElements found;
    found.error = std::move(error);
    found.outcome = outcome;
    return found;
}

/// Which of several entries is meant is undecided; what does not open is not compared.
FoundElements notOpened(const RunStep &step, Error error)
{
    const bool isAmbiguous = !step.rivals.empty() && error.code == ErrorCode::Mismatch;
    return failed(std::move(error), isAmbiguous ? Outcome::Undecided : Outcome::NotCompared);
}

/// What a tensor that cannot be set side by side means.
Outcome outcomeOf(const TensorRef &a, const TensorRef &b, const Error &error)
{
    // More rows were asked for than can be shown, or of a fingerprint file, which has none.
    if (error.code == ErrorCode::Limit
        || (error.code == ErrorCode::Unsupported && !a.unreadable && !b.unreadable))
        return Outcome::NotCompared;
    const bool alike = a.dtype == b.dtype && a.shape == b.shape;
    return alike || !a.layoutKnown || !b.layoutKnown ? Outcome::Undecided : Outcome::Different;
}

/// What it means that a name has no pair.
Outcome withoutPair(ErrorCode code, bool complete)
{
    if (code == ErrorCode::Unsupported || code == ErrorCode::Limit)
        return Outcome::Undecided;
    if (code != ErrorCode::Mismatch)
        return Outcome::NotCompared;
    return complete ? Outcome::Different : Outcome::Undecided;
}

FoundElements readStep(const Run &a, const Run &b, const PlannedStep &step,
                       const ElementsRequest &request,
                       const std::function<void(const Progress &)> &progress, std::stop_token stop)
{
    auto sourceA = a.open(*step.a, stop);
    if (!sourceA)
        return notOpened(a.steps()[*step.a], std::move(sourceA).error());
    auto sourceB = b.open(*step.b, stop);
    if (!sourceB)
        return notOpened(b.steps()[*step.b], std::move(sourceB).error());
    LogicalSides sides = logicalSides(*sourceA, *sourceB, request.pairing);
    const bool complete = (*sourceA)->catalog().complete && (*sourceB)->catalog().complete;
    auto met = findPair(sides.a, sides.b, request.pairing, request.tensor, stop);
    if (!met) {
        const Outcome outcome = withoutPair(met.error().code, complete);
        return failed(std::move(met).error(), outcome);
    }
    FoundElements found;
    const TensorPairRef *const pair = &met->pair;
    found.pair = *pair;
    found.stepA = a.steps()[*step.a].step;
    found.stepB = b.steps()[*step.b].step;
    const TensorRef &tensorA = pair->tensorA(), &tensorB = pair->tensorB();
    for (const TensorRef *tensor : {&tensorA, &tensorB}) {
        if (tensor->unreadable)
            return failed(*tensor->unreadable, outcomeOf(tensorA, tensorB, *tensor->unreadable));
    }
    const bool oneType = tensorA.dtype == tensorB.dtype;
    found.pair = asOneType(*pair);
    auto page = readElements(*found.pair, request.query, std::move(stop), progress);
    if (!page) {
        const Outcome outcome = outcomeOf(tensorA, tensorB, page.error());
        return failed(std::move(page).error(), outcome);
    }
    for (const auto &source : {*sourceA, *sourceB}) {
        if (Status status = source->unchanged(); !status)
            return failed(std::move(status).error(), Outcome::Undecided);
    }
    addPlaces(*page, *found.pair);
    found.page = std::move(*page);
    // Stored bits of unlike types differ, whatever their values.
    const bool differs = found.page->differentElements > 0 || !oneType;
    found.outcome = differs ? Outcome::Different : Outcome::Identical;
    if (differs && !met->saysNothing.empty()) {
        found.outcome = Outcome::Undecided;
        found.error =
            Error{ErrorCode::Unsupported, {}, "tensor '" + tensorA.name + "'", met->saysNothing};
    }
    return found;
}

} // namespace

FoundElements findElements(const Run &a, const Run &b, const ElementsRequest &request,
                           const std::function<void(const Progress &)> &progress,
                           std::stop_token stop)
{
    const StepPlan plan = planSteps(a, b, request.steps);
    if (!plan.refusal.empty())
        return failed({ErrorCode::Usage, {}, {}, plan.refusal}, Outcome::NotCompared);
    FoundElements last;
    std::optional<Error> trouble;
    for (const PlannedStep &step : plan.steps) {
        if (!step.a || !step.b)
            continue;
        FoundElements found = readStep(a, b, step, request, progress, stop);
        if (found.outcome == Outcome::Different)
            return found;
        if (found.error && !trouble)
            trouble = found.error;
        if (found.page || !last.page)
            last = std::move(found);
    }
    // Equal where it could be read is not equal everywhere.
    if (trouble && last.page) {
        last.outcome = Outcome::Undecided;
        last.error = std::move(trouble);
    }
    return last;
}

} // namespace forkpoint
