// SPDX-License-Identifier: GPL-3.0-or-later
// The rules by which two traces are compared, one test each. What other comparators answer on the
// same records is in the comment of the test: each of these is a hole of one of them.
#include "model/traces/trace_alignment.h"
#include "model/traces/trace_divergence.h"
#include "model/traces/trace_plan.h"
#include "tests/support/compared_traces.h"

#include <QtTest>

using namespace forkpoint;
using namespace forkpoint::test;

namespace {

const RankDivergence &firstOf(const TraceComparison &comparison, std::size_t rank = 0)
{
    static const RankDivergence Nothing;
    return comparison.ranks[rank].first ? *comparison.ranks[rank].first : Nothing;
}

QString text(std::string_view view)
{
    return QString::fromUtf8(view.data(), qsizetype(view.size()));
}

TraceRecord linear(std::uint64_t number, std::string in, std::string out)
{
    return call("aten.mm.default", number, {seen(std::move(in))}, {seen(std::move(out))});
}

} // namespace

class TraceTest : public QObject
{
    Q_OBJECT

private slots:
    void nullSignaturesAreNoMatch() // M15
    {
        // Bridge's comparator: [null] equals [null].
        const auto evidence = compareObservations(std::vector{absent(Absence::Null)},
                                                  std::vector{absent(Absence::Null)});
        QVERIFY(evidence.evidence == Evidence::Nothing);
        QCOMPARE(evidence.compared, std::uint64_t(0));
        const TraceComparison result = compared(
            {call("aten.mm.default", 0, {absent(Absence::Null)}, {absent(Absence::Null)})},
            {call("aten.mm.default", 0, {absent(Absence::Null)}, {absent(Absence::Null)})});
        QVERIFY(result.facts.valuesMissing);
        QVERIFY(decide(result.facts).outcome == Outcome::Undecided);
    }

    void onlyShapeAndDtypeMakeADigestComparable() // M16
    {
        // XOR of an empty tensor and of zeros are both 0; bf16 and f32 of the same values agree.
        Observation empty = seen("0000000000000000"), zeros = seen("0000000000000000");
        empty.shape = std::vector<std::uint64_t>{0};
        empty.count = 0;
        QVERIFY(compareObservations(std::vector{empty}, std::vector{zeros}).evidence
                == Evidence::Different);
        // A digest of all bytes of a tensor without elements, of stated shape, is one of equal tensors.
        Observation nothing = empty;
        nothing.kind = DigestKind::Sha256;
        QVERIFY(compareObservations(std::vector{nothing}, std::vector{nothing}).evidence
                == Evidence::Equal);
        QVERIFY(compareObservations(std::vector{empty}, std::vector{empty}).evidence
                == Evidence::Nothing);
        const auto narrow = seen("fffa000000000000", DigestKind::XorLanes, "bfloat16");
        const auto sum =
            compareObservations(std::vector{narrow}, std::vector{seen("fffa000000000000")});
        QVERIFY(sum.evidence == Evidence::Different);
        QVERIFY(sum.layoutDiffers);
    }

    void metadataIsNoValue() // M17
    {
        // #6610: another stride or device is a divergence.
        Observation a = seen("1111111111111111"), b = a;
        a.metadata = {{"device", "cuda:0"}, {"stride", "[2]"}};
        b.metadata = {{"device", "cuda:1"}, {"stride", "[1]"}};
        const auto sum = compareObservations(std::vector{a}, std::vector{b});
        QVERIFY(sum.evidence == Evidence::Equal);
        QVERIFY(sum.metadataDiffers);
    }

    void aNormThatIsNanIsNoEvidence()
    {
        // DebugMode: NaN differs from itself, identical runs are reported as different.
        const auto nan = std::vector{seen("nan", DigestKind::Norm)};
        QVERIFY(compareObservations(nan, nan).evidence == Evidence::Nothing);
    }

    void digestsOfTwoKindsAreNotCompared()
    {
        const auto crc = std::vector{seen("1111111111111111", DigestKind::Crc32)};
        const auto sum = compareObservations(crc, std::vector{seen("1111111111111111")});
        QVERIFY(sum.evidence == Evidence::NotComparable);
    }

