// SPDX-License-Identifier: GPL-3.0-or-later
// Traces on which the comparators that tools bring along answer wrongly: what they answer is in the
// comment of each test.
#include "model/traces/trace_comparer.h"
#include "tests/support/trace_files.h"

#include <QtTest>

#include <array>

using namespace forkpoint;
using namespace forkpoint::test;

namespace {

TraceComparison compared(const Folder &a, const Folder &b)
{
    TraceComparer comparer(a.trace(), b.trace(), {});
    while (comparer.advance({}))
        ;
    return comparer.result();
}

Outcome outcomeOf(const TraceComparison &comparison)
{
    return decide(comparison.facts).outcome;
}

/// One tensor in the form of Megatron-LM's pull request 6610. `members`: of `tensor`, the mode among
/// them.
std::string tensorLine(int sequence, const std::string &members)
{
    return R"({"event":"tensor","iteration":1,"metadata":{},"microbatch":0,"name":"t)"
        + std::to_string(sequence)
        + R"(","occurrence":0,"phase":"forward","rank":0,"schema_version":1,"sequence":)"
        + std::to_string(sequence)
        + R"(,"tensor":{"dtype":"float32","numel":2,"shape":[2],"layout":"strided",)" + members
        + "}}\n";
}

std::string full(char digit, const std::string &more = R"("stride":[1],"device_type":"cpu")")
{
    return R"("mode":"full","sha256":")" + std::string(64, digit) + "\"," + more;
}

std::string mark(const std::string &name, int sequence)
{
    return R"({"event":"event","fields":{},"iteration":1,"microbatch":null,"name":")" + name
        + R"(","occurrence":0,"phase":"train","rank":0,"schema_version":1,"sequence":)"
        + std::to_string(sequence) + "}\n";
}

constexpr const char *RankFile = "rank_000000.jsonl";

/// One operation of a rank in the form of the skill's sketch.
std::string sketchLine(int rank, int number, const std::string &digest, int iteration = 1)
{
    const std::string at = std::to_string(number);
    return R"({"schema_version":1,"seq":)" + at + R"(,"rank":)" + std::to_string(rank)
        + R"(,"iteration":)" + std::to_string(iteration)
        + R"(,"kind":"op","name":"aten.mm","payload":{"id":"aten.mm:)" + at
        + R"(","in":[{"shape":[2],"dtype":"torch.float32","numel":2,"digest":"3ff0000000000000"}],)"
        + R"("out":[{"shape":[2],"dtype":"torch.float32","numel":2,"digest":")" + digest
        + "\"}]}}\n";
}

/// Records of a Core typed trace, numbered from 0, between a begin and an end.
std::string typedFile(int schema, std::vector<std::array<std::string, 3>> records,
                      const std::string &pending = "0")
{
    records.insert(records.begin(),
                   {{"runtime", "runtime", "{}"}, {"phase", "iteration.begin", "{}"}});
    records.push_back({"phase", "iteration.end", R"({"pending_collectives": )" + pending + "}"});
    std::string text;
    for (std::size_t i = 0; i < records.size(); ++i)
        text += R"({"iteration": 1, "kind": ")" + records[i][0] + R"(", "name": ")" + records[i][1]
            + R"(", "payload": )" + records[i][2] + R"(, "rank": 0, "schema_version": )"
            + std::to_string(schema) + R"(, "sequence": )" + std::to_string(i) + "}\n";
    return text;
}

/// A list of one tensor of a typed trace.
std::string typedTensor(char digit)
{
    return R"([{"dtype": "torch.float32", "shape": [2], "numel": 2, "path": "<root>", "sha256": null, "digest": ")"
        + std::string(32, digit) + "\"}]";
}

constexpr const char *TypedFile = "iter_0000001/rank_00000.jsonl";

} // namespace

