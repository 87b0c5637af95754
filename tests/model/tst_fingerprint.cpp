// SPDX-License-Identifier: GPL-3.0-or-later
#include "gpu/cpu_backend.h"
#include "model/fingerprint.h"

#include <QFile>
#include <QTest>

#include <algorithm>
#include <nlohmann/json.hpp>

using namespace forkpoint;
using nlohmann::json;

namespace {

json vectors()
{
    QFile file(QStringLiteral(FORKPOINT_TEST_DATA "/stats/fingerprints.json"));
    return file.open(QIODevice::ReadOnly) ? json::parse(file.readAll().toStdString()) : json();
}

std::vector<std::byte> pattern(std::size_t size)
{
    std::vector<std::byte> bytes(size);
    for (std::size_t i = 0; i < size; ++i)
        bytes[i] = std::byte((i * 131 + (i >> 8) * 7 + 3) & 0xFF);
    return bytes;
}

Digest128 contentOf(ByteView bytes, std::size_t piece)
{
    const CpuBackend backend;
    TensorHasher hasher(backend);
    for (; bytes.size() > piece; bytes = bytes.subspan(piece))
        hasher.add(bytes.first(piece));
    hasher.add(bytes);
    return hasher.finish();
}

} // namespace

class TestFingerprint : public QObject
{
    Q_OBJECT

private slots:
    void vectorsOfTheOracle();
    void pieceSizeChangesNothing();
};

/// fingerprint_oracle.py, written from the specification alone, made the vectors.
void TestFingerprint::vectorsOfTheOracle()
{
    const CpuBackend backend;
    const json expected = vectors();
    std::vector<std::pair<std::string, TensorFingerprint>> all;
    for (const json &row : expected["tensors"]) {
        TensorRef tensor;
        tensor.dtype = *dtypeByName(row["dtype"].get<std::string>());
        tensor.shape.dims = row["shape"].get<std::vector<Index>>();
        tensor.bytes = row["bytes"].get<std::uint64_t>();
        TensorFingerprint fingerprint;
        fingerprint.content = contentOf(pattern(tensor.bytes), 3 * LeafBytes);
        fingerprint.tensor = tensorDigest(backend, tensor, fingerprint.content);
        QCOMPARE(fingerprint.content.toHex(), row["content"].get<std::string>());
        QCOMPARE(fingerprint.tensor.toHex(), row["tensor"].get<std::string>());
        all.emplace_back(row["name"].get<std::string>(), fingerprint);
    }
    QCOMPARE(all.size(), std::size_t(12));
    const CheckpointFingerprint whole = checkpointFingerprint(backend, all);
    QCOMPARE(whole.named.toHex(), expected["named"].get<std::string>());
    QCOMPARE(whole.contents.toHex(), expected["contents"].get<std::string>());
    const CheckpointFingerprint nothing = checkpointFingerprint(backend, {});
    QCOMPARE(nothing.named.toHex(), expected["empty_named"].get<std::string>());
    QCOMPARE(nothing.contents.toHex(), expected["empty_contents"].get<std::string>());
    // Names matter to the one, not to the other; the order of the list to neither.
    std::ranges::reverse(all);
    QVERIFY(checkpointFingerprint(backend, all).named == whole.named);
    all[0].first = "other";
    QVERIFY(checkpointFingerprint(backend, all).named != whole.named);
    QVERIFY(checkpointFingerprint(backend, all).contents == whole.contents);
}

void TestFingerprint::pieceSizeChangesNothing()
{
    const std::vector<std::byte> bytes = pattern(5 * LeafBytes + 17);
    const Digest128 whole = contentOf(bytes, bytes.size());
    for (const std::size_t piece : {1000U, 65535U, 65536U, 65537U, 200000U})
        QVERIFY(contentOf(bytes, piece) == whole);
}

QTEST_APPLESS_MAIN(TestFingerprint)
#include "tst_fingerprint.moc"
