// SPDX-License-Identifier: GPL-3.0-or-later
// The rules of the method that judge a whole comparison rather than a pair of records: what is ruled
// out, what independent runs of state are. resources/docs/method.md lists all rules.
#include "model/compare/run_arms.h"
#include "model/compare/run_comparison.h"
#include "model/metrics/metric_findings.h"
#include "model/traces/first_record.h"
#include "model/traces/ruled_out.h"
#include "model/traces/snapshot_protocol.h"
#include "model/traces/trace_divergence.h"

#include <QtTest>

#include <algorithm>

using namespace forkpoint;

namespace {

ChainLink link(std::int64_t step, std::string stage, LinkStatus status)
{
    return {step,
            std::move(stage),
            status,
            1,
            status == LinkStatus::Different ? std::uint64_t(1) : 0,
            status == LinkStatus::Undecided ? Strength::Xor : Strength::Sha256};
}

ValueRow value(std::string name, std::optional<Value> a, std::optional<Value> b)
{
    ValueRow row;
    row.name = std::move(name);
    row.valueA = std::move(a);
    row.valueB = std::move(b);
    return row;
}

bool has(const std::vector<Finding> &findings, std::string_view id)
{
    return std::any_of(findings.begin(), findings.end(),
                       [&](const Finding &finding) { return finding.id == id; });
}

QString text(const std::string &words)
{
    return QString::fromStdString(words);
}

MetricComparison metric(std::string name, std::map<int, std::int64_t> printed)
{
    MetricComparison result;
    result.name = std::move(name);
    result.commonSteps = 400;
    result.firstPrintedDifference = std::move(printed);
    return result;
}

} // namespace

class MethodTest : public QObject
{
    Q_OBJECT

private slots:
    void whatIsProvenBeforeIsRuledOut() // M28
    {
        using enum LinkStatus;
        const std::vector<ChainLink> chain = {
            link(4, "weight", Equal),        link(7, "batch", Equal),    link(7, "rng", Undecided),
            link(7, "forward", NotRecorded), link(7, "grad", Different), link(7, "weight", Equal)};
        FirstDivergence divergence;
        divergence.step = 7;
        divergence.stage = "grad";
        divergence.divergenceClass = "origin";
        const auto found = ruledOutStages(chain, divergence, {});
        QVERIFY(found.has_value());
        QVERIFY(found->certainty == Certainty::Is);
        QVERIFY(text(found->text).contains("batch of step 7 (sha256)"));
        QVERIFY(!text(found->text).contains("rng"));              // no proof
        QVERIFY(!text(found->text).contains("forward"));          // a hole
        QVERIFY(!text(found->text).contains("weight of step 7")); // comes after it
        QVERIFY(text(found->text).contains("every proven link of earlier steps"));
        // Items of a checkpoint stand side by side: none of the same step is ruled out.
        divergence.divergenceClass.clear();
        QCOMPARE(ruledOutStages(chain, divergence, {})->where,
                 (std::vector<std::string>{"weight"}));
        divergence.step = 4;
        QVERIFY(!ruledOutStages(chain, divergence, {}));
    }

    void aLoggedNumberRulesOutNoState()
    {
        // One learning rate that was logged, equal: of the scheduler's state nothing is proven.
        FirstDivergence divergence;
        divergence.step = 5;
        divergence.stage = "loss";
        const auto found = [&](const std::vector<Strength> &evidence, bool bitsKnown) {
            CausalChain chain;
            for (const Strength strength : evidence)
                chain.add(4, "scheduler", true, strength);
            chain.add(5, "loss", false, Strength::Bytes);
            MetricComparison rate;
            rate.name = "lr";
            rate.bitsKnown = bitsKnown;
            rate.differences = {{4, 4, 1, 0, 0.0, 0.0}};
            return ruledOutStages(chain.links(), divergence, {rate});
        };
        const auto logged = found({Strength::Bytes}, true);
        QVERIFY(text(logged->text).contains("the logged lr"));
        QVERIFY2(!text(logged->text).contains("scheduler"), logged->text.c_str());
        QCOMPARE(logged->where, (std::vector<std::string>{"lr"}));
        // Beside a record of the scheduler it is one piece of evidence among them.
        const auto recorded = found({Strength::Sha256, Strength::Bytes}, true);
        QCOMPARE(recorded->where, (std::vector<std::string>{"scheduler"}));
        // Rounded, it reads alike: the record is what is proven, and of the rate nothing is.
        const auto rounded = found({Strength::Sha256, Strength::Printed}, false);
        QCOMPARE(rounded->where, (std::vector<std::string>{"scheduler"}));
        QVERIFY2(text(rounded->text).endsWith(": scheduler of step 4 (sha256)"),
                 rounded->text.c_str());
        QVERIFY(!found({Strength::Printed}, false));
    }

