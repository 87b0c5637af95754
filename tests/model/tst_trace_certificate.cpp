// SPDX-License-Identifier: GPL-3.0-or-later
// Rule M20: a trace is certified before it is compared. The public comparators report a match of two
// traces that were cut at the same place, and of recomputations that nobody looked at.
#include "model/traces/trace_certificate.h"

#include "tests/support/compared_traces.h"

#include <QtTest>

using namespace forkpoint;
using namespace forkpoint::test;

namespace {

TraceRecord proven()
{
    return call("aten.mm.default", 0, {seen("1", DigestKind::Sha256)},
                {seen("2", DigestKind::Sha256)});
}

} // namespace

class TraceCertificateTest : public QObject
{
    Q_OBJECT

private slots:
    void aTraceIsCertifiedBeforeTheDifference() // M20
    {
        const auto mark = [](RecordRole role, std::uint64_t sequence) {
            TraceRecord record;
            record.role = role;
            record.sequence = sequence;
            record.group = "bucket0";
            return record;
        };
        using enum RecordRole;
        TraceCertificate whole(SequenceRule::GapFree);
        std::uint64_t sequence = 0;
        for (const RecordRole role :
             {Runtime, IterationBegin, CollectiveBegin, CollectiveEnd, IterationEnd})
            whole.see(mark(role, sequence++));
        QVERIFY(whole.problems().empty());
        TraceCertificate pending(SequenceRule::GapFree); // a collective without its end
        for (const std::uint64_t number : {0u, 1u, 3u})
            pending.see(mark(number == 0       ? IterationBegin
                                 : number == 1 ? CollectiveBegin
                                               : IterationEnd,
                             number));
        QCOMPARE(pending.problems().size(), std::size_t(2)); // and a gap
        TraceCertificate cut(SequenceRule::Rising);
        cut.see(mark(IterationBegin, 7));
        cut.see(mark(Tensor, 9));                        // gaps are allowed
        QCOMPARE(cut.problems().size(), std::size_t(1)); // no end
    }

    void anEndBeforeItsBeginIsNoPair() // M20
    {
        TraceCertificate certificate(SequenceRule::None);
        TraceRecord mark;
        mark.group = "bucket0";
        mark.role = RecordRole::CollectiveEnd;
        certificate.see(mark);
        mark.role = RecordRole::CollectiveBegin;
        certificate.see(mark);
        QCOMPARE(certificate.problems().size(), std::size_t(1));
        QVERIFY(certificate.problems()[0].starts_with("2 collectives"));
    }

    void outputsOfACollectiveNeedDigests() // M20
    {
        TraceCertificate certificate(SequenceRule::None);
        TraceRecord mark;
        mark.group = "bucket0";
        mark.role = RecordRole::CollectiveBegin;
        certificate.see(mark);
        mark.role = RecordRole::CollectiveEnd;
        mark.outputs = {seen("1"), absent(Absence::Null)};
        certificate.see(mark);
        QCOMPARE(certificate.problems(),
                 std::vector<std::string>{"outputs of 1 collective have no digest"});
    }

    void aRecomputationIsHeldToItsForward() // M15, M20
    {
        // The writer's `matches_forward` looks at a digest that schema 2 leaves null: it is true whatever happened.
        const auto checkpoint = [](std::string_view what, std::string id,
                                   std::vector<Observation> outputs) {
            TraceRecord record;
            record.role = RecordRole::Op;
            record.name = "checkpoint." + std::string(what);
            record.key = "recompute\x1f" + record.name + '\x1f' + std::move(id);
            record.outputs = std::move(outputs);
            return record;
        };
        TraceCertificate equal(SequenceRule::None);
        equal.see(checkpoint("forward", "0", {seen("1")}));
        equal.see(checkpoint("forward", "1", {seen("2")}));
        equal.see(checkpoint("forward", "0", {seen("3")})); // the next micro-batch
        equal.see(checkpoint("recompute", "1", {seen("2")}));
        equal.see(checkpoint("recompute", "0", {seen("1")}));
        equal.see(checkpoint("recompute", "0", {seen("3")}));
        QVERIFY(equal.problems().empty());
        TraceCertificate different(SequenceRule::None);
        different.see(checkpoint("forward", "0", {seen("1")}));
        different.see(checkpoint("recompute", "0", {seen("2")}));
        QCOMPARE(different.problems(),
                 std::vector<std::string>{"1 recomputation differs from the forward pass"});
        TraceCertificate unknown(SequenceRule::None);
        unknown.see(checkpoint("forward", "0", {absent(Absence::Null)}));
        unknown.see(checkpoint("recompute", "0", {absent(Absence::Null)}));
        unknown.see(checkpoint("recompute", "7", {seen("1")}));
        QCOMPARE(unknown.problems(),
                 std::vector<std::string>{
                     "2 recomputations cannot be held to a forward pass: no digests"});
    }