    void effectiveBitsOfXor()
    {
        QCOMPARE(effectiveBits(DigestKind::XorLanes, "bool"), std::optional(1));
        QCOMPARE(effectiveBits(DigestKind::XorLanes, "float8_e4m3fn"), std::optional(8));
        QCOMPARE(effectiveBits(DigestKind::XorLanes, "bfloat16"), std::optional(17));
        QCOMPARE(effectiveBits(DigestKind::XorLanes, "float32"), std::optional(33));
        QVERIFY(!effectiveBits(DigestKind::Sha256, "bool"));
    }

    void equalWeakDigestsAreUndecided() // M18
    {
        const TraceComparison result = compared({linear(0, "1", "2")}, {linear(0, "1", "2")});
        QVERIFY(result.facts.strength == Strength::Xor);
        const Verdict verdict = decide(result.facts);
        QVERIFY(verdict.outcome == Outcome::Undecided);
        QVERIFY(!result.firstRank);
        QVERIFY(nextCapture(result, {}, verdict).has_value());
    }

    void stepsAtTheEndOfIntegers()
    {
        TraceComparison result;
        Verdict undecided;
        undecided.outcome = Outcome::Undecided;
        result.coverage.iterationsCompared = {INT64_MAX};
        const auto capture = nextCapture(result, {}, undecided);
        QVERIFY(capture && capture->firstStep == INT64_MAX && capture->lastStep == INT64_MAX);
        result.coverage.iterationsCompared = {4, 9};
        QCOMPARE(nextCapture(result, {}, undecided)->lastStep, std::int64_t(5));
        result.coverage.iterationsCompared = {};
        QCOMPARE(nextCapture(result, {}, undecided)->lastStep, std::int64_t(2));
        FirstDivergence checkpoint, trace;
        checkpoint.step = checkpoint.provenEqualStep = INT64_MAX;
        trace.step = INT64_MIN;
        QVERIFY(earlier(checkpoint, trace)->sentence.empty());
        checkpoint.provenEqualStep = 4;
        trace.step = 5;
        QVERIFY(earlier(checkpoint, trace)->sentence.find("step 4 are equal") != std::string::npos);
    }

    void equalSha256IsIdentical()
    {
        const auto records = [] {
            return std::vector{call("w", 0, {}, {seen("ab", DigestKind::Sha256Header)})};
        };
        const TraceComparison result = compared(records(), records());
        QVERIFY(decide(result.facts).outcome == Outcome::Identical);
        QVERIFY(decide(result.facts).strength == Strength::Sha256);
    }

    void aRecordThatAloneIsMissingMayBeALostLine() // M4
    {
        const auto sentenceOf = [](std::string last) {
            const std::vector all = {linear(0, "1", "2"), call("aten.gelu", 0, {}, {seen("3")}),
                                     linear(1, "3", "4")};
            return firstDivergenceIn(compared(all, {all[0], linear(1, "3", std::move(last))}))
                ->sentence;
        };
        QVERIFY(sentenceOf("4").find("no record that both sides have differs, so the one without a "
                                     "partner may as well have been lost")
                != std::string::npos);
        QVERIFY(sentenceOf("5").find("Look at the configuration first") != std::string::npos);
    }

    void renamesAreToldNotToApply()
    {
        FakeTrace left, right;
        left.rank(0, {linear(0, "1", "2")});
        right.rank(0, {linear(0, "1", "2")});
        TraceRequest request;
        request.items.renames.emplace_back();
        const auto told = [](const TraceComparison &result) {
            return std::any_of(result.diagnostics.begin(), result.diagnostics.end(),
                               [](const Diagnostic &d) { return d.code == "rename-unused"; });
        };
        QVERIFY(told(compared(left, right, request)));
        QVERIFY(!told(compared(left, right)));
    }

    void aRankOfOneSideIsNotEqual() // M1, M19
    {
        FakeTrace left, right;
        left.rank(0, {linear(0, "1", "2")}).rank(1, {linear(0, "1", "2")});
        right.rank(0, {linear(0, "1", "2")});
        const auto ranks = summarizeRanks(compared(left, right));
        QCOMPARE(ranks.size(), std::size_t(2));
        QVERIFY(ranks[0].why.empty());
        QCOMPARE(ranks[1].coordinate.rank, std::optional<std::int64_t>(1));
        QCOMPARE(ranks[1].why, std::string("only in A: nothing of it is compared"));
    }