    void recordsOfNoStageStandBetweenTheirNeighbours() // M8
    {
        const ChainPlace forward = chainPlace("forward", {}), loss = chainPlace("loss", {});
        const StepSpan known = spanOf("loss", {}, {});
        StepSpan open = spanOf("", {}, {});
        QVERIFY(orderOf(open, known) == StepOrder::Unknown);
        closeSpan(open, loss); // its rank met its loss behind it
        QVERIFY(orderOf(open, known) == StepOrder::Before);
        QVERIFY(orderOf(known, open) == StepOrder::Behind);
        QVERIFY(orderOf(open, spanOf("forward", {}, {})) == StepOrder::Unknown);
        const StepSpan behind = spanOf("", {}, loss);
        QVERIFY(orderOf(behind, known) == StepOrder::Behind);
        QVERIFY(orderOf(known, known) == StepOrder::Same);
        // A rank that met its forward pass behind its loss does not work as the chain tells.
        StepSpan against = spanOf("", {}, loss);
        closeSpan(against, forward);
        QVERIFY(against == StepSpan());
    }

    void ranksHaveNoCommonOrder() // M8
    {
        // Sequence numbers of two ranks mean nothing to each other: rank 3's is lower here. #6610 sorts
        // ranks and phases into one list and calls the head of it the first.
        TraceComparison trace;
        for (const std::int64_t number : {3, 1}) {
            RankComparison own;
            own.coordinate.rank = number;
            own.first.emplace();
            own.first->record.iteration = 2;
            own.first->record.placeA = TracePlace{0, std::uint64_t(10 - 3 * number), 0, 0};
            trace.ranks.push_back(std::move(own));
        }
        QCOMPARE(chooseFirst(trace), std::optional<std::size_t>(1)); // the lower rank
        RecordName &three = trace.ranks[0].first->record, &one = trace.ranks[1].first->record;
        one.stage = "grad_norm"; // reduced over ranks: rank 3's backward pass made the difference
        three.stage = "backward";
        three.microBatch = 1;
        QCOMPARE(chooseFirst(trace), std::optional<std::size_t>(0));
        one.stage = "forward"; // of an earlier micro-batch
        one.microBatch = 0;
        three.stage = "batch";
        QCOMPARE(chooseFirst(trace), std::optional<std::size_t>(1));
        three = {2, {}, "rng", {}, {}, {}, 0, {}, {}};
        QCOMPARE(chooseFirst(trace), std::optional<std::size_t>(0)); // before all micro-batches
        one.stage = three.stage = {};
        one.microBatch.reset();
        trace.ranks[0].first->classification.divergenceClass = DivergenceClass::Origin;
        QCOMPARE(chooseFirst(trace), std::optional<std::size_t>(0)); // an origin before others
        trace.ranks[1].first->record.iteration = 1;
        QCOMPARE(chooseFirst(trace), std::optional<std::size_t>(1)); // an earlier iteration first
    }

    void theNextCaptureClimbsOneStep() // M22, M23
    {
        TraceComparison trace;
        trace.dialectA = "megatron-sketch";
        trace.coverage.iterationsCompared = {377, 378};
        Verdict verdict;
        verdict.outcome = Outcome::Undecided;
        QVERIFY(nextCapture(trace, {}, verdict)->firstStep == 377);
        FirstDivergence divergence;
        divergence.step = 377;
        divergence.stage = "forward";
        divergence.name = "gemm:NN";
        verdict.outcome = Outcome::Different;
        // The first record compared differs: the window is not centred on it.
        const auto early = nextCapture(trace, divergence, verdict);
        QCOMPARE(early->firstStep, std::int64_t(1));
        QCOMPARE(early->lastStep, std::int64_t(2));
        divergence.provenEqualName = "embed";
        const auto operations = nextCapture(trace, divergence, verdict);
        QCOMPARE(operations->firstStep, std::int64_t(377));
        QVERIFY(text(operations->commands.at("megatron-sketch")).contains("DET_TRACE_OPS=1"));
        divergence.divergenceClass = "origin"; // its bytes, of that rank alone
        divergence.rank = 5;
        QCOMPARE(nextCapture(trace, divergence, verdict)->ranks, (std::vector<std::int64_t>{5}));
        verdict.outcome = Outcome::Identical;
        QVERIFY(!nextCapture(trace, {}, verdict));
    }