class TracePeersTest : public QObject
{
    Q_OBJECT

private slots:
    /// PR 6610: "match", since neither side has an end to miss.
    void tracesCutAtOnePlaceProveNothing()
    {
        Folder a, b;
        for (const Folder *folder : {&a, &b})
            folder->write(RankFile, mark("iteration_start", 0) + tensorLine(1, full('a')));
        QVERIFY(outcomeOf(compared(a, b)) == Outcome::Undecided);
        for (const Folder *folder : {&a, &b})
            folder->write(RankFile,
                          mark("iteration_start", 0) + tensorLine(1, full('a'))
                              + mark("iteration_result", 2));
        QVERIFY(outcomeOf(compared(a, b)) == Outcome::Identical);
    }

    /// PR 6610: "diverged" for another stride or device of the same values.
    void strideAndDeviceAreNoDifference()
    {
        Folder a, b;
        a.write(RankFile, tensorLine(0, full('a')));
        b.write(
            RankFile,
            tensorLine(0, full('a', R"("stride":[2],"device_type":"cuda","requires_grad":true)")));
        const TraceComparison result = compared(a, b);
        QVERIFY(outcomeOf(result) == Outcome::Identical);
        QCOMPARE(result.coverage.metadataOnlyDifferences, std::uint64_t(1));
    }

    /// PR 6610: a full certificate, by what the left side recorded.
    void theWeakerSideCounts()
    {
        Folder a, b;
        a.write(RankFile, tensorLine(0, full('a')));
        b.write(RankFile, tensorLine(0, R"("mode":"metadata")"));
        for (const auto &[left, right] : {std::pair(&a, &b), std::pair(&b, &a)})
            QVERIFY(outcomeOf(compared(*left, *right)) == Outcome::Undecided);
    }

    /// PR 6610: true and false pass as whole numbers.
    void aTruthIsNoNumber()
    {
        Folder folder;
        std::string wrong = tensorLine(1, full('a'));
        wrong.replace(wrong.find("\"occurrence\":0"), 14, "\"occurrence\":true");
        folder.write(RankFile, tensorLine(0, full('a')) + wrong);
        const auto trace = folder.trace();
        QVERIFY(trace && !trace->complete());
        QCOMPARE(recordsOf(*trace).size(), std::size_t(1));
    }

    void aNumberThatIsMissingIsALostRecord()
    {
        Folder a, b;
        const std::string first =
            sketchLine(0, 7, "4000000000000001"); // of a later file of the rank
        const std::string last = sketchLine(0, 9, "4000000000000003");
        a.write("rank00000_iter000001.jsonl", first + sketchLine(0, 8, "4000000000000002") + last);
        b.write("rank00000_iter000001.jsonl", first + last);
        const auto left = a.trace(), right = b.trace();
        QVERIFY(left->complete());
        QVERIFY(!right->complete());
        const auto gap = std::find_if(right->diagnostics().begin(), right->diagnostics().end(),
                                      [](const Diagnostic &d) { return d.code == "sequence-gap"; });
        QVERIFY(gap != right->diagnostics().end());
        QCOMPARE(gap->text, std::string("has seq 9: 1 record before it from seq 8 on is missing"));
        TraceComparer comparer(left, right, {});
        while (comparer.advance({}))
            ;
        QVERIFY(decide(comparer.result().facts).outcome == Outcome::Undecided);
    }

    void aStepThatStandsTwiceIsTold()
    {
        Folder folder;
        folder.write("rank00000_iter000001.jsonl",
                     sketchLine(0, 0, "4000000000000001", 2)
                         + sketchLine(0, 1, "4000000000000001", 3)
                         + sketchLine(0, 2, "4000000000000001", 2));
        const auto trace = folder.trace();
        const auto order = std::find_if(trace->diagnostics().begin(), trace->diagnostics().end(),
                                        [](const Diagnostic &d) { return d.code == "step-order"; });
        QVERIFY(order != trace->diagnostics().end());
        QVERIFY(order->text.find("stands there again, as where a restarted run wrote on")
                != std::string::npos);
    }

