// SPDX-License-Identifier: GPL-3.0-or-later
#include "gpu/backend_registry.h"
#include "gpu/cpu_backend.h"
#include "gpu/selftest.h"

#include <QTest>

#include <random>
#ifdef FORKPOINT_HAVE_XXHASH
#include <xxhash.h>
#endif

using namespace forkpoint;

class TestDigest : public QObject
{
    Q_OBJECT

private slots:
    void text();
    void selftest();
    void selftestNoticesWrongDigests();
    void devices();
    void likeTheReferenceProgram();
};

void TestDigest::text()
{
    const Digest128 digest{0x0123456789abcdefU, 0x00000000000000ffU};
    QCOMPARE(digest.toHex(), std::string("0123456789abcdef00000000000000ff"));
    QVERIFY(Digest128::fromHex("0123456789ABCDEF00000000000000ff") == digest);
    QVERIFY(!Digest128::fromHex("0123"));
    QVERIFY(!Digest128::fromHex("0123456789abcdef00000000000000fg"));
    QCOMPARE(std::to_integer<int>(digest.canonical()[1]), 0x23);
    QVERIFY((Digest128{1, 0}) > (Digest128{0, 5}));
}

void TestDigest::selftest()
{
    const SelftestReport report = runSelftest(CpuBackend());
    QVERIFY2(report.failed == 0, report.failures.empty() ? "" : report.failures[0].c_str());
    QVERIFY(report.passed > 25);
}

namespace {

class WrongBackend final : public ComputeBackend
{
public:
    std::string description() const override { return "wrong"; }
    Digest128 hash(ByteView data) const override { return {data.size(), 0}; }
    void hashLeaves(ByteView, std::span<Digest128>) const override {}
    void diff(const DType &, ByteView, ByteView, Index, Index, const DiffOptions &,
              DiffStats &) const override
    {
    }
};

} // namespace

void TestDigest::selftestNoticesWrongDigests()
{
    const SelftestReport report = runSelftest(WrongBackend());
    QVERIFY(report.failed > 20);
    QCOMPARE(report.failures.size(), report.failed);
}

void TestDigest::devices()
{
    QVERIFY(makeBackend("auto").ok());
    QVERIFY(makeBackend("cpu").ok());
    QVERIFY(makeBackend("cuda:").error().code == ErrorCode::Usage);
    QVERIFY(makeBackend("tpu").error().code == ErrorCode::Usage);
    QVERIFY(listDevices()[0].available);
}

/// Thousands of lengths and alignments against libxxhash itself.
void TestDigest::likeTheReferenceProgram()
{
#ifdef FORKPOINT_HAVE_XXHASH
    std::mt19937_64 random(7);
    std::vector<std::byte> data((1U << 20) + 64);
    for (std::byte &byte : data)
        byte = std::byte(random());
    const auto same = [&](std::size_t size, std::size_t offset) {
        const XXH128_hash_t expected = XXH3_128bits(data.data() + offset, size);
        const Digest128 found = CpuBackend().hash(ByteView(data).subspan(offset, size));
        return found == Digest128{expected.high64, expected.low64};
    };
    for (std::size_t size = 0; size < 4200; ++size)
        QVERIFY2(same(size, size % 9), std::to_string(size).c_str());
    for (int i = 0; i < 200; ++i)
        QVERIFY(same(random() % (1U << 20), random() % 64));
    std::vector<Digest128> leaves(17);
    CpuBackend().hashLeaves(ByteView(data).first(16 * LeafBytes + 5), leaves);
    QVERIFY(leaves[16] == CpuBackend().hash(ByteView(data).subspan(16 * LeafBytes, 5)));
#else
    QSKIP("built without libxxhash");
#endif
}

QTEST_APPLESS_MAIN(TestDigest)
#include "tst_digest.moc"