    /// What was recorded at the fork is not asked for once more.
    void theNextCaptureRepeatsNothing() // M22
    {
        TraceComparison trace;
        trace.dialectA = "megatron-bridge";
        trace.coverage.iterationsCompared = {1, 2, 3};
        trace.coverage.ranksCompared = 1;
        trace.firstRank = 0;
        trace.ranks.emplace_back().first.emplace().role = RecordRole::Op;
        Verdict verdict;
        verdict.outcome = Outcome::Different;
        FirstDivergence divergence;
        divergence.step = 3;
        divergence.stage = "op";
        divergence.kind = toString(DivergenceKind::Value);
        std::string &name = trace.ranks[0].first->record.name;
        name = divergence.name = "aten.clone.default";
        divergence.provenEqualName = "x";
        divergence.divergenceClass = "receiver";
        auto capture = nextCapture(trace, divergence, verdict);
        QVERIFY(text(capture->why).contains("recorded already"));
        QCOMPARE(capture->commands.count("megatron-bridge"), std::size_t(0));
        // Of the sketch's products no operation between them was recorded.
        trace.dialectA = "megatron-sketch";
        name = divergence.name = "gemm:NN";
        capture = nextCapture(trace, divergence, verdict);
        QVERIFY(text(capture->commands.at("megatron-sketch")).contains("DET_TRACE_OPS=1"));

        // A module with its inputs, and weights after equal gradients.
        trace.dialectA = "forkpoint-trace";
        trace.ranks[0].first->role = RecordRole::Tensor;
        divergence.stage = "forward";
        name = divergence.name = "drop";
        divergence.divergenceClass = "unclassified";
        QVERIFY(text(nextCapture(trace, divergence, verdict)->why).contains("get_rng_state"));
        divergence.probe = "record the weights";
        capture = nextCapture(trace, divergence, verdict);
        QVERIFY(text(capture->why).contains("record the weights"));
        QCOMPARE(capture->firstStep, std::int64_t(2));
        EvidenceSum equal;
        equal.evidence = Evidence::Equal;
        equal.compared = 1;
        trace.stages.push_back({2, "weight", 0, equal, 0});
        // Of which modules the weights are is not known, and what only agrees is not equal.
        capture = nextCapture(trace, divergence, verdict);
        QVERIFY2(text(capture->why)
                     .contains("its weights, unless they are among those recorded after step 2, "
                               "which are equal, its buffers"),
                 capture->why.c_str());
        trace.stages.back().evidence.weakestEqual = Strength::Norm;
        QVERIFY(!text(nextCapture(trace, divergence, verdict)->why).contains("after step 2"));
        trace.stages.back().evidence.weakestEqual = Strength::Sha256;
        trace.stages.back().evidence.nothing = 1; // another weight tells no value
        QVERIFY(!text(nextCapture(trace, divergence, verdict)->why).contains("after step 2"));
        // An input that was not recorded is asked for.
        divergence.probe = "record every input of drop";
        capture = nextCapture(trace, divergence, verdict);
        QVERIFY(!text(capture->why).contains("recorded already"));
        QVERIFY(text(capture->why).endsWith("; record every input of drop"));
        QVERIFY(text(capture->commands.at("forkpoint_capture")).contains("inputs=True"));
        divergence.probe.clear();
        divergence.stage = "weight";
        trace.stages.push_back({3, "grad", 0, equal, 0});
        QVERIFY(text(nextCapture(trace, divergence, verdict)->why).contains("moments"));
        trace.stages.push_back({3, "scheduler", 0, equal, 0});
        trace.stages.push_back({3, "update", 0, equal, 0});
        QVERIFY(!text(nextCapture(trace, divergence, verdict)->why).contains("moments"));

        // Steps that begin with 1 have no step 0; those that begin with 0 have.
        divergence.stage = "rng";
        divergence.step = 1;
        QCOMPARE(nextCapture(trace, divergence, verdict)->firstStep, std::int64_t(1));
        trace.coverage.iterationsCompared = {0, 1};
        QCOMPARE(nextCapture(trace, divergence, verdict)->firstStep, std::int64_t(0));
    }

