// SPDX-License-Identifier: GPL-3.0-or-later
// Rules M13 to M16: what must not be blamed, and what must not count as equal.
#include "model/traces/trace_rules.h"
#include "tests/support/compared_traces.h"

#include <QtTest>

using namespace forkpoint;
using namespace forkpoint::test;

namespace {

Outcome outcomeOf(const TraceComparison &comparison)
{
    return decide(comparison.facts).outcome;
}

Observation proven(std::string digest)
{
    return seen(std::move(digest), DigestKind::Sha256);
}

Observation counts(std::string digest)
{
    return seen(std::move(digest), DigestKind::XorLanes, "int64");
}

} // namespace

class TraceArtifactsTest : public QObject
{
    Q_OBJECT

private slots:
    void anotherShapeOfAViewIsNoOrigin() // M13
    {
        Observation wide = proven("2");
        wide.shape = std::vector<std::uint64_t>{1, 2};
        const TraceComparison result =
            compared({call("aten.view.default", 0, {proven("1")}, {proven("2")})},
                     {call("aten.view.default", 0, {proven("1")}, {wide})});
        QVERIFY(result.ranks[0].first->classification.divergenceClass
                == DivergenceClass::Unclassified);
        QVERIFY(!result.ranks[0].first->classification.probe.empty());
    }

    void oneHopLaterTheUsualProducerIsNamed_data() // M13
    {
        QTest::addColumn<QString>("operation");
        QTest::addColumn<QString>("scope");
        QTest::addColumn<QString>("producer");
        QTest::newRow("rope") << "aten.slice.Tensor"
                              << "decoder.layers.0.self_attention.rotary_pos_emb[bwd]"
                              << "fused attention: record its gradients";
        QTest::newRow("gemm") << "aten.view.default"
                              << "decoder.layers.0.mlp.linear_fc1"
                              << "general_gemm";
        QTest::newRow("attention") << "aten.view.default"
                                   << "decoder.layers.3.self_attention.core_attention"
                                   << "fused attention: record its inputs";
        QTest::newRow("Triton") << "aten.transpose.int"
                                << "decoder.layers.1.mixer"
                                << "Triton";
        QTest::newRow("dispatch") << "aten.index_select.default"
                                  << "decoder.layers.2.mlp.token_dispatcher"
                                  << "DeepEP";
        QTest::newRow("flash is not fla") << "aten.view.default"
                                          << "decoder.layers.3.flash_attn"
                                          << "fused attention: record its inputs";
        QTest::newRow("nonlinear") << "aten.view.default"
                                   << "decoder.nonlinearity"
                                   << "";
        QTest::newRow("unknown") << "aten.view.default"
                                 << "decoder.final_layernorm"
                                 << "";
    }

    void oneHopLaterTheUsualProducerIsNamed() // M13
    {
        QFETCH(const QString, operation);
        QFETCH(const QString, scope);
        QFETCH(const QString, producer);
        TraceRecord record = call(operation.toStdString(), 0, {seen("1")}, {seen("2")});
        record.scope = scope.toStdString();
        const QString named = QString::fromStdString(unseenProducer(record));
        QCOMPARE(named.isEmpty(), producer.isEmpty());
        QVERIFY2(named.contains(producer), qPrintable(named));
        EvidenceSum inputs, outputs;
        inputs.evidence = Evidence::Equal;
        inputs.compared = 1;
        outputs.evidence = Evidence::Different;
        const Classification found = classify(record, inputs, outputs);
        QVERIFY(found.divergenceClass == DivergenceClass::Unclassified); // never the site itself
        QCOMPARE(QString::fromStdString(found.probe).contains(named), true);
    }

    void aTensorIsNoArtifactForItsName() // M14
    {
        // Only calls of the allocator are; a boundary may be called "empty_slots".
        for (const char *name : {"empty_slots", "c10d_buffer"}) {
            TraceRecord one = call(name, 0, {}, {proven("1")}),
                        other = call(name, 0, {}, {proven("2")});
            one.role = other.role = RecordRole::Tensor;
            const TraceComparison result = compared({one}, {other});
            QCOMPARE(result.coverage.artifacts, std::uint64_t(0));
            QVERIFY(outcomeOf(result) == Outcome::Different);
        }
    }

    void anOutputTakenTooEarlyIsNotCompared() // M14
    {
        // A took it before the collective had written it. That is no difference, and no match.
        const TraceRecord early = collective("dp", {proven("1")}, {proven("1")});
        const TraceComparison result =
            compared({early}, {collective("dp", {proven("1")}, {proven("5")})});
        QCOMPARE(result.coverage.artifacts, std::uint64_t(1));
        QVERIFY(!result.firstRank);
        QVERIFY(outcomeOf(result) == Outcome::Undecided);
        // Its inputs were there, and count.
        const TraceComparison unlike =
            compared({early}, {collective("dp", {proven("2")}, {proven("5")})});
        QVERIFY(unlike.firstRank.has_value());
        QVERIFY(outcomeOf(unlike) == Outcome::Different);
    }

    void aCountThatIsStillZeroIsNotCompared() // M14
    {
        const auto copy = [](std::string in, std::string out) {
            return call("aten._to_copy.default", 0, {counts(std::move(in))},
                        {counts(std::move(out))});
        };
        const std::string zero(16, '0'), some = "0000000000000007";
        const TraceComparison result = compared({copy(some, zero)}, {copy(some, some)});
        QCOMPARE(result.coverage.artifacts, std::uint64_t(1));
        QVERIFY(!result.firstRank);
        // With other inputs the difference is real.
        QVERIFY(compared({copy("0000000000000005", zero)}, {copy(some, some)}).firstRank);
    }

    void aRecordOfNothingIsNotCompared() // M15
    {
        // Beside a proven record one that has no tensors at all.
        const TraceRecord proof = call("aten.mm.default", 0, {proven("1")}, {proven("2")});
        const TraceRecord nothing = call("aten.sort.default", 0, {}, {});
        const TraceComparison result = compared({proof, nothing}, {proof, nothing});
        QCOMPARE(result.coverage.vacuous, std::uint64_t(1));
        QCOMPARE(result.facts.coverage.recordsCompared, std::uint64_t(1));
        QCOMPARE(result.facts.coverage.recordsTotal, std::uint64_t(2));
        QVERIFY(outcomeOf(result) == Outcome::Undecided);
    }

    void aDigestWithoutALayoutProvesNothing() // M16
    {
        Observation bare = proven("1");
        bare.dtype.clear();
        bare.shape.reset();
        bare.count.reset();
        const auto both = compareObservations(std::vector{bare}, std::vector{bare});
        QVERIFY(both.evidence == Evidence::Equal);
        QVERIFY(!provesEquality(both.weakestEqual));
        const auto one = compareObservations(std::vector{bare}, std::vector{proven("1")});
        QVERIFY(one.evidence == Evidence::NotComparable);
        // Other bytes are other values, whatever their shape.
        const auto other = compareObservations(std::vector{bare}, std::vector{proven("2")});
        QVERIFY(other.evidence == Evidence::Different);
    }
};

QTEST_APPLESS_MAIN(TraceArtifactsTest)
#include "tst_trace_artifacts.moc"
