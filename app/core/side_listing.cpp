// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/side_listing.h"

#include "model/compare/compare_rows.h"
#include "model/compare/comparison_verdict.h"
#include "model/compare/value_comparison.h"

#include <utility>

namespace forkpoint {

namespace {

Verdict refusal(std::string reason)
{
    VerdictFacts facts;
    facts.refused = true;
    facts.refusedReason = std::move(reason);
    return decide(facts);
}

template <class Row>
void leaveOut(std::vector<Row> &rows, const std::string &reason)
{
    for (Row &row : rows) {
        row.status = ItemStatus::NotCompared;
        row.reason = reason;
    }
}

/// The step that is listed, where the sides agree on it.
std::optional<Step> listedStep(const SessionInputs &inputs, const OpenedPair &opened,
                               std::optional<Step> wanted)
{
    std::optional<Step> shown;
    for (const auto &[run, source] :
         {std::pair{inputs.a, opened.a}, std::pair{inputs.b, opened.b}}) {
        const auto position = source ? positionOf(*run, wanted) : std::nullopt;
        const auto step = position ? run->steps()[*position].step : std::nullopt;
        if (shown && step && step != shown)
            return wanted;
        shown = step ? step : shown;
    }
    return shown;
}

} // namespace

std::shared_ptr<const CheckpointComparison> notComparable(std::string reason)
{
    CheckpointComparison comparison;
    comparison.verdict = refusal(std::move(reason));
    comparison.finished = true;
    return std::make_shared<const CheckpointComparison>(std::move(comparison));
}

std::shared_ptr<const CheckpointComparison>
listedSides(const OpenedPair &opened, const std::string &reason, const CompareOptions &options)
{
    static const Catalog None;
    const Catalog &a = opened.a ? opened.a->catalog() : None;
    const Catalog &b = opened.b ? opened.b->catalog() : None;
    const Pairing pairing = pairCatalogs(a, b, options.pairing);
    CheckpointComparison listing;
    const RankStates ranks(a, b, options.pairing.strict);
    listing.tensors = prepareRows(pairing, a, b, ranks).rows;
    listing.values =
        compareValues(a, b, pairing.values, ranks, options.strictValues, options.tolerance);
    leaveOut(listing.tensors, reason);
    leaveOut(listing.values, reason);
    summarise(listing, {});
    listing.verdict = refusal(reason);
    for (const auto &[side, catalog] : {std::pair{"A", &a}, std::pair{"B", &b}}) {
        for (const Diagnostic &diagnostic : catalog->diagnostics)
            listing.diagnostics.push_back(ofSide(side, diagnostic));
    }
    listing.finished = true;
    return std::make_shared<const CheckpointComparison>(std::move(listing));
}

std::string whyOneSided(const OpenedPair &opened)
{
    if (opened.errorA || opened.errorB) {
        std::string why;
        for (const auto &[side, error] :
             {std::pair{"A", &opened.errorA}, std::pair{"B", &opened.errorB}}) {
            if (*error)
                why += (why.empty() ? "" : "; ") + std::string("this step of ") + side
                    + " could not be opened: " + (*error)->message();
        }
        return why;
    }
    return opened.a ? "only A has this step"
        : opened.b  ? "only B has this step"
                    : "neither side has this step";
}

JobBatch listSidesBatch(
    SessionInputs inputs, std::optional<Step> step, std::string reason,
    std::function<void(std::optional<Step>, std::shared_ptr<const CheckpointComparison>)> deliver)
{
    return [=, inputs = std::move(inputs), reason = std::move(reason),
            deliver = std::move(deliver)](JobControl &control) -> Result<Batch> {
        FP_TRY(OpenedPair opened, openWhatIsThere(inputs, step, control.stop()));
        if (!opened.a && !opened.b) {
            if (opened.errorA || opened.errorB)
                return opened.errorA ? *opened.errorA : *opened.errorB;
            const char *why = step ? "it has no such step" : "it holds no tensors";
            control.post([=] { deliver(step, notComparable(why)); });
            return Batch::Done;
        }
        control.post([deliver, listing = listedSides(opened, reason, inputs.options),
                      shown = listedStep(inputs, opened, step)] { deliver(shown, listing); });
        return Batch::Done;
    };
}

} // namespace forkpoint