    void theNextCaptureAsksForWhatDecides() // M22
    {
        TraceComparison trace;
        trace.dialectA = "megatron-bridge";
        trace.coverage.iterationsCompared = {1, 2, 3};
        trace.coverage.ranksCompared = 2;
        trace.coverage.evidence.compared = 4;
        trace.coverage.evidence.weakestEqual = Strength::Sha256;
        Verdict verdict;
        verdict.outcome = Outcome::Different;
        FirstDivergence divergence;
        divergence.step = 3;
        divergence.stage = "batch";
        divergence.name = "tokens";
        divergence.provenEqualName = "weight";
        // Another batch: no operation of the step made it, and no switch of that tool records its cause.
        auto asked = nextCapture(trace, divergence, verdict);
        QCOMPARE(asked->stages, (std::vector<std::string>{"rng", "batch"}));
        QCOMPARE(asked->firstStep, std::int64_t(2));
        QVERIFY(!asked->commands.contains("megatron-bridge"));
        QCOMPARE(text(asked->commands.at("forkpoint_capture")),
                 QString("Policy(select=Select(steps=\"2-3\", stages=(\"rng\", \"batch\", )), "
                         "payload=Select(steps=\"2-3\", stages=(\"rng\", \"batch\", )))"));
        divergence.provenEqualName.clear(); // it may have parted in any step before
        QCOMPARE(nextCapture(trace, divergence, verdict)->firstStep, std::int64_t(1));
        // A rank is in one trace alone: what made the difference may be on it.
        divergence.stage = "collective";
        divergence.provenEqualName = "weight";
        trace.coverage.ranksOnlyA = 1;
        asked = nextCapture(trace, divergence, verdict);
        QVERIFY(text(asked->why).contains("1 rank was not traced on both sides"));
        QVERIFY(asked->ranks.empty()); // all of one pair of runs: old records do not join new ones
        verdict.outcome = Outcome::Undecided;
        asked = nextCapture(trace, {}, verdict);
        QVERIFY(text(asked->why).contains("all ranks in both runs decide it"));
        QVERIFY(!text(asked->commands.at("megatron-bridge")).contains("DET_TRACE_OPS"));
        trace.coverage.ranksOnlyA = 0;
        trace.coverage.worldSize = 8;
        QVERIFY(text(nextCapture(trace, {}, verdict)->why).contains("6 ranks were not traced"));
        trace.coverage.worldSize.reset();
        divergence.kind = "missing"; // lost, and no difference: operations would be lost as well
        asked = nextCapture(trace, divergence, verdict);
        QVERIFY(text(asked->why).contains("recorded to its end"));
        QVERIFY(!text(asked->commands.at("megatron-bridge")).contains("DET_TRACE_OPS"));
    }

    void innocentOperationsAreNamed() // M28, M11, M13
    {
        TraceComparison trace;
        const auto rank = [&](std::string name, RecordRole role, bool innocent) {
            RankComparison own;
            own.first.emplace();
            own.first->record.name = std::move(name);
            own.first->role = role;
            own.first->classification.innocentCollective = innocent;
            trace.ranks.push_back(std::move(own));
        };
        rank("all_reduce", RecordRole::Collective, true);
        rank("all_reduce", RecordRole::Collective, true);
        rank("aten.clone.default", RecordRole::Op, false);
        rank("aten.mm.default", RecordRole::Op, false);
        const auto findings = ruledOutOperations(trace);
        QCOMPARE(findings.size(), std::size_t(2));
        QCOMPARE(findings[0].where.front(), std::string("all_reduce"));
        QCOMPARE(findings[1].where.front(), std::string("aten.clone.default"));
    }

