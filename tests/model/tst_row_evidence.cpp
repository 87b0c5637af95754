// SPDX-License-Identifier: GPL-3.0-or-later
// Pairs that are decided by digests alone: which outcome, on which strength, and where they differ
// as far as nodes of unlike levels tell.
#include "model/compare/row_evidence.h"

#include "gpu/backend_registry.h"

#include <QTest>

using namespace forkpoint;

namespace {

constexpr std::size_t Leaves = 600;

std::vector<Digest128> leaves()
{
    std::vector<Digest128> leaves;
    for (std::size_t i = 0; i < Leaves; ++i)
        leaves.push_back({i, 7 * i + 1});
    return leaves;
}

TensorRow row(const DType &dtype)
{
    TensorRow row;
    row.name = "w";
    row.a = row.b = 0;
    row.dtypeA = row.dtypeB = dtype;
    row.bytes = 2 * Leaves * LeafBytes;
    row.elements = Leaves * LeafBytes * 8 / dtype.bits;
    return row;
}

} // namespace

class TestRowEvidence : public QObject
{
    Q_OBJECT

    const std::unique_ptr<ComputeBackend> m_backend = std::move(makeBackend("cpu")).value();

    RecordedDigests recorded(const std::vector<Digest128> &leaves, std::uint32_t level) const
    {
        FingerprintTree tree(*m_backend);
        tree.keep(level);
        for (const Digest128 &leaf : leaves)
            tree.push(leaf);
        RecordedDigests digests;
        digests.content = tree.finish();
        digests.level = level;
        digests.nodes = tree.takeKept();
        return digests;
    }
    TensorRow decided(const RecordedDigests &a, const RecordedDigests &b, bool tolerance = false,
                      const char *dtype = "float32", bool widenB = false) const
    {
        RowEvidence evidence;
        evidence.a = {a.content, Strength::Xxh3, &a};
        evidence.b = {b.content, Strength::Xxh3, &b};
        TensorRow decided = row(*dtypeByName(dtype));
        decideByDigests(decided, MeasuredAs{decided.dtypeA, false, widenB}, evidence,
                        {a.content, b.content, {}}, tolerance, *m_backend);
        return decided;
    }
    static bool says(const TensorRow &row, const char *text)
    {
        return row.reason.find(text) != std::string::npos;
    }

private slots:
    void nodesAreThoseOfTheTree()
    {
        QCOMPARE(recorded(leaves(), 0).nodes.size(), Leaves);
        QVERIFY(recorded(leaves(), 0).nodes == leaves());
        const auto above = recorded(leaves(), 1).nodes; // 256 + 256 + 88
        QCOMPARE(above.size(), std::size_t(3));
        QVERIFY(above == foldNodes(*m_backend, 0, leaves()));
        QVERIFY(recorded(leaves(), 2).nodes.empty()); // the top alone
        QVERIFY(foldNodes(*m_backend, 1, above).front() == recorded(leaves(), 1).content);
        QVERIFY(recorded({{1, 2}}, 0).nodes.empty());
        const std::vector<Digest128> whole(256, Digest128{1, 2});
        QVERIFY(recorded(whole, 1).nodes.empty());
        QCOMPARE(recorded(whole, 0).nodes.size(), std::size_t(256));
    }

    void equalDigestsAreEqual()
    {
        const RecordedDigests a = recorded(leaves(), 0), b = recorded(leaves(), 1);
        const TensorRow row = decided(a, b);
        QVERIFY(row.status == ItemStatus::Identical);
        QVERIFY(row.strength == Strength::Xxh3);
        QCOMPARE(row.valueEqual, std::optional(true));
        QVERIFY(row.reason.empty() && !row.stats);
        QVERIFY(decided(a, b, true).status == ItemStatus::Identical);
    }