    /// The skill's sketch pairs files in their order: rank 2 of A with rank 1 of B's list, and says
    /// nothing of records that only B has.
    void aMissingRankShiftsNoOther()
    {
        Folder a, b;
        for (const int rank : {0, 1, 2}) {
            const std::string name = "rank0000" + std::to_string(rank) + "_iter000001.jsonl";
            const std::string digest = "400000000000000" + std::to_string(rank);
            a.write(name, sketchLine(rank, 0, digest));
            if (rank != 1)
                b.write(name, sketchLine(rank, 0, digest));
        }
        const TraceComparison result = compared(a, b);
        QCOMPARE(result.coverage.records, std::uint64_t(2));
        QCOMPARE(result.coverage.ranksOnlyA, std::uint64_t(1));
        QVERIFY(!result.firstRank);
        QVERIFY(outcomeOf(result) == Outcome::Undecided);
        const auto lone =
            std::find_if(result.diagnostics.begin(), result.diagnostics.end(),
                         [](const Diagnostic &each) { return each.code == "rank-on-one-side"; });
        QVERIFY(lone != result.diagnostics.end());
        QCOMPARE(lone->place, std::string("rank 1"));
        b.write("rank00002_iter000001.jsonl",
                sketchLine(2, 0, "4000000000000002") + sketchLine(2, 1, "4000000000000003"));
        const TraceComparison longer = compared(a, b);
        QCOMPARE(longer.coverage.onlyB, std::uint64_t(1));
        QVERIFY(longer.ranks[1].first->kind == DivergenceKind::Missing); // A's file may be cut
        for (const Folder *folder :
             {&a, &b}) // a file of a later iteration tells nothing of this one
            folder->write("rank00002_iter000002.jsonl", sketchLine(2, 0, "4000000000000002", 2));
        QVERIFY(compared(a, b).ranks[1].first->kind == DivergenceKind::Missing);
        QVERIFY(outcomeOf(compared(a, b)) == Outcome::Undecided);
        // Where one file has both iterations, the later one shows that none of the first was cut.
        const std::string later = sketchLine(2, 0, "4000000000000002", 2);
        Folder c, d;
        c.write("rank00002.jsonl", sketchLine(2, 0, "4000000000000002") + later);
        d.write("rank00002.jsonl",
                sketchLine(2, 0, "4000000000000002") + sketchLine(2, 1, "4000000000000003")
                    + later);
        QVERIFY(compared(c, d).ranks[0].first->kind == DivergenceKind::ControlFlow);
    }

    /// A line that stands in a file twice, with its number, is no call more.
    void aDoubledLineIsNoDifference()
    {
        const std::string text =
            typedFile(2,
                      {{"op", "aten.mm", R"({"outputs": )" + typedTensor('a') + "}"},
                       {"op", "aten.add", R"({"outputs": )" + typedTensor('b') + "}"}});
        const std::size_t line = text.find('\n', text.find("aten.mm")) + 1;
        const std::size_t begin = text.rfind('\n', line - 2) + 1;
        Folder a, b;
        a.write(TypedFile, text);
        b.write(TypedFile,
                text.substr(0, line) + text.substr(begin, line - begin) + text.substr(line));
        for (const TraceComparison &result : {compared(a, b), compared(b, a)}) {
            QVERIFY(outcomeOf(result) == Outcome::Undecided);
            QVERIFY(result.ranks[0].first->kind == DivergenceKind::Missing);
        }
    }

