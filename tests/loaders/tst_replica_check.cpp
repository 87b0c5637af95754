// SPDX-License-Identifier: GPL-3.0-or-later
// Copies that are too many bytes to be compared on opening are compared when their tensor is read.
#include "loaders/elements/copy_guess.h"
#include "loaders/elements/replica_check.h"

#include <QTest>

using namespace forkpoint;

namespace {

/// 4 bytes, cut in two parts: ranks 0, 2 and 4 hold the first, 1 and 3 the second.
struct Held
{
    std::vector<std::vector<int>> byRank{{1, 2}, {3, 4}, {1, 2}, {3, 4}, {1, 2}};

    std::shared_ptr<const Checkpoint> open(std::uint64_t mostBytes) const
    {
        CheckpointBuilder builder;
        TensorRef tensor;
        tensor.path = {{Key::of("w")}};
        tensor.dtype = dtypeByName("uint8").value();
        tensor.shape = Shape{{4}};
        for (std::size_t rank = 0; rank < byRank.size(); ++rank) {
            std::vector<std::byte> bytes;
            for (const int value : byRank[rank])
                bytes.push_back(std::byte(value));
            Extent extent;
            extent.length = bytes.size();
            extent.file =
                builder.addFile(std::make_shared<MemorySource>("of a rank", std::move(bytes)));
            extent.owner = builder.addOwner({{{"rank", std::int64_t(rank)}}});
            extent.box = {{rank % 2 * 2}, {2}};
            extent.strides = {1};
            if (rank < 2)
                tensor.extents.push_back(extent);
            else
                tensor.replicas.push_back({extent.owner, {extent}});
        }
        builder.addTensor(std::move(tensor));
        CheckpointBuilder all;
        all.merge(std::move(builder), {{Key::of("model")}});
        checkReplicas(all, {}, mostBytes);
        return all.build("test");
    }
};

/// Tensors of 1 MiB of zeros with one byte of 1 at `place`.
struct OneByte
{
    static constexpr std::size_t Size = std::size_t(1) << 20;
    std::vector<std::shared_ptr<const ByteSource>> files;

    TensorRef at(std::size_t place)
    {
        std::vector<std::byte> bytes(Size);
        bytes[place] = std::byte(1);
        TensorRef tensor;
        tensor.dtype = dtypeByName("uint8").value();
        tensor.shape = Shape{{Size}};
        Extent extent;
        extent.length = Size;
        extent.file = FileIndex(files.size());
        extent.box = {{0}, {Size}};
        extent.strides = {1};
        tensor.extents.push_back(extent);
        files.push_back(std::make_shared<MemorySource>("of a rank", std::move(bytes)));
        return tensor;
    }
};

std::vector<int> bytesOf(const Checkpoint &checkpoint)
{
    std::vector<std::byte> bytes(4);
    if (!checkpoint.read(0, 0, bytes).ok())
        return {};
    return {int(bytes[0]), int(bytes[1]), int(bytes[2]), int(bytes[3])};
}

} // namespace

class ReplicaCheckTest : public QObject
{
    Q_OBJECT

private slots:
    void equalCopiesAreRead()
    {
        const auto checkpoint = Held().open(0);
        QCOMPARE(bytesOf(*checkpoint), (std::vector<int>{1, 2, 3, 4}));
        QVERIFY(checkpoint->catalog().findings.empty());
        QCOMPARE(checkpoint->catalog().diagnostics.size(), std::size_t(1)); // what was left
        QVERIFY(!checkpoint->origin(0)); // one copy's place is not all that is read
    }

    void anUnlikeCopyIsAnError_data()
    {
        QTest::addColumn<std::size_t>("rank");
        for (const std::size_t rank : {2u, 3u, 4u})
            QTest::addRow("rank %d", int(rank)) << rank;
    }