    void equalInputsAndOtherOutputsAreAnOrigin() // M9
    {
        const TraceComparison result = compared({linear(0, "1", "2"), linear(1, "2", "3")},
                                                {linear(0, "1", "2"), linear(1, "2", "9")});
        QCOMPARE(firstOf(result).record.call, std::uint64_t(1));
        QCOMPARE(text(toString(firstOf(result).classification.divergenceClass)), QString("origin"));
        QCOMPARE(firstOf(result).equalBefore, std::uint64_t(1)); // M21
        QCOMPARE(firstOf(result).after->call, std::uint64_t(0));
        // XOR proves nothing.
        QCOMPARE(firstOf(result).doubt, std::string("the evidence is too weak to say equal (xor)"));
    }

    void otherInputsAreAReceiver() // M9, M13
    {
        // Bridge: "first divergent op -> ROOT CAUSE", whatever its inputs.
        const TraceComparison result = compared({linear(0, "1", "2"), linear(1, "7", "3")},
                                                {linear(0, "1", "2"), linear(1, "8", "9")});
        const Classification &found = firstOf(result).classification;
        QCOMPARE(text(toString(found.divergenceClass)), QString("receiver"));
        QVERIFY(text(found.why).contains("not instrumented"));
        QVERIFY(!found.probe.empty());
    }

    void anInputTakenUpInAnotherOrderIsNoGuilt()
    {
        // Both values were produced alike on both sides; only which one came first changed.
        const auto start = [] { return std::vector{linear(0, "1", "a"), linear(1, "2", "b")}; };
        auto left = start(), right = start();
        left.push_back(call("aten.clone.default", 0, {seen("a")}, {seen("a")}));
        right.push_back(call("aten.clone.default", 0, {seen("b")}, {seen("b")}));
        const TraceComparison result = compared(left, right);
        QCOMPARE(QString::fromStdString(firstOf(result).record.name),
                 QString("aten.clone.default"));
        QVERIFY(text(firstOf(result).classification.why).contains("no operation is guilty"));
    }

    void valuesThatDifferAreSaid()
    {
        TraceRecord a = call("group", 1, {}, {}), b = a;
        a.role = b.role = RecordRole::Values;
        a.fields = {{"lr", "0.001"}, {"eps", "1e-08"}, {"weight_decay", "0"}};
        b.fields = {{"lr", "0.002"}, {"eps", "1e-08"}, {"weight_decay", "0.1"}};
        const TraceComparison result = compared({a}, {b});
        const std::string &why = result.ranks[0].first->classification.why;
        QVERIFY2(why.ends_with("; lr is 0.001 in A and 0.002 in B, and 1 more value differs"),
                 why.c_str());
        QVERIFY(firstDivergenceIn(result)->sentence.find("lr is 0.001 in A") != std::string::npos);
    }

    void groupsOfSeveralAxesJoinWhatStandsAlikeOnTheOthers() // M11
    {
        TraceCoordinate one{{}, {{"tp", 0}, {"cp", 0}, {"dp", 0}}}, other = one;
        other.axes[2].second = 1;
        QVERIFY(areGroupPeers(one, other, "dp_cp") && areGroupPeers(one, other, "dp"));
        other.axes[0].second = 1;
        QVERIFY(!areGroupPeers(one, other, "dp_cp") && !areGroupPeers(one, other, "dp"));
        QVERIFY(areGroupPeers(one, other, "default")); // may join all
        const TraceCoordinate here{{}, {{"dp_replicate", 0}, {"dp_shard", 0}}},
            there{{}, {{"dp_replicate", 1}, {"dp_shard", 0}}};
        QVERIFY(!areGroupPeers(here, there, "dp_shard")); // one axis, whatever its name
    }

    void aCopyIsNeverTheOrigin() // M13
    {
        // The pair "two signs flipped": relu of inputs whose XOR agrees. relu is not to be blamed.
        const TraceComparison result =
            compared({call("aten.relu.default", 0, {seen("5")}, {seen("1")})},
                     {call("aten.relu.default", 0, {seen("5")}, {seen("7")})});
        QCOMPARE(text(toString(firstOf(result).classification.divergenceClass)),
                 QString("unclassified"));
        QVERIFY(decide(result.facts).outcome == Outcome::Different);
    }

