// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/results/report_trace.h"

namespace forkpoint {

namespace {

std::optional<TraceCoordinate> coordinateOf(const JsonFields &fields)
{
    const auto axes = fields.objectIf("coord");
    if (!axes)
        return std::nullopt;
    TraceCoordinate coordinate;
    for (const JsonValue &axis : axes->members())
        coordinate.axes.emplace_back(axis.key(), axes->integer(axis.key()));
    return coordinate;
}

LeafDifference leafDifferenceOf(const JsonFields &fields)
{
    LeafDifference difference;
    difference.isInput = fields.text("side") == "input";
    difference.path = fields.textOr("path");
    difference.firstElement = fields.count("first_index");
    difference.lastElement = fields.count("last_index");
    difference.elements = fields.count("elements");
    difference.leaf = fields.count("leaf");
    difference.different = fields.count("different_leaves");
    difference.leaves = fields.count("leaves");
    return difference;
}

RankSummary::First firstOf(const JsonFields &fields)
{
    RankSummary::First first;
    first.step = fields.integerIf("step");
    first.stage = fields.textOr("stage");
    first.name = fields.text("name");
    first.microBatch = fields.integerIf("micro_batch");
    first.call = fields.count("call");
    first.kind = fields.text("kind");
    first.equalBefore = fields.count("equal_before");
    first.sourceA = fields.textOr("source_a");
    first.sourceB = fields.textOr("source_b");
    return first;
}

} // namespace

Strength strengthOf(const JsonFields &fields)
{
    if (!fields.has("strength"))
        return Strength::None;
    return fields.wordOf("strength",
                         {Strength::None, Strength::Metadata, Strength::Printed, Strength::Norm,
                          Strength::Sampled, Strength::Xor, Strength::Crc, Strength::Megatron128,
                          Strength::Xxh3Index, Strength::Xxh3, Strength::Sha256, Strength::Bytes});
}

FirstDivergence divergenceOf(const JsonFields &fields, JsonProblem &problem)
{
    FirstDivergence divergence;
    divergence.step = fields.integerIf("step");
    divergence.stage = fields.textOr("stage");
    divergence.name = fields.textOr("name");
    divergence.microBatch = fields.integerIf("micro_batch");
    divergence.rank = fields.integerIf("rank");
    divergence.coordinate = coordinateOf(fields);
    divergence.call = fields.countIf("call");
    divergence.kind = fields.textOr("kind");
    divergence.divergenceClass = fields.textOr("class");
    if (const auto after = fields.objectIf("after")) {
        divergence.provenEqualStep = after->integerIf("step");
        divergence.provenEqualStage = after->textOr("stage");
        divergence.provenEqualName = after->textOr("name");
    }
    divergence.provenEqualBefore = fields.flagIf("proven_equal_before").value_or(false);
    divergence.probe = fields.textOr("probe");
    for (const JsonValue &value : fields.arrayIf("where"))
        divergence.where.push_back(
            leafDifferenceOf(JsonFields(value, fields.place() + ".where", problem)));
    divergence.sentence = fields.textOr("sentence");
    return divergence;
}

ChainLink chainLinkOf(const JsonFields &fields)
{
    ChainLink link;
    link.step = fields.integerIf("step");
    link.stage = fields.text("stage");
    link.status = fields.wordOf(
        "status",
        {LinkStatus::Undecided, LinkStatus::Equal, LinkStatus::Different, LinkStatus::NotRecorded});
    link.compared = fields.count("compared");
    link.different = fields.count("different");
    link.strength = strengthOf(fields);
    return link;
}

RankSummary rankSummaryOf(const JsonFields &fields)
{
    RankSummary rank;
    rank.coordinate = coordinateOf(fields).value_or(TraceCoordinate());
    rank.coordinate.rank = fields.integerIf("rank");
    rank.records = fields.count("records");
    rank.different = fields.count("different");
    if (const auto first = fields.objectIf("first"))
        rank.first = firstOf(*first);
    rank.divergenceClass = fields.textOr("class");
    rank.why = fields.textOr("why");
    return rank;
}

NextCapture nextCaptureOf(const JsonFields &fields)
{
    NextCapture capture;
    capture.why = fields.text("why");
    const auto steps = fields.arrayIf("steps");
    const auto first = steps.size() == 2 ? integerOf(steps[0]) : std::nullopt;
    const auto last = steps.size() == 2 ? integerOf(steps[1]) : std::nullopt;
    if (!first || !last)
        fields.problem("steps", "expected the first and the last step");
    capture.firstStep = first.value_or(0);
    capture.lastStep = last.value_or(0);
    for (const JsonValue &rank : fields.arrayIf("ranks")) {
        if (const auto number = integerOf(rank))
            capture.ranks.push_back(*number);
        else
            fields.problem("ranks", "expected whole numbers");
    }
    capture.stages = fields.textsIf("stages");
    if (const auto commands = fields.objectIf("commands")) {
        for (const JsonValue &command : commands->members())
            capture.commands.emplace(command.key(), commands->text(command.key()));
    }
    return capture;
}

} // namespace forkpoint
