// SPDX-License-Identifier: GPL-3.0-or-later
// The second look at traces that part: modules around the first record that differs, what splits the
// calls of its family, which kernels were launched (rules M12, M24, M27).
#include "model/traces/trace_inquiry.h"
#include "tests/support/compared_traces.h"

#include <QtTest>

using namespace forkpoint;
using namespace forkpoint::test;

namespace {

using Records = std::vector<TraceRecord>;

TraceRecord within(std::string scope, std::string name, std::vector<Observation> inputs,
                   std::vector<Observation> outputs)
{
    TraceRecord record = call(std::move(name), 0, std::move(inputs), std::move(outputs));
    record.scope = std::move(scope);
    record.key += record.scope;
    return record;
}

TraceComparison comparedRanks(const std::vector<Records> &a, const std::vector<Records> &b)
{
    FakeTrace left, right;
    for (std::size_t rank = 0; rank < a.size(); ++rank) {
        left.rank(std::int64_t(rank), a[rank]);
        right.rank(std::int64_t(rank), b[rank]);
    }
    return compared(left, right);
}

const Finding *findingOf(const TraceComparison &comparison, std::string_view id)
{
    for (const Finding &finding : comparison.findings) {
        if (finding.id == id)
            return &finding;
    }
    return nullptr;
}

QString textOf(const TraceComparison &comparison, std::string_view id)
{
    const Finding *finding = findingOf(comparison, id);
    return finding ? QString::fromStdString(finding->text) : QString();
}

Observation strong(std::string digest)
{
    return seen(std::move(digest), DigestKind::Sha256);
}

/// A product of one layer, as a probe names it.
TraceRecord gemm(const std::string &variant, int layer, const std::string &out)
{
    const std::string at = std::to_string(layer);
    return within("decoder.layers." + at, "gemm:" + variant, {strong("in" + at + variant)},
                  {strong(out)});
}

} // namespace

class InquiryTest : public QObject
{
    Q_OBJECT

private slots:
    void scopesNest()
    {
        QCOMPARE(scopesAround("layers.0/mlp[bwd]"),
                 (std::vector<std::string>{"layers", "layers.0", "layers.0.mlp"}));
        QVERIFY(scopesAround("").empty());
    }

    void aModuleIsGuiltyWhenWhatEntersItIsEqual() // M12
    {
        // Of "mlp", x enters and h is its own; of "mlp.down" h enters too. Both are guilty, "attn" was done.
        const auto records = [](std::string out) {
            return Records{within("layers.0.attn", "mm", {strong("e")}, {strong("x")}),
                           within("layers.0.mlp.up", "mm", {strong("x")}, {strong("h")}),
                           within("layers.0.mlp.down", "mm", {strong("h")}, {strong(out)})};
        };
        const TraceComparison result = comparedRanks({records("1")}, {records("2")});
        const Finding *scopes = findingOf(result, "scopes");
        QVERIFY(scopes && scopes->certainty == Certainty::Is);
        QCOMPARE(
            scopes->where,
            (std::vector<std::string>{"layers.0.mlp.down", "layers.0.mlp", "layers.0", "layers"}));
        QVERIFY(textOf(result, "scopes").contains("layers.0.mlp.down is guilty: 1 tensor"));
    }

    void aWeakDigestMakesAModuleOnlySuspect() // M12, M18
    {
        const auto records = [](std::string out) {
            return Records{within("layers.0", "mm", {seen("e")}, {seen(std::move(out))})};
        };
        const TraceComparison result = comparedRanks({records("1")}, {records("2")});
        QVERIFY(findingOf(result, "scopes")->certainty == Certainty::ConsistentWith);
    }

    void aCopyMakesNoModuleGuilty() // M12, M13
    {
        // relu cannot vary: its input hides a difference, whoever made it, so the module is open.
        const auto records = [](std::string out) {
            return Records{
                within("layers.0", "aten.relu.default", {seen("e")}, {seen(std::move(out))})};
        };
        QVERIFY(!findingOf(comparedRanks({records("1")}, {records("2")}), "scopes"));
    }

    void anUnknownProducerLeavesTheModuleOpen() // M12, M13
    {
        const auto records = [](std::string in) {
            return Records{within("layers.0", "mm", {strong(in)}, {strong(in + "out")})};
        };
        QVERIFY(!findingOf(comparedRanks({records("1")}, {records("2")}), "scopes"));
    }

