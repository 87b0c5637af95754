// SPDX-License-Identifier: GPL-3.0-or-later
// Beginnings of tensors whose last shards may be missing: what is read of them, and what cannot be.
#include "gpu/cpu_backend.h"
#include "model/compare/shared_rows.h"
#include "tests/support/memory_source.h"

#include <QTest>

using namespace forkpoint;
using namespace forkpoint::test;

namespace {

constexpr Index MiB = Index(1) << 20;

/// "w", `rows` of 1 MiB of zeros each; the byte at `one`, if any, is 1.
SourcePtr sideOf(Index rows, std::optional<std::size_t> one)
{
    std::vector<std::byte> bytes(std::size_t(rows * MiB));
    if (one)
        bytes[*one] = std::byte(1);
    auto source = std::make_shared<MemorySource>();
    source->addBytes(MemorySource::pathOf("w"), *dtypeByName("uint8"), {rows, MiB}, bytes);
    source->finish();
    source->editCatalog().format = "safetensors-shards";
    return source;
}

CheckpointComparison rowOf(const SourcePtr &a, const SourcePtr &b)
{
    CheckpointComparison comparison;
    TensorRow row;
    row.name = row.nameA = row.nameB = "w";
    row.a = row.b = 0;
    row.notComparable = true;
    row.reason = "a shard may be missing";
    row.dtypeA = row.dtypeB = *dtypeByName("uint8");
    row.shapeA = a->catalog().tensors[0].shape;
    row.shapeB = b->catalog().tensors[0].shape;
    comparison.tensors.push_back(std::move(row));
    return comparison;
}

/// Compares to the end; how many bytes were said to be done with.
std::uint64_t compare(const SourcePtr &a, const SourcePtr &b, CheckpointComparison &comparison)
{
    const CpuBackend backend;
    SerialExecutor executor;
    SharedRows shared(*a, *b, backend);
    const std::uint64_t planned = shared.plan(comparison);
    std::uint64_t done = 0;
    while (const auto bytes = shared.advance(comparison, executor, {}))
        done += *bytes;
    return done == planned ? done : 0;
}

} // namespace

class SharedRowsTest : public QObject
{
    Q_OBJECT

private slots:
    void whatCannotBeReadIsTold()
    {
        const SourcePtr a = sideOf(3, {}), b = sideOf(2, {});
        b->breakTensor(MemorySource::pathOf("w"), std::uint64_t(MiB));
        CheckpointComparison comparison = rowOf(a, b);
        QCOMPARE(compare(a, b, comparison), std::uint64_t(4 * MiB));
        const TensorRow &row = comparison.tensors[0];
        QVERIFY(row.status == ItemStatus::NotCompared);
        QVERIFY(row.reason.starts_with("a shard may be missing; the rows that both sides have were "
                                       "not read to the end: "));
        QVERIFY(row.reason.find("a test says so") != std::string::npos);
        QCOMPARE(comparison.diagnostics.size(), std::size_t(1));
        QVERIFY(comparison.diagnostics[0].severity == Severity::Error);
    }

    /// A byte of the first piece is unlike: the batch that it is in is read, 64 MiB of both sides.
    void ofWhatDiffersNothingMoreIsRead()
    {
        const SourcePtr a = sideOf(101, {}), b = sideOf(100, std::size_t(5));
        CheckpointComparison comparison = rowOf(a, b);
        QCOMPARE(compare(a, b, comparison), std::uint64_t(200 * MiB));
        QVERIFY(comparison.tensors[0].status == ItemStatus::Different);
        QVERIFY(a->bytesRead <= std::uint64_t(32 * MiB));
        QVERIFY(comparison.diagnostics.empty());
    }

    void whatIsEqualIsReadToItsEnd()
    {
        const SourcePtr a = sideOf(101, {}), b = sideOf(100, {});
        CheckpointComparison comparison = rowOf(a, b);
        QCOMPARE(compare(a, b, comparison), std::uint64_t(200 * MiB));
        QVERIFY(comparison.tensors[0].reason.ends_with("both sides have are equal"));
        QCOMPARE(a->bytesRead.load(), std::uint64_t(100 * MiB));
    }

    void aByteOfTheLastRowIsSeen()
    {
        const SourcePtr a = sideOf(101, {}), b = sideOf(100, std::size_t(100 * MiB - 1));
        CheckpointComparison comparison = rowOf(a, b);
        compare(a, b, comparison);
        QVERIFY(comparison.tensors[0].status == ItemStatus::Different);
    }
};

QTEST_APPLESS_MAIN(SharedRowsTest)
#include "tst_shared_rows.moc"