    void eightBitInputsMakeNoOrigin()
    {
        const auto record = [](std::string out) {
            return call("aten.mm.default", 0, {seen("5", DigestKind::XorLanes, "int8")},
                        {seen(std::move(out))});
        };
        const TraceComparison result = compared({record("1")}, {record("2")});
        QCOMPARE(text(toString(firstOf(result).classification.divergenceClass)),
                 QString("unclassified"));
    }

    void noInputsAreUnclassified() // M9
    {
        const TraceComparison result =
            compared({call("fused", 0, {}, {seen("1")})}, {call("fused", 0, {}, {seen("2")})});
        QCOMPARE(text(toString(firstOf(result).classification.divergenceClass)),
                 QString("unclassified"));
    }

    void memoryNotWrittenIsAnArtifact() // M14
    {
        const TraceComparison result =
            compared({call("aten.empty.memory_format", 0, {}, {seen("1")})},
                     {call("aten.empty.memory_format", 0, {}, {seen("2")})});
        QCOMPARE(result.coverage.artifacts, std::uint64_t(1));
        QVERIFY(!result.firstRank);
    }

    void executionOrderDecides() // M3
    {
        // #6610 sorts by name: it would say "alpha".
        const auto tensor = [](std::string name, std::string digest) {
            TraceRecord record = call(std::move(name), 0, {}, {seen(std::move(digest))});
            record.role = RecordRole::Tensor;
            return record;
        };
        const TraceComparison result = compared({tensor("zulu", "1"), tensor("alpha", "2")},
                                                {tensor("zulu", "8"), tensor("alpha", "9")});
        QCOMPARE(QString::fromStdString(firstOf(result).record.name), QString("zulu"));
    }

    void anInsertedCallShiftsNothing() // M6, M4
    {
        // Bridge pairs by number: every later call of that kind would differ, the wrong one first.
        std::vector<TraceRecord> a, b;
        for (std::uint64_t i = 0; i < 20; ++i)
            a.push_back(linear(i, std::to_string(i), std::to_string(100 + i)));
        for (std::uint64_t i = 0; i < 21; ++i) {
            const std::uint64_t source = i < 5 ? i : i - 1;
            b.push_back(i == 5 ? linear(i, "new", "new")
                               : linear(i, std::to_string(source), std::to_string(100 + source)));
        }
        const TraceComparison result = compared(a, b);
        QCOMPARE(result.coverage.onlyB, std::uint64_t(1));
        QCOMPARE(result.coverage.onlyA, std::uint64_t(0));
        QCOMPARE(result.ranks[0].different, std::uint64_t(0));
        QVERIFY(firstOf(result).kind == DivergenceKind::ControlFlow);
        QCOMPARE(firstOf(result).record.call, std::uint64_t(5));
        QVERIFY(result.facts.oneSidedComplete);
    }

    void aLongInsertionIsBridged() // M6
    {
        std::vector<TraceRecord> a, b;
        for (std::uint64_t i = 0; i < 2000; ++i)
            a.push_back(call("op" + std::to_string(i), 0, {seen("1")}, {seen("2")}));
        b = a;
        std::vector<TraceRecord> extra;
        for (std::uint64_t i = 0; i < 700; ++i)
            extra.push_back(call("extra" + std::to_string(i), 0, {seen("1")}, {seen("2")}));
        b.insert(b.begin() + 1000, extra.begin(), extra.end());
        const TraceComparison result = compared(a, b);
        QCOMPARE(result.coverage.records, std::uint64_t(2000));
        QCOMPARE(result.coverage.onlyB, std::uint64_t(700));
        QCOMPARE(result.ranks[0].different, std::uint64_t(0));
    }

    void aRecordWithoutPartnerIsControlFlow() // M4
    {
        // Bridge skips a record without partner; the sketch never reports what is in B alone.
        const TraceComparison result = compared(
            {linear(0, "1", "2")}, {linear(0, "1", "2"), call("aten.add", 0, {}, {seen("1")})});
        QVERIFY(firstOf(result).kind == DivergenceKind::ControlFlow);
        QVERIFY(decide(result.facts).outcome == Outcome::Different);
    }