    void whatSplitsTheCallsIsADiscriminator() // M24
    {
        // Only products that accumulate differ, in every layer and on either rank.
        const auto rank = [](const std::string &side) {
            Records records;
            for (const int layer : {0, 1}) {
                records.push_back(gemm("NT:acc0:grad1", layer, "same"));
                records.push_back(gemm("NT:acc1:grad1", layer, "out" + side));
            }
            return records;
        };
        const TraceComparison result =
            comparedRanks({rank("a"), rank("a")}, {rank("b"), rank("b")});
        const QString found = textOf(result, "discriminator");
        QVERIFY2(found.contains("differ by acc (0: 0 of 4 diverge, 1: 4 of 4 diverge)"),
                 qPrintable(found));
        QVERIFY(found.contains("4 clean, 4 divergent, 0 unclassified"));
        QCOMPARE(findingOf(result, "ruled-out-axis")->where,
                 (std::vector<std::string>{"layer", "rank"}));
        QVERIFY(findingOf(result, "discriminator")->certainty == Certainty::ConsistentWith);
    }

    void twoSplittingAxesAreCrossed() // M24
    {
        // acc and layer coincide: the cross shows that no call tells them apart.
        const Records a = {gemm("NT:acc0", 0, "same"), gemm("NT:acc1", 1, "1")};
        const Records b = {gemm("NT:acc0", 0, "same"), gemm("NT:acc1", 1, "2")};
        const QString found = textOf(comparedRanks({a}, {b}), "discriminator");
        QVERIFY2(found.contains("crossed: 0 with 0 0 of 1 diverge, 1 with 1 1 of 1 diverge;"),
                 qPrintable(found));
    }

    void callsWhoseInputsDifferDoNotCount() // M24
    {
        Records a = {gemm("NT:acc0", 0, "same"), gemm("NT:acc1", 0, "1"), gemm("NT:acc0", 1, "3")};
        Records b = {gemm("NT:acc0", 0, "same"), gemm("NT:acc1", 0, "2"), gemm("NT:acc0", 1, "4")};
        b[2].inputs[0].digest = "other";
        const QString found = textOf(comparedRanks({a}, {b}), "discriminator");
        QVERIFY2(found.contains("1 clean, 1 divergent, 0 unclassified; 1 call is left out"),
                 qPrintable(found));
    }

    void namesOfCallsAreSplit()
    {
        QCOMPARE(callFamily("gemm:NT:acc0:grad1"), std::string("gemm"));
        QCOMPARE(callFamily("aten.add.Tensor"), std::string("aten.add"));
        QCOMPARE(callFamily("aten::mm"), std::string("aten::mm"));
        const auto axes = callAxes(gemm("NT:acc0:grad1", 3, "x"), 7);
        QCOMPARE(axes.at("layout"), std::string("NT"));
        QCOMPARE(axes.at("acc"), std::string("0"));
        QCOMPARE(axes.at("grad"), std::string("1"));
        QCOMPARE(axes.at("layer"), std::string("3"));
        QCOMPARE(axes.at("rank"), std::string("7"));
        QCOMPARE(axes.at("in shape"), std::string("2"));
    }

    void kernelsNeedASecondInstrument() // M27
    {
        const auto launch = [](std::string name, std::uint64_t number, std::string out) {
            TraceRecord record = call(std::move(name), number, {strong("1")}, {strong(out)});
            record.role = RecordRole::Kernel;
            return record;
        };
        const TraceComparison inside =
            comparedRanks({{launch("softmax_128", 0, "1")}}, {{launch("softmax_128", 0, "2")}});
        QVERIFY(textOf(inside, "kernels").contains("the cause is inside"));
        const TraceComparison other =
            comparedRanks({{launch("tile_64", 0, "1")}}, {{launch("tile_128", 0, "2")}});
        QVERIFY(textOf(other, "kernels").contains("tile_64 (1 → 0 launches)"));
        QVERIFY(textOf(other, "kernels").contains("an autotuner chose otherwise"));
        for (const TraceComparison *result : {&inside, &other}) {
            QVERIFY(findingOf(*result, "kernels")->certainty == Certainty::ConsistentWith);
            QVERIFY(textOf(*result, "kernels").contains("second instrument"));
        }
    }
};

QTEST_APPLESS_MAIN(InquiryTest)
#include "tst_inquiry.moc"