    void aForwardThatIsNotRememberedShiftsNone_data()
    {
        QTest::addColumn<int>("forwards");
        QTest::addColumn<int>("length");
        QTest::newRow("many") << 65'536 << 1;
        QTest::newRow("long") << 15 << (1 << 20);
    }
    void aForwardThatIsNotRememberedShiftsNone() // M15, M20
    {
        QFETCH(int, forwards);
        QFETCH(int, length);
        const auto checkpoint = [&](const std::string &what, char output) {
            TraceRecord record;
            record.role = RecordRole::Op;
            record.name = "checkpoint." + what;
            record.key = "recompute\x1f" + record.name + "\x1f" + '0';
            record.outputs = {seen(std::string(std::size_t(length), output))};
            return record;
        };
        TraceCertificate certificate(SequenceRule::None);
        for (int i = 0; i < forwards; ++i)
            certificate.see(checkpoint("forward", '1'));
        certificate.see(checkpoint("forward", '2')); // more than is remembered
        for (int i = 0; i < forwards - 1; ++i)
            certificate.see(checkpoint("recompute", '1'));
        certificate.see(checkpoint("forward", '3'));
        certificate.see(checkpoint("recompute", '1'));
        certificate.see(checkpoint("recompute", '2')); // of '2', not of '3'
        const auto problems = certificate.problems();
        QCOMPARE(problems.size(), std::size_t(1));
        QVERIFY2(problems[0].ends_with(
                     "cannot be held to a forward pass: too many or too long ones wait"),
                 problems[0].c_str());
        QVERIFY2(problems[0].find("differ") == std::string::npos, problems[0].c_str());
    }

    void everyRankNeedsEveryIteration() // M20
    {
        FakeTrace a, b;
        for (FakeTrace *const trace : {&a, &b}) {
            trace->rankOf(0, {{1, {proven()}}, {2, {proven()}}});
            trace->rankOf(1, {{1, {proven()}}});
        }
        const std::vector<std::string> lacks = {
            "rank 1 lacks 1 iteration that other ranks have, the first is 2"};
        QCOMPARE(gridProblems(a, {1, 2}), lacks);
        QVERIFY(gridProblems(a, {1}).empty());
        // Two traces that lost the same end are equal as far as they go, and prove nothing of the rest.
        const TraceComparison result = compared(a, b);
        QVERIFY(result.facts.incomplete);
        QVERIFY(decide(result.facts).outcome == Outcome::Undecided);
    }

    void ranksStateOneGrid() // M20
    {
        FakeTrace trace;
        trace.facts = {{TraceFact::Role::Parallel, "world_size", "2"}};
        trace.rank(0, {proven()});
        QVERIFY(gridProblems(trace, {1}).empty());
        trace.facts.front().value = "4";
        trace.rank(1, {proven()});
        QCOMPARE(gridProblems(trace, {1}), (std::vector<std::string>{"states world_size as 2, 4"}));
    }

    void settingsThatLetValuesVaryAreTold() // M20
    {
        FakeTrace a, b;
        b.facts = {{TraceFact::Role::Runtime, "deterministic_algorithms", "false"}};
        a.rank(0, {proven()});
        b.rank(0, {proven()});
        QVERIFY(settingDoubts(a).empty());
        QCOMPARE(settingDoubts(b).size(), std::size_t(1));
        const auto findings = compared(a, b).findings;
        QVERIFY(std::any_of(findings.begin(), findings.end(),
                            [](const Finding &finding) { return finding.id == "may-vary"; }));
        TraceRecord begin;
        begin.role = RecordRole::CollectiveBegin;
        begin.fields = {{"fp32_accumulation", "true"},
                        {"group_size", "4"},
                        {"hierarchical_fp32_accumulation", "false"}};
        TraceCertificate certificate(SequenceRule::None);
        certificate.see(begin);
        QCOMPARE(certificate.doubts().size(), std::size_t(1));
        begin.fields[1].second = "2"; // two have one order
        TraceCertificate pair(SequenceRule::None);
        pair.see(begin);
        QVERIFY(pair.doubts().empty());
    }
};

QTEST_APPLESS_MAIN(TraceCertificateTest)
#include "tst_trace_certificate.moc"