    void firstBitAgainstFirstDigit()
    {
        // Two curves alike on screen, the first difference in their low digits at step 377.
        const auto found =
            firstBitAgainstDigit(1, {metric("loss", {{4, 377}, {6, 12}}), metric("norm", {})});
        QVERIFY(text(found->text).contains("step 377 of loss"));
        QVERIFY(text(found->text).contains("376 steps late"));
        QVERIFY(
            text(firstBitAgainstDigit(1, {metric("loss", {})})->text).contains("ever shows it"));
        MetricComparison printed = metric("loss", {{4, 2}});
        printed.bitsKnown = false; // rounded when it was logged: its digits were judged already
        QVERIFY(!firstBitAgainstDigit(1, {printed}));
        printed.firstProvenDifference =
            1; // what parts first is printed: of its bits nothing is known
        QVERIFY(!firstBitAgainstDigit(1, {printed, metric("norm", {})}));
        QVERIFY(!firstBitAgainstDigit({}, {metric("loss", {})}));
    }

    void metricsOfOneRunAreNamed()
    {
        const auto logged = [](std::string name, std::int64_t step) {
            return MetricSeries{std::move(name), "log", true, {{step, 1.0}}};
        };
        const std::vector<MetricSeries> a = {logged("loss", 1), logged("lr", 1), logged("norm", 1),
                                             logged("time", 1)};
        const std::vector<MetricSeries> b = {logged("loss", 1), logged("accuracy", 1),
                                             logged("norm", 2)};
        const auto all = [](std::string_view) { return true; };
        const auto found = loneMetrics(a, b, compareMetrics(a, b), all);
        QCOMPARE(text(found->text),
                 QString("only A logs lr; only B logs accuracy; at no common "
                         "step both log norm")); // a time decides nothing
        QVERIFY(!loneMetrics(a, a, compareMetrics(a, a), all));
        QVERIFY(!loneMetrics(a, b, compareMetrics(a, b),
                             [](std::string_view name) { return name == "loss"; }));
        std::vector<MetricSeries> many;
        for (char name = 'a'; name < 'k'; ++name)
            many.push_back(logged(std::string("loss.") + name, 1));
        QVERIFY(text(loneMetrics(many, {}, {}, all)->text).endsWith("loss.h and 2 more"));
    }

    void freshRunsAreTwoProcesses() // M31
    {
        CheckpointComparison comparison;
        comparison.values = {
            value("snapshot.process_id", Value::text("n:1:a"), Value::text("n:2:b")),
            value("provenance.source_dirty", Value::boolean(false), Value::boolean(false))};
        QVERIFY(has(snapshotIndependence(comparison), "independent-runs"));
        // Megatron's own comparison accepts a folder beside its copy as a repeat.
        comparison.values[0].valueB = Value::text("n:1:a");
        QVERIFY(has(snapshotIndependence(comparison), "same-process"));
        comparison.values[0].valueB = Value::text("n:2:b");
        comparison.values[1].valueB = Value::boolean(true);
        const auto dirty = snapshotIndependence(comparison);
        QVERIFY(has(dirty, "source-dirty"));
        QVERIFY(!has(dirty, "independent-runs"));
    }

    void aResumptionNamesItsRunAndHash() // M31
    {
        CheckpointComparison comparison;
        const std::string rank = "rank-000001.";
        comparison.values = {
            value(rank + "snapshot.process_id", Value::text("n:1:a"), Value::text("n:2:b")),
            value(rank + "snapshot.resume_from.checkpoint_sha256", {}, Value::text("c0ffee")),
            value(rank + "snapshot.resume_from.run_id", {}, Value::text("run-a")),
            value(rank + "snapshot.run_id", Value::text("run-a"), Value::text("run-d"))};
        QVERIFY(has(snapshotIndependence(comparison), "independent-runs"));
        comparison.values[2].valueB = Value::text("run-x");
        QVERIFY(has(snapshotIndependence(comparison), "resume-of-another-run"));
        comparison.values.erase(comparison.values.begin() + 1);
        QVERIFY(has(snapshotIndependence(comparison), "resume-unverified"));
    }

