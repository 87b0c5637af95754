// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/side_listing.h"

#include "model/compare/compare_rows.h"
#include "model/compare/comparison_verdict.h"
#include "model/compare/value_comparison.h"

#include <iterator>
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

std::optional<Step> stepOf(const Run &run, std::optional<Step> wanted)
{
    const auto position = positionOf(run, wanted);
    return position ? run.steps()[*position].step : std::nullopt;
}

/// The step that is listed, of all sides that are: one that has no steps has not the other's.
std::optional<Step> listedStep(const SessionInputs &inputs, const OpenedPair &opened,
                               std::optional<Step> wanted)
{
    if (!opened.a || !opened.b)
        return stepOf(opened.a ? *inputs.a : *inputs.b, wanted);
    const std::optional<Step> step = stepOf(*inputs.a, wanted);
    return step == stepOf(*inputs.b, wanted) ? step : wanted;
}

/// What each of two sides lists, where it is not the same step.
std::string ofStep(const char *side, std::optional<Step> step)
{
    return std::string("; listed is ")
        + (step ? "step " + std::to_string(*step) + " of " : std::string("the one state of "))
        + side;
}

/// The rows of one side, set against nothing.
void addRows(CheckpointComparison &listing, const Catalog &a, const Catalog &b,
             const std::string &reason, const CompareOptions &options)
{
    const Pairing pairing = pairCatalogs(a, b, options.pairing);
    const RankStates ranks(a, b, options.pairing.strict);
    std::vector<TensorRow> tensors = prepareRows(pairing, a, b, ranks).rows;
    std::vector<ValueRow> values =
        compareValues(a, b, pairing.values, ranks, options.strictValues, options.tolerance);
    leaveOut(tensors, reason);
    leaveOut(values, reason);
    std::move(tensors.begin(), tensors.end(), std::back_inserter(listing.tensors));
    std::move(values.begin(), values.end(), std::back_inserter(listing.values));
}

} // namespace

std::shared_ptr<const CheckpointComparison> notComparable(std::string reason)
{
    CheckpointComparison comparison;
    comparison.verdict = refusal(std::move(reason));
    comparison.finished = true;
    return std::make_shared<const CheckpointComparison>(std::move(comparison));
}

std::shared_ptr<const CheckpointComparison> listedSides(const OpenedPair &opened,
                                                        const std::string &reason,
                                                        const CompareOptions &options,
                                                        const SideTexts &besides)
{
    static const Catalog None;
    CheckpointComparison listing;
    if (opened.a)
        addRows(listing, opened.a->catalog(), None, reason + besides.a, options);
    if (opened.b)
        addRows(listing, None, opened.b->catalog(), reason + besides.b, options);
    summarise(listing, {});
    listing.verdict = refusal(reason);
    for (const auto &[side, source] : {std::pair{"A", opened.a}, std::pair{"B", opened.b}}) {
        if (!source)
            continue;
        for (const Diagnostic &diagnostic : source->catalog().diagnostics)
            listing.diagnostics.push_back(ofSide(side, diagnostic));
    }
    listing.finished = true;
    return std::make_shared<const CheckpointComparison>(std::move(listing));
}

std::string whyOneSided(const SessionInputs &inputs, const OpenedPair &opened,
                        std::optional<Step> step)
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
    if (!opened.a && !opened.b)
        return "neither side has this step";
    const Run &run = opened.a ? *inputs.a : *inputs.b;
    const auto position = positionOf(run, step);
    // The other side may have recorded that step all the same, without whole tensors.
    const bool isKept = position && run.steps()[*position].isKept;
    return std::string("only ") + (opened.a ? "A" : "B")
        + (isKept ? " kept tensors of this step" : " has this step");
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
        SideTexts besides;
        const std::optional<Step> shown = listedStep(inputs, opened, step);
        if (opened.a && opened.b && !shown)
            besides = {ofStep("A", stepOf(*inputs.a, step)), ofStep("B", stepOf(*inputs.b, step))};
        control.post(
            [deliver, shown, listing = listedSides(opened, reason, inputs.options, besides)] {
                deliver(shown, listing);
            });
        return Batch::Done;
    };
}

} // namespace forkpoint