    void whatAnUnfinishedStepLacksIsNoDifference() // M20
    {
        TraceRecord begin = call("begin", 0, {}, {}), end = call("end", 0, {}, {});
        begin.role = RecordRole::IterationBegin;
        end.role = RecordRole::IterationEnd;
        const auto whole = [&](const char *last) {
            return std::vector{begin, linear(0, "1", "2"), linear(1, "3", last), end};
        };
        // B was cut behind its first call; then, in a step of its own, it truly differs.
        FakeTrace a, b;
        a.rankOf(0, {{1, whole("4")}, {2, whole("5")}});
        b.rankOf(0, {{1, {begin, linear(0, "1", "2")}}, {2, whole("6")}});
        const TraceComparison result = compared(a, b);
        QVERIFY(firstOf(result).kind == DivergenceKind::Value);
        QCOMPARE(firstOf(result).record.iteration, std::optional<std::int64_t>(2));
        QCOMPARE(firstOf(result).doubt, std::string("records before it may be lost"));
        FakeTrace c, d;
        c.rankOf(0, {{1, whole("4")}});
        d.rankOf(0, {{1, {begin, linear(0, "1", "2")}}});
        const TraceComparison cut = compared(c, d);
        QVERIFY(firstOf(cut).kind == DivergenceKind::Missing);
        QVERIFY(decide(cut.facts).outcome == Outcome::Undecided);
        // It lost its head: an end without a begin.
        FakeTrace e;
        e.rankOf(0, {{1, {linear(1, "3", "4"), end}}});
        const TraceComparison headless = compared(c, e);
        QVERIFY(decide(headless.facts).outcome == Outcome::Undecided);
        // What was lost before a difference of the same step vouches for nothing.
        FakeTrace f;
        TraceRecord other = linear(1, "3", "9");
        f.rankOf(0, {{1, {begin, other}}});
        const TraceComparison both = compared(c, f);
        QVERIFY(firstOf(both).kind == DivergenceKind::Value);
        QVERIFY(!firstDivergenceIn(both)->provenEqualBefore);
    }