    void saysWhereTheyDiffer()
    {
        std::vector<Digest128> other = leaves();
        other[300].low ^= 1;
        other[301].low ^= 1;
        other[599].low ^= 1;
        const TensorRow fine = decided(recorded(leaves(), 0), recorded(other, 0));
        QVERIFY(fine.status == ItemStatus::Different);
        QVERIFY(!fine.stats && !fine.valueEqual);
        QVERIFY(says(fine,
                     "elements 4915200-4947967 (bytes 19660800-19791871), "
                     "elements 9814016-9830399 (bytes 39256064-39321599)"));
        // The coarser side decides how well it can be said.
        for (const auto &[levelA, levelB] : {std::pair{0u, 1u}, {1u, 0u}, {1u, 1u}}) {
            const TensorRow coarse = decided(recorded(leaves(), levelA), recorded(other, levelB));
            QVERIFY(says(coarse, "elements 4194304-9830399 (bytes 16777216-39321599)"));
        }
        QVERIFY(says(decided(recorded(leaves(), 0), recorded(other, 0), false, "float4_e2m1fn_x2"),
                     "elements 39321600-39583743 (bytes 19660800-19791871)"));
        // Only the top: different, and no place is made up.
        const TensorRow nowhere = decided(recorded(leaves(), 2), recorded(other, 0));
        QVERIFY(nowhere.status == ItemStatus::Different);
        QVERIFY(!says(nowhere, "(bytes"));
    }

    void longListsAreCounted()
    {
        std::vector<Digest128> other = leaves();
        for (std::size_t i = 0; i < 20; i += 2)
            other[i].high ^= 1;
        QVERIFY(says(decided(recorded(leaves(), 0), recorded(other, 0)), "and 6 more stretches"));
    }

    void toleranceCannotBeJudged()
    {
        std::vector<Digest128> other = leaves();
        other[0].low ^= 1;
        const TensorRow row = decided(recorded(leaves(), 0), recorded(other, 0), true);
        QVERIFY(row.status == ItemStatus::NotCompared);
        QVERIFY(row.notComparable);
        QVERIFY(!row.reason.empty());
        // Nor where the types differ and one would be widened.
        QVERIFY(decided(recorded(leaves(), 0), recorded(other, 0), true, "float32", true).status
                == ItemStatus::NotCompared);
        QVERIFY(decided(recorded(leaves(), 0), recorded(other, 0), false, "float32", true).status
                == ItemStatus::Different);
    }

    void factsOfBothSidesAreSaid()
    {
        std::vector<Digest128> other = leaves();
        other[0].low ^= 1;
        RecordedDigests a = recorded(leaves(), 0), b = recorded(other, 0);
        a.facts = RecordedFacts{10, 0, 0, 0.5};
        b.facts = RecordedFacts{8, 2, 0, std::nullopt};
        QVERIFY(says(decided(a, b),
                     "recorded of A: 0 NaN, 0 Inf, rms 0.5; recorded of B: 2 NaN, 0 Inf"));
    }

    void indexSparesReadingOnlyWhereNothingElseIsWanted()
    {
        RowEvidence equal, unlike;
        equal.a = equal.b = {Digest128{1, 2}, Strength::Xxh3Index, nullptr};
        unlike = equal;
        unlike.b.content = Digest128{3, 4};
        const MeasuredAs as{*dtypeByName("float32")};
        QVERIFY(decidedByDigests(equal, as, false, true));
        QVERIFY(!decidedByDigests(equal, as, true, true)); // --full
        QVERIFY(!decidedByDigests(unlike, as, false, true));
        QVERIFY(decidedByDigests(unlike, as, false, false)); // no statistics are wanted
        const MeasuredAs wider{*dtypeByName("float32"), true, false};
        QVERIFY(!decidedByDigests(equal, wider, false, false));
        equal.b.content.reset();
        QVERIFY(!decidedByDigests(equal, as, false, false));
        QVERIFY(equal.strength() == Strength::Xxh3Index);
    }
};

QTEST_APPLESS_MAIN(TestRowEvidence)
#include "tst_row_evidence.moc"
