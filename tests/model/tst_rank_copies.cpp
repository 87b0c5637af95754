// SPDX-License-Identifier: GPL-3.0-or-later
// What ranks should hold alike and do not, against a side where they do; and what an incomplete side lacks.
#include "model/compare/comparison_verdict.h"
#include "model/compare/lost_items.h"
#include "model/compare/rank_copies.h"

#include <QTest>

using namespace forkpoint;

namespace {

TensorRow tensorRow(std::string name, bool inA, std::uint64_t digest)
{
    TensorRow row;
    row.name = std::move(name);
    (inA ? row.a : row.b) = 0;
    row.status = inA ? ItemStatus::OnlyInA : ItemStatus::OnlyInB;
    (inA ? row.fingerprintA : row.fingerprintB) =
        TensorFingerprint{Digest128{digest, 1}, Digest128{digest, 2}};
    return row;
}

ValueRow valueRow(std::string name, bool inA, std::int64_t value)
{
    ValueRow row;
    row.name = std::move(name);
    (inA ? row.a : row.b) = 0;
    row.status = inA ? ItemStatus::OnlyInA : ItemStatus::OnlyInB;
    (inA ? row.valueA : row.valueB) = Value::integer(value);
    return row;
}

} // namespace

class RankCopiesTest : public QObject
{
    Q_OBJECT

private slots:
    void theOddRankIsNamed()
    {
        CheckpointComparison comparison;
        comparison.tensors.push_back(tensorRow("w.step", true, 7));
        for (const int rank : {0, 1, 10, 2})
            comparison.tensors.push_back(
                tensorRow("rank_" + std::to_string(rank) + ".w.step", false, rank == 1 ? 8u : 7u));
        comparison.tensors.push_back(tensorRow("rank_0.other", false, 7));
        const auto findings = rankCopyFindings(comparison, {}, {});
        QCOMPARE(findings.size(), std::size_t(1));
        QCOMPARE(findings[0].text,
                 std::string("w.step is one for all ranks of A, those of B do not agree: ranks 0, "
                             "2 and 10 have what A has, rank 1 has not"));
        QCOMPARE(findings[0].where.size(), std::size_t(5));
    }

    /// Files of several groups are listed under their group.
    void ranksOfAGroup()
    {
        CheckpointComparison comparison;
        comparison.tensors = {tensorRow("optim.w", true, 7), tensorRow("optim.rank_0.w", false, 7),
                              tensorRow("optim.rank_1.w", false, 8),
                              tensorRow("a.b.rank_0.w", false, 8)};
        const auto findings = rankCopyFindings(comparison, {}, {});
        QCOMPARE(findings.size(), std::size_t(1));
        QCOMPARE(findings[0].text,
                 std::string("optim.w is one for all ranks of A, those of B do not agree: rank 0 "
                             "has what A has, rank 1 has not"));
    }

    /// Without its prefix rank_0.w is w: it is equal, and yet the ranks are not.
    void oneOfThemMetTheWhole()
    {
        CheckpointComparison comparison;
        comparison.tensors = {tensorRow("w", true, 7), tensorRow("rank_1.w", false, 8)};
        TensorRow &met = comparison.tensors[0];
        met.b = 0;
        met.status = ItemStatus::Identical;
        met.fingerprintB = met.fingerprintA;
        Catalog a, b;
        a.tensors.resize(1);
        a.tensors[0].name = "w";
        b.tensors.resize(1);
        b.tensors[0].name = "rank_0.w";
        const auto findings = rankCopyFindings(comparison, a, b);
        QCOMPARE(findings.size(), std::size_t(1));
        QCOMPARE(findings[0].text,
                 std::string("w is one for all ranks of A, those of B do not agree: rank 0 has "
                             "what A has, rank 1 has not"));
        QCOMPARE(findings[0].where, (std::vector<std::string>{"w", "rank_1.w"}));
    }

    void valuesToo()
    {
        CheckpointComparison comparison;
        comparison.values = {valueRow("rank_0.tokens", true, 4), valueRow("rank_1.tokens", true, 5),
                             valueRow("tokens", false, 6)};
        const auto findings = rankCopyFindings(comparison, {}, {});
        QCOMPARE(findings.size(), std::size_t(1));
        QCOMPARE(findings[0].text,
                 std::string("tokens is one for all ranks of B, those of A do not agree: none has "
                             "what B has"));
    }

    void whatIsNotReadIsNotJudged()
    {
        CheckpointComparison comparison;
        comparison.tensors = {tensorRow("w", true, 7), tensorRow("rank_0.w", false, 7),
                              tensorRow("rank_1.w", false, 8)};
        comparison.tensors[1].fingerprintB.reset();
        QVERIFY(rankCopyFindings(comparison, {}, {}).empty());
        comparison.tensors = {tensorRow("w", true, 7), tensorRow("rank_x.w", false, 7),
                              tensorRow("rank_.w", false, 8), tensorRow("w.rank_1", false, 8)};
        QVERIFY(rankCopyFindings(comparison, {}, {}).empty());
    }

    void anIncompleteSideMayHaveLostWhatItLacks()
    {
        CheckpointComparison comparison;
        comparison.tensors = {tensorRow("w", true, 7), tensorRow("v", false, 7)};
        comparison.values = {valueRow("x", true, 1)};
        Catalog a, b;
        b.complete = false;
        tellMayBeLost(comparison, a, b);
        QVERIFY(mayBeLost(comparison.tensors[0]));
        QVERIFY(!mayBeLost(comparison.tensors[1])); // A has all of its files, and not this
        QVERIFY(mayBeLost(comparison.values[0]));
    }

    /// B has lost the file of rank 1; what rank 2 holds there is not what all ranks of A hold.
    void whatOtherRanksHoldIsNotLost()
    {
        CheckpointComparison comparison;
        comparison.tensors = {tensorRow("w", true, 7), tensorRow("rank_0.w", false, 7),
                              tensorRow("rank_2.w", false, 8), tensorRow("v", true, 7)};
        Catalog a, b;
        b.complete = false;
        tellMayBeLost(comparison, a, b);
        QVERIFY(!mayBeLost(comparison.tensors[0]));
        QVERIFY(mayBeLost(comparison.tensors[3]));
        comparison.findings = rankCopyFindings(comparison, a, b);
        ComparisonContext context;
        context.complete = false;
        summarise(comparison, context);
        QVERIFY(comparison.verdict.outcome == Outcome::Different);
    }

    /// A has lost a file: it may have been the one that made its ranks hold the same no longer.
    void anIncompleteSideSpeaksForItsRanksOnly()
    {
        CheckpointComparison comparison;
        comparison.tensors = {tensorRow("w", true, 7), tensorRow("rank_0.w", false, 7),
                              tensorRow("rank_1.w", false, 8)};
        Catalog a, b;
        a.complete = false;
        tellMayBeLost(comparison, a, b);
        comparison.findings = rankCopyFindings(comparison, a, b);
        QCOMPARE(comparison.findings.size(), std::size_t(1));
        QVERIFY(comparison.findings[0].certainty == Certainty::ConsistentWith);
        QCOMPARE(comparison.findings[0].text,
                 std::string("w is one for all ranks of A that are there, those of B do not agree: "
                             "rank 0 has what A has, rank 1 has not"));
        ComparisonContext context;
        context.complete = false;
        summarise(comparison, context);
        QVERIFY(comparison.verdict.outcome == Outcome::Undecided);
    }
};

QTEST_APPLESS_MAIN(RankCopiesTest)
#include "tst_rank_copies.moc"