    void shardsOfAnotherCheckpointInvalidate() // M32
    {
        const std::map<std::string, std::string> recorded = {{"a.pt", "1"}, {"b.pt", "2"}};
        QVERIFY(shardProblems(recorded, recorded).empty());
        QCOMPARE(
            shardProblems(recorded, {{"b.pt", "3"}, {"c.pt", "4"}}),
            (std::vector<std::string>{"a.pt is missing", "b.pt changed", "c.pt came in addition"}));
        CheckpointComparison comparison;
        const std::string files = "snapshot.resume_from.checkpoint_files.";
        comparison.values = {
            value(files + "a.pt", Value::text("1"), Value::text("2")),
            value("snapshot.resume_from.checkpoint_sha256", Value::text("x"), Value::text("y")),
            value("snapshot.resume_from.run_id", Value::text("run-a"), Value::text("run-a")),
            value("snapshot.run_id", Value::text("run-c"), Value::text("run-d"))};
        QVERIFY(has(snapshotIndependence(comparison), "resume-shards"));
    }

    void aPairMatrixTellsCodeFromAnecdote() // M25
    {
        const std::vector<RunArm> arms = {{"a", false}, {"b", false}, {"c", false}};
        const auto at = [](std::string name) {
            FirstDivergence first;
            first.step = 1;
            first.stage = "grad";
            first.name = std::move(name);
            return first;
        };
        std::vector<ArmPair> pairs = {{0, 1, Outcome::Different, at("w")},
                                      {0, 2, Outcome::Different, at("w")},
                                      {1, 2, Outcome::Identical, {}}};
        auto findings = armFindings(arms, pairs);
        QVERIFY(has(findings, "pair-matrix"));
        QVERIFY(text(findings[1].text).contains("2 pairs part at step 1, grad w, A in each"));
        QVERIFY(!text(findings[1].text).contains("rather than of a run")); // B and C agree
        QVERIFY(text(findings[2].text).contains("may be the same noise")); // A against its repeat
        QVERIFY(findings[2].certainty == Certainty::ConsistentWith);
        pairs[1] = {0, 2, Outcome::Identical, {}};
        findings = armFindings(arms, pairs);
        QVERIFY(text(findings[1].text).contains("an anecdote"));
        QVERIFY(text(findings[2].text).contains("none of what B differs in"));
        // B differs from A and from A's repeat, which agree: it is B that is odd.
        pairs[2] = {1, 2, Outcome::Different, at("w")};
        QVERIFY(text(armFindings(arms, pairs)[1].text).contains("B in each of them"));
        pairs[2].first = at("v"); // elsewhere, but B again
        QVERIFY(text(armFindings(arms, pairs)[1].text).contains("unlike places, B in each"));
        // Every pair differs there: no run is the odd one.
        pairs = {{0, 1, Outcome::Different, at("w")},
                 {0, 2, Outcome::Different, at("w")},
                 {1, 2, Outcome::Different, at("w")}};
        QVERIFY(text(armFindings(arms, pairs)[1].text).contains("property of the code rather"));
        pairs[1] = {0, 2, Outcome::Identical, {}};
        pairs[2] = {1, 2, Outcome::Identical, {}};
        pairs[1].outcome = Outcome::Undecided; // equal weak digests are no floor
        QVERIFY(text(armFindings(arms, pairs)[2].text).contains("is not known"));
    }

    void aControlMustDiffer() // M26
    {
        const std::vector<RunArm> arms = {{"a", false}, {"b", false}, {"c", true}};
        std::vector<ArmPair> pairs = {{0, 1, Outcome::Identical, {}},
                                      {0, 2, Outcome::Different, {}}};
        QVERIFY(has(armFindings(arms, pairs), "control-differs"));
        for (const Outcome dead : {Outcome::Identical, Outcome::Undecided, Outcome::NotCompared}) {
            pairs[1].outcome = dead;
            QVERIFY(has(armFindings(arms, pairs), "control-not-seen"));
        }
    }

    void theScopeNamesWhatWasDeclared() // M33
    {
        CheckpointComparison comparison;
        for (const char *name : {"model.w", "rank-000001.model.w", "gradients.w", "optimizer.m"}) {
            TensorRow row;
            row.name = name;
            row.status = ItemStatus::Identical;
            comparison.tensors.push_back(row);
        }
        const Finding scope = snapshotScope(comparison);
        QVERIFY(text(scope.text).contains("model (2 items), gradients (1 item)"));
        QVERIFY(text(scope.text).contains("nothing of precision, rng, scheduler, dataloader"));
        QVERIFY(scope.severity == Severity::Warning);
    }
};

QTEST_APPLESS_MAIN(MethodTest)
#include "tst_method.moc"