    /// The sketch tells neither that a record is a collective nor who took part: with equal inputs of
    /// its own rank it is no origin. Nor is an element-wise operation, under the sketch's own names.
    void collectivesOfASketchAreJudgedByTheirPeers()
    {
        const auto named = [](std::string line, const std::string &name) {
            for (std::size_t at = line.find("aten.mm"); at != std::string::npos;
                 at = line.find("aten.mm", at + name.size()))
                line.replace(at, 7, name);
            return line;
        };
        const auto classOf = [&](const std::string &name) {
            Folder a, b;
            const char *file = "rank00000_iter000001.jsonl";
            a.write(file, named(sketchLine(0, 0, "4000000000000000"), name));
            b.write(file, named(sketchLine(0, 0, "4000000000000001"), name));
            return compared(a, b).ranks[0].first->classification.divergenceClass;
        };
        QVERIFY(classOf("aten.mm") == DivergenceClass::Origin);
        QVERIFY(classOf("all_reduce") == DivergenceClass::Unclassified);
        QVERIFY(classOf("aten:aten.relu.default") == DivergenceClass::Unclassified);
        QVERIFY(classOf("aten:aten.mm.default") == DivergenceClass::Origin);
    }

    /// Megatron-Bridge compares the header of the first file alone.
    void theGridOfEveryFileCounts()
    {
        const auto header = [](int rank, int size) {
            const std::string number = std::to_string(rank);
            return R"({"_header": true, "coords": {"global_rank": )" + number
                + R"(, "pp": 0, "tp": 0, "cp": 0, "dp": )" + number
                + R"(}, "config": {"world_size": )" + std::to_string(size) + "}}\n";
        };
        Folder a, b;
        for (const int rank : {0, 1}) {
            const std::string name = "stream_pp0_tp0_cp0_dp" + std::to_string(rank) + ".fp";
            a.write(name, header(rank, 2) + record(0));
            b.write(name, header(rank, rank == 0 ? 2 : 4) + record(0));
        }
        QVERIFY(outcomeOf(compared(a, b)) == Outcome::NotCompared);
    }

    /// Core: the comparator at hand accepts schema 1, the tracer writes 2; a user sees all records differ.
    void unlikeSchemasAreRefused()
    {
        Folder a, b;
        const std::array<std::string, 3> phase = {"phase", "optimizer.end", "{}"};
        a.write(TypedFile, typedFile(1, {phase}));
        b.write(TypedFile, typedFile(2, {phase}));
        const TraceComparison result = compared(a, b);
        QVERIFY(outcomeOf(result) == Outcome::NotCompared);
        QVERIFY(result.refusal.find("schema_version") != std::string::npos);
    }

    /// Core: `matches_forward` is true although the two digests differ, since schema 2 has no sha256.
    void matchesForwardIsNotBelieved()
    {
        const auto file = [](char recomputed) {
            return typedFile(2,
                             {{"recompute", "checkpoint.forward",
                               R"({"checkpoint_id": 0, "outputs": )" + typedTensor('1') + "}"},
                              {"recompute", "checkpoint.recompute",
                               R"({"checkpoint_id": 0, "matches_forward": true, "outputs": )"
                                   + typedTensor(recomputed) + "}"}});
        };
        const auto problems = [&](char recomputed) {
            Folder a, b;
            a.write(TypedFile, file(recomputed));
            b.write(TypedFile, file(recomputed));
            const TraceComparison result = compared(a, b);
            return std::count_if(result.diagnostics.begin(), result.diagnostics.end(),
                                 [](const Diagnostic &d) { return d.code == "not-certified"; });
        };
        QCOMPARE(int(problems('1')), 0);
        QCOMPARE(int(problems('2')), 2); // of either side
    }

    /// Core: two traces with collectives that never ended compare as equal.
    void aPendingCollectiveLeavesItOpen()
    {
        Folder a, b;
        for (const Folder *folder : {&a, &b})
            folder->write(TypedFile,
                          typedFile(2, {{"collective", "moe.ep.begin", R"({"inputs": []})"}}, "1"));
        const TraceComparison result = compared(a, b);
        QVERIFY(result.facts.incomplete);
        QVERIFY(outcomeOf(result) == Outcome::Undecided);
    }
};

QTEST_APPLESS_MAIN(TracePeersTest)
#include "tst_trace_peers.moc"