    /// However many: there is no number from which a loss becomes a difference.
    void manyLostRecordsAreLost()
    {
        TraceRecord begin = call("begin", 0, {}, {}), end = call("end", 0, {}, {});
        begin.role = RecordRole::IterationBegin;
        end.role = RecordRole::IterationEnd;
        std::vector<TraceRecord> all = {begin};
        for (int i = 0; i < 70'000; ++i)
            all.push_back(call("op" + std::to_string(i), 0, {}, {seen("1")}));
        FakeTrace a, b;
        b.rankOf(0, {{1, {all.begin(), all.begin() + 1000}}});
        all.push_back(end);
        a.rankOf(0, {{1, std::move(all)}});
        const TraceComparison result = compared(a, b);
        QCOMPARE(result.coverage.onlyA, std::uint64_t(70'002 - 1000));
        QVERIFY(!result.facts.oneSidedComplete);
        QVERIFY(decide(result.facts).outcome == Outcome::Undecided);
    }

    /// Nothing meets in a window of alignment: what then meets by name alone has moved.
    void aWholeStepInReverseHasMoved() // M5
    {
        std::vector<TraceRecord> forward;
        for (int i = 0; i < 600; ++i)
            forward.push_back(call("op" + std::to_string(i), 0, {seen("1")}, {seen("2")}));
        std::vector<TraceRecord> backward(forward.rbegin(), forward.rend());
        const TraceComparison result = compared(std::move(forward), std::move(backward));
        QVERIFY(result.facts.orderDiffers);
        QVERIFY(decide(result.facts).outcome == Outcome::Different);
    }

    /// A dictionary of weights has no order of execution; what was computed on the way has.
    void itemsOfAStateDoNotMove()
    {
        const auto item = [](const char *name, const char *stage) {
            TraceRecord record = call(name, 0, {}, {seen("1", DigestKind::Sha256)});
            record.role = RecordRole::Tensor;
            record.stage = stage;
            return record;
        };
        for (const char *stage : {"weight", "optimizer", "forward"}) {
            const TraceRecord a = item("a", stage), b = item("b", stage), c = item("c", stage);
            const TraceComparison result = compared({a, b, c}, {c, a, b});
            QCOMPARE(result.facts.orderDiffers, std::string_view(stage) == "forward");
            QCOMPARE(result.coverage.moved + result.coverage.unordered, std::uint64_t(1));
        }
    }

    void whatTellsNoOrderProvesNothingBefore()
    {
        const auto strong = [](const char *name, const char *digest) {
            TraceRecord record = call(name, 0, {}, {seen(digest, DigestKind::Sha256)});
            record.isPlaced = false;
            return record;
        };
        const TraceRecord first = strong("grad_out", "1"), a = strong("loss", "2"),
                          b = strong("loss", "3");
        const TraceComparison result = compared({first, a}, {first, b});
        QCOMPARE(firstOf(result).doubt, std::string("a side does not tell the order of execution"));
    }

    void anotherShapeAtItsPlaceDidNotMove() // M5
    {
        TraceRecord other = linear(1, "3", "4");
        other.outputs = {absent(Absence::Null)};
        const TraceComparison result =
            compared({linear(0, "1", "2"), linear(1, "3", "4"), linear(2, "5", "6")},
                     {linear(0, "1", "2"), other, linear(2, "5", "6")});
        QCOMPARE(result.coverage.moved, std::uint64_t(0));
        QVERIFY(!result.facts.orderDiffers);
        QVERIFY(decide(result.facts).outcome == Outcome::Undecided);
    }

    void aRecordMissingFromATornTraceIsNoDifference()
    {
        // #6610 has no end marker: two equally cut traces "match", one cut trace "diverges".
        FakeTrace a, b;
        a.rank(0, {linear(0, "1", "2"), linear(1, "3", "4")});
        b.rank(0, {linear(0, "1", "2")});
        b.isComplete = false;
        const TraceComparison result = compared(a, b);
        QVERIFY(firstOf(result).kind == DivergenceKind::Missing);
        QVERIFY(decide(result.facts).outcome == Outcome::Undecided);
        // Neither is the stage or the step called different.
        QCOMPARE(result.stages.size(), std::size_t(1));
        QCOMPARE(result.stages[0].oneSided, std::uint64_t(0));
        QVERIFY(stepMarks(result).empty() || stepMarks(result)[0].status == StepStatus::Undecided);
    }

    void aLostRecordDoesNotStandForALaterDifference()
    {
        FakeTrace a, b;
        const auto one = call("one", 0, {seen("1")}, {seen("2")});
        const auto lost = call("lost", 0, {seen("3")}, {seen("4")});
        const auto last = call("last", 0, {seen("5")}, {seen("6")});
        const auto other = call("last", 0, {seen("5")}, {seen("7")});
        a.rank(0, {one, lost, last});
        b.rank(0, {one, other});
        b.isComplete = false;
        const TraceComparison result = compared(a, b);
        QVERIFY(decide(result.facts).outcome == Outcome::Different);
        QVERIFY(firstOf(result).kind == DivergenceKind::Value);
        QCOMPARE(firstOf(result).record.name, std::string("last"));
    }

    void whatIsNotProvenSaysWhy()
    {
        const auto strong = [](std::string name, std::string digest) {
            return call(std::move(name), 0, {}, {seen(std::move(digest), DigestKind::Sha256)});
        };
        FakeTrace a, b;
        a.rank(0, {strong("one", "1"), strong("two", "2")});
        b.rank(0, {strong("one", "1"), strong("two", "3")});
        QVERIFY(firstDivergenceIn(compared(a, b))->provenEqualBefore);
        b.isComplete = false;
        const auto torn = firstDivergenceIn(compared(a, b));
        QVERIFY(!torn->provenEqualBefore);
        QVERIFY(text(torn->sentence).contains("as far as is known: records of B are lost"));
        QVERIFY(!text(torn->sentence).contains("weak"));
        a.isComplete = false;
        QVERIFY(
            text(firstDivergenceIn(compared(a, b))->sentence).contains("of both sides are lost"));
        const auto silent =
            compared({call("one", 0, {}, {absent(Absence::Null)}), strong("two", "2")},
                     {call("one", 0, {}, {absent(Absence::Null)}), strong("two", "3")});
        QCOMPARE(firstOf(silent).doubt, std::string("1 value is not recorded"));
    }

    void aRecordOfOneSideCountsAsCompared()
    {
        const auto result = compared({linear(0, "1", "2")},
                                     {linear(0, "1", "2"), call("more", 0, {}, {seen("1")})});
        CausalChain chain;
        chain.add(result);
        const auto links = chain.links();
        QCOMPARE(links.size(), std::size_t(1));
        QCOMPARE(links[0].compared, std::uint64_t(3)); // input and output of one, and the other
        QCOMPARE(links[0].different, std::uint64_t(1));
        QVERIFY(text(firstDivergenceIn(result)->sentence)
                    .contains("more (op) is the first that only B has; before it 1 record"));
        QVERIFY(links[0].strength == Strength::Metadata);
        QVERIFY(
            text(coverageSentence(result.coverage)).endsWith("; 0 records only in A, 1 only in B"));
        QVERIFY(text(coverageSentence(
                         compared({linear(0, "1", "2"), linear(1, "1", "2")}, {linear(0, "1", "2")})
                             .coverage))
                    .endsWith("; 1 record only in A, 0 only in B"));
    }

    void equalRecordsInAnotherOrder() // M5
    {
        const auto one = call("one", 0, {seen("1")}, {seen("2")});
        const auto two = call("two", 0, {seen("3")}, {seen("4")});
        const TraceComparison result = compared({one, two}, {two, one});
        QVERIFY(firstOf(result).kind == DivergenceKind::Order);
        QCOMPARE(result.ranks[0].different, std::uint64_t(0));
        QVERIFY(!firstOf(result).after); // what follows it vouches for nothing
        QVERIFY(result.facts.orderDiffers);
        QVERIFY(decide(result.facts).outcome == Outcome::Different);
    }

    void duplicatesAreToldAndNeverOverwrite() // M2
    {
        // Bridge: the later record overwrites the earlier one.
        const TraceComparison result =
            compared({linear(0, "1", "2"), linear(0, "1", "9")}, {linear(0, "1", "2")});
        QCOMPARE(result.coverage.duplicates, std::uint64_t(1));
        QCOMPARE(result.diagnostics.size(), std::size_t(1));
        QVERIFY(!result.firstRank);
        QVERIFY(decide(result.facts).outcome == Outcome::Undecided);
    }

    void anotherSchemaIsRefused() // M7
    {
        FakeTrace a, b;
        a.facts = {{TraceFact::Role::Schema, "schema_version", "1"}};
        b.facts = {{TraceFact::Role::Schema, "schema_version", "2"}};
        a.rank(0, {linear(0, "1", "2")});
        b.rank(0, {linear(0, "1", "2")});
        const TraceComparison result = compared(a, b);
        QVERIFY(!result.refusal.empty());
        QVERIFY(decide(result.facts).outcome == Outcome::NotCompared);
    }

    void otherSettingsAreARecipeDifference()
    {
        // Core's comparator counts the text of the runtime record as a difference of values.
        FakeTrace a, b;
        a.facts = {{TraceFact::Role::Runtime, "torch_version", "2.8"}};
        b.facts = {{TraceFact::Role::Runtime, "torch_version", "2.9"}};
        a.rank(0, {linear(0, "1", "2")});
        b.rank(0, {linear(0, "1", "2")});
        const TraceComparison result = compared(a, b);
        QVERIFY(!result.firstRank);
        QVERIFY(std::any_of(result.findings.begin(), result.findings.end(),
                            [](const Finding &finding) { return finding.id == "recipe-differs"; }));
    }

    void aMissingRankMakesItPartial() // M1, M19
    {
        // Bridge ignores ranks of one side; the sketch pairs the wrong ones.
        FakeTrace a, b;
        a.rank(0, {linear(0, "1", "2")}).rank(1, {linear(0, "5", "6")});
        b.rank(1, {linear(0, "5", "6")});
        const TraceComparison result = compared(a, b);
        QCOMPARE(result.coverage.ranksCompared, std::uint64_t(1));
        QCOMPARE(result.coverage.ranksOnlyA, std::uint64_t(1));
        QVERIFY(!result.firstRank);
        QVERIFY(result.facts.incomplete);
        QVERIFY(text(coverageSentence(result.coverage)).contains("1 only in A"));
    }

    void iterationsInARowAreSaidAsOne()
    {
        TraceCoverage coverage;
        const auto said = [&](std::vector<std::int64_t> iterations) {
            coverage.iterationsCompared = std::move(iterations);
            return text(coverageSentence(coverage));
        };
        QVERIFY(said({1, 2, 3, 4, 5, 6, 7, 8}).contains("iterations 1 to 8, "));
        QVERIFY(said({4}).contains("iteration 4, "));
        QVERIFY(said({1, 2, 5, 7, 8, 9}).contains("iterations 1, 2, 5, 7 to 9, "));
        QVERIFY(said({1, 3, 5, 7, 9, 11, 13, 15, 17, 19})
                    .contains("iterations 1, 3, 5, 7, 9, 11, 13, 15 ... 19, "));
    }

    void aPeersInputMakesAReceiver() // M11
    {
        // Bridge of rank 0: "INPUTS MATCHED -> reduction-order/topology root cause".
        FakeTrace a, b;
        for (FakeTrace *trace : {&a, &b})
            trace->facts = {{TraceFact::Role::Parallel, "world_size", "2"}};
        a.rank(0, {collective("dp", {seen("1")}, {seen("s")})});
        a.rank(1, {collective("dp", {seen("2")}, {seen("s")})});
        b.rank(0, {collective("dp", {seen("1")}, {seen("t")})});
        b.rank(1, {collective("dp", {seen("3")}, {seen("t")})});
        const TraceComparison result = compared(a, b);
        for (const std::size_t rank : {0u, 1u})
            QCOMPARE(text(toString(firstOf(result, rank).classification.divergenceClass)),
                     QString("receiver"));
        QVERIFY(text(firstOf(result, 0).classification.why).contains("innocent"));
        QCOMPARE(result.firstRank, std::optional<std::size_t>(1)); // it explains rank 0
        QVERIFY(std::any_of(result.findings.begin(), result.findings.end(),
                            [](const Finding &finding) { return finding.id == "only-receivers"; }));
    }

    void equalInputsOfAllMembersBlameTheCollective() // M10
    {
        FakeTrace a, b;
        for (FakeTrace *trace : {&a, &b})
            trace->facts = {{TraceFact::Role::Parallel, "world_size", "2"}};
        for (const std::int64_t rank : {0, 1}) {
            a.rank(rank, {collective("dp", {seen("1")}, {seen("s")})});
            b.rank(rank, {collective("dp", {seen("1")}, {seen("t")})});
        }
        const TraceComparison result = compared(a, b);
        QCOMPARE(text(toString(firstOf(result).classification.divergenceClass)), QString("origin"));
        QVERIFY(std::any_of(result.findings.begin(), result.findings.end(),
                            [](const Finding &f) { return f.id == "origin-everywhere"; }));
    }

    void anUntracedMemberLeavesACollectiveOpen() // M19
    {
        FakeTrace a, b;
        for (FakeTrace *trace : {&a, &b})
            trace->facts = {{TraceFact::Role::Parallel, "world_size", "4"}};
        a.rank(0, {collective("dp", {seen("1")}, {seen("s")})});
        b.rank(0, {collective("dp", {seen("1")}, {seen("t")})});
        const TraceComparison result = compared(a, b);
        QCOMPARE(text(toString(firstOf(result).classification.divergenceClass)),
                 QString("unclassified"));
    }

    void alignmentPrefersEqualContents() // M6
    {
        const std::vector<AlignItem> a = {{1, 10}, {1, 11}, {2, 20}};
        const std::vector<AlignItem> b = {{1, 99}, {1, 10}, {1, 11}, {2, 20}};
        const std::vector<AlignStep> steps = alignWindows(a, b);
        const std::vector<AlignStep> wanted = {{std::nullopt, 0}, {0, 1}, {1, 2}, {2, 3}};
        QVERIFY(steps == wanted);
    }

    void theChainShowsHoles()
    {
        // A trace with forward and gradient alone: between them lies what nobody recorded.
        const auto at = [](std::string stage, std::string digest) {
            TraceRecord record =
                call(stage + ".w", 0, {}, {seen(std::move(digest), DigestKind::Sha256)});
            record.role = RecordRole::Tensor;
            record.stage = std::move(stage);
            return record;
        };
        const TraceComparison result =
            compared({at("forward", "1"), at("grad", "2")}, {at("forward", "1"), at("grad", "3")});
        CausalChain chain;
        chain.add(result);
        const auto links = chain.links();
        const auto divergence = firstDivergenceIn(result);
        QVERIFY(divergence.has_value());
        QVERIFY(divergence->provenEqualBefore);
        QVERIFY(holesBefore(links, *divergence) == (std::vector<std::string>{"loss", "backward"}));
        QCOMPARE(links[1].stage, std::string("forward"));
        QVERIFY(links[1].status == LinkStatus::Equal);
    }
};

QTEST_APPLESS_MAIN(TraceTest)
#include "tst_trace.moc"