    void anUnlikeCopyIsAnError()
    {
        QFETCH(std::size_t, rank);
        Held held;
        held.byRank[rank][1] = 9;
        const auto checkpoint = held.open(0);
        std::vector<std::byte> bytes(4);
        const Status status = checkpoint->read(0, 0, bytes);
        QVERIFY(!status.ok());
        QVERIFY(status.error().code == ErrorCode::Mismatch);
        std::vector<std::byte> other(1); // the place that all hold alike
        QVERIFY(checkpoint->read(0, rank % 2 * 2, other).ok());
        QVERIFY(!checkpoint->read(0, rank % 2 * 2 + 1, other).ok());
    }

    /// Each copy of the first part is 2 bytes: the third is beyond what may be read.
    void theLimitCountsEveryCopy()
    {
        Held held;
        held.byRank[4][0] = 9;
        QVERIFY(held.open(4)->catalog().findings.empty());
        QCOMPARE(bytesOf(*held.open(4)), std::vector<int>());
        const auto whole = held.open(10);
        QCOMPARE(whole->catalog().findings.size(), std::size_t(1));
        QVERIFY(whole->catalog().findings[0].text.ends_with("rank 0; rank 2 | rank 4"));
        QCOMPARE(bytesOf(*whole), (std::vector<int>{1, 2, 3, 4}));
    }

    /// Beyond the limit the begin, the middle and the end still tell tensors that share a name apart.
    void whatIsUnlikeBeyondTheLimitIsNoCopy()
    {
        OneByte of;
        const TensorRef one = of.at(0);
        for (const std::size_t place : {std::size_t(1), of.Size / 2, of.Size - 1}) {
            TensorRef other = of.at(place), same = of.at(place);
            QVERIFY(!CopyGuess({}, 0).mayBeCopies(one, other, of.files));
            QVERIFY(CopyGuess({}, 0).mayBeCopies(other, same, of.files));
        }
        // One byte between the places that are looked at: unlike within the limit only.
        TensorRef between = of.at(of.Size / 4), later = of.at(of.Size / 4 + 1);
        QVERIFY(CopyGuess({}, 0).mayBeCopies(between, later, of.files));
        QVERIFY(!CopyGuess({}, of.Size).mayBeCopies(between, later, of.files));
        // A byte that is unlike where the limit ends.
        QVERIFY(!CopyGuess({}, of.Size / 4).mayBeCopies(between, later, of.files));
        later.dtype = dtypeByName("int8").value();
        QVERIFY(!CopyGuess({}, 0).mayBeCopies(between, later, of.files));
    }

    /// 4 MiB that part in their first MiB take 1 MiB of the limit.
    void whatIsNotReadDoesNotCount()
    {
        OneByte of;
        const auto four = [&](std::size_t place) {
            TensorRef tensor = of.at(place);
            tensor.shape = Shape{{4, Index(of.Size)}};
            tensor.extents[0].box = {{0, 0}, {4, Index(of.Size)}};
            tensor.extents[0].strides = {0, 1};
            return tensor;
        };
        const TensorRef one = four(of.Size / 4), other = four(of.Size / 4 + 1);
        const TensorRef between = of.at(of.Size / 4), later = of.at(of.Size / 4 + 1);
        CopyGuess guess({}, 4 * of.Size);
        for (int i = 0; i < 3; ++i)
            QVERIFY(!guess.mayBeCopies(one, other, of.files));
        QVERIFY(!guess.mayBeCopies(between, later, of.files));
        QVERIFY(guess.mayBeCopies(between, later, of.files)); // nothing is left
    }

    void aLostCopyMakesItUnreadable()
    {
        Held held;
        held.byRank[3].pop_back();
        const auto checkpoint = held.open(0);
        QVERIFY(checkpoint->catalog().tensors[0].unreadable);
        QCOMPARE(bytesOf(*checkpoint), std::vector<int>());
    }
};

QTEST_APPLESS_MAIN(ReplicaCheckTest)
#include "tst_replica_check.moc"
