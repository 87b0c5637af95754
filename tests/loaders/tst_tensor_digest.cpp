// SPDX-License-Identifier: GPL-3.0-or-later
// Digests that other tools record. The expected ones were written by torch.hash_tensor, by Megatron
// Core's schema 2 and by zlib; the ranks of lanes are found here by elimination over all codes.
#include "loaders/elements/tensor_digest.h"

#include <QTest>

#include <bit>
#include <limits>
#include <vector>

using namespace forkpoint;

namespace {

template <class T>
std::vector<std::byte> bytesOf(const std::vector<T> &values)
{
    const auto bytes = std::as_bytes(std::span(values));
    return {bytes.begin(), bytes.end()};
}

/// Fed in one piece, and in pieces of every small length.
std::string digestOf(const char *name, const char *dtype, const std::vector<std::byte> &bytes)
{
    std::string whole;
    for (std::size_t piece = bytes.size() + 1; piece > 0; --piece) {
        auto digest = makeTensorDigest(name, *dtypeByName(dtype));
        if (!digest.ok())
            return digest.error().text;
        for (std::size_t at = 0; at < bytes.size(); at += piece)
            (*digest)->update(ByteView(bytes).subspan(at, std::min(piece, bytes.size() - at)));
        const std::string text = (*digest)->finish();
        if (piece > bytes.size())
            whole = text;
        else if (text != whole)
            return "depends on pieces of " + std::to_string(piece);
        if (piece > 20)
            piece = 20;
    }
    return whole;
}

std::uint64_t laneOf(const char *dtype, std::uint64_t code, std::size_t width)
{
    std::vector<std::byte> bytes(width);
    for (std::size_t i = 0; i < width; ++i)
        bytes[i] = std::byte(code >> (8 * i));
    return std::stoull(digestOf("hash_tensor", dtype, bytes), nullptr, 16);
}

/// The rank over GF(2) of some lanes.
unsigned rankOf(const std::vector<std::uint64_t> &lanes)
{
    std::uint64_t basis[64] = {};
    unsigned rank = 0;
    for (std::uint64_t lane : lanes) {
        for (int bit = 63; bit >= 0 && lane != 0; --bit) {
            if (!(lane >> bit & 1))
                continue;
            if (basis[bit] == 0) {
                basis[bit] = lane;
                ++rank;
                lane = 0;
            } else {
                lane ^= basis[bit];
            }
        }
    }
    return rank;
}

} // namespace

class TestTensorDigest : public QObject
{
    Q_OBJECT

private slots:
    void hashTensor_data()
    {
        QTest::addColumn<QByteArray>("dtype");
        QTest::addColumn<QByteArray>("bytes");
        QTest::addColumn<QByteArray>("expected");
        const auto row = [](const char *tag, const char *dtype, const std::vector<std::byte> &bytes,
                            const char *expected) {
            QTest::newRow(tag) << QByteArray(dtype)
                               << QByteArray(reinterpret_cast<const char *>(bytes.data()),
                                             qsizetype(bytes.size()))
                               << QByteArray(expected);
        };
        using Floats = std::vector<float>;
        using Codes = std::vector<std::uint32_t>;
        using Halves = std::vector<std::uint16_t>;
        using Small = std::vector<std::int8_t>;
        row("1 2 3", "float32", bytesOf(Floats{1, 2, 3}), "3ff8000000000000");
        row("3 1 2", "float32", bytesOf(Floats{3, 1, 2}), "3ff8000000000000");
        row("zeros", "float32", bytesOf(Floats{0, 0}), "0000000000000000");
        row("signed zeros", "float32", bytesOf(Floats{0, -0.0f}), "8000000000000000");
        row("one", "float32", bytesOf(Floats{1}), "3ff0000000000000");
        row("next above", "float32", bytesOf(Codes{0x3f800001}), "3ff0000020000000");
        row("f32", "float32", bytesOf(Floats{1.5f, -2.25f}), "fffa000000000000");
        row("bf16", "bfloat16", bytesOf(Halves{0x3fc0, 0xc010}), "fffa000000000000");
        row("f16", "float16", bytesOf(Halves{0x3e00, 0xc080}), "fffa000000000000");
        row("int8", "int8", bytesOf(Small{-1, 2}), "fffffffffffffffd");
        row("uint8", "uint8", bytesOf(std::vector<std::uint8_t>{255, 2}), "00000000000000fd");
        row("int32", "int32", bytesOf(std::vector<std::int32_t>{-5, 7, 7}), "fffffffffffffffb");
        row("int64 0-7", "int64", bytesOf(std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 6, 7}),
            "0000000000000000");
        row("int64 0-6", "int64", bytesOf(std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 6}),
            "0000000000000007");
        row("three trues", "bool", bytesOf(Small{1, 1, 1}), "0000000000000001");
        row("four trues", "bool", bytesOf(Small{1, 1, 1, 1}), "0000000000000000");
        row("subnormal f32", "float32", bytesOf(Codes{1}), "36a0000000000000");
        row("subnormal f16", "float16", bytesOf(Halves{1}), "3e70000000000000");
        row("all of two rows", "float32", bytesOf(Floats{0, 1, 2, 3, 4, 5, 6, 7}),
            "3ff8000000000000");
        row("row of four", "float32", bytesOf(Floats{4, 5, 6, 7}), "0000000000000000");
        row("real view", "float32", bytesOf(Floats{1, 2}), "7ff0000000000000");
        row("quiet NaN", "float32", bytesOf(Codes{0x7fc00000}), "7ff8000000000000");
        row("NaN payload", "float32", bytesOf(Codes{0x7fc00001}), "7ff8000020000000");
        row("signalling NaN", "float32", bytesOf(Codes{0x7f800001}), "7ff8000020000000");
        row("infinity", "float32", bytesOf(Codes{0x7f800000}), "7ff0000000000000");
        // What it cannot see: other numbers, the same digest.
        row("pair of 1", "float32", bytesOf(Floats{1, 1, 5}), "4014000000000000");
        row("pair of 9", "float32", bytesOf(Floats{9, 9, 5}), "4014000000000000");
        row("1 1.5", "float32", bytesOf(Floats{1, 1.5f}), "0008000000000000");
        row("2 3", "float32", bytesOf(Floats{2, 3}), "0008000000000000");
        row("no kernel", "uint16", bytesOf(Halves{1}),
            "torch.hash_tensor has no uint16; what was recorded is of a conversion");
    }
    void hashTensor()
    {
        QFETCH(QByteArray, dtype);
        QFETCH(QByteArray, bytes);
        QFETCH(QByteArray, expected);
        const auto view = asBytes({bytes.constData(), std::size_t(bytes.size())});
        QCOMPARE(QByteArray::fromStdString(
                     digestOf("hash_tensor", dtype.constData(), {view.begin(), view.end()})),
                 expected);
    }

    void megatron128()
    {
        const auto of = [](const auto &values) {
            return digestOf("megatron128", "float32", bytesOf(values));
        };
        using Floats = std::vector<float>;
        QCOMPARE(of(Floats{}), std::string(32, '0'));
        QCOMPARE(of(Floats{1, 2}), std::string("184cd7fb013afc3369a4b986aa057698"));
        QCOMPARE(of(Floats{2, 1}), std::string("45c3b5bb13f75446fe38203849a0ce3f"));
        QCOMPARE(of(Floats{0, 0}), std::string("6ae83a83e4ad9aa890ec4d7bc235fc0d"));
        QCOMPARE(of(Floats{0, 0, 0, 0}), std::string("644bd785de2bbf4cdcddd98a5912cb90"));
        QCOMPARE(of(Floats{1, 2, 3, 4}), std::string("23085422e005f0fcce7d78ca26ee209f"));
        // Not bound to the length.
        QCOMPARE(of(Floats{1}), of(Floats{1, 0}));
        QVERIFY(of(Floats{1}).starts_with("cb09e1d4"));
        QCOMPARE(of(std::vector<std::uint8_t>{1}), of(std::vector<std::int64_t>{1}));
    }

    void bytes()
    {
        const std::vector<std::byte> two = bytesOf(std::vector<float>{1, 2});
        QCOMPARE(digestOf("sha256", "float32", two),
                 std::string("b9c80b5adeca450753a16950c3cc655d271f7bef7a485bc83f112b72fef21d37"));
        const auto check = asBytes("123456789"); // the check value of CRC-32
        QCOMPARE(digestOf("crc32", "uint8", {check.begin(), check.end()}), std::string("cbf43926"));
        // The words of (1, 2) and of (3, 0) differ in their halves only; any order of words agrees.
        QCOMPARE(digestOf("xor64", "float32", two), std::string("0x400000003f800000"));
        QCOMPARE(digestOf("xor64", "int64", bytesOf(std::vector<std::int64_t>{5, 9})),
                 digestOf("xor64", "int64", bytesOf(std::vector<std::int64_t>{9, 5})));
        QCOMPARE(digestOf("xor64", "uint8", bytesOf(std::vector<std::uint8_t>{1})),
                 std::string("0x0000000000000001"));
    }

    void effectiveBits_data()
    {
        QTest::addColumn<QByteArray>("dtype");
        QTest::addColumn<unsigned>("width");
        for (const char *dtype : {"bool", "int8", "uint8", "int16", "bfloat16", "float16"})
            QTest::newRow(dtype) << QByteArray(dtype) << unsigned(dtypeByName(dtype)->bits / 8);
    }
    /// Against the rank of the lanes of all normal numbers.
    void effectiveBits()
    {
        QFETCH(QByteArray, dtype);
        QFETCH(unsigned, width);
        const DType type = *dtypeByName(dtype.constData());
        std::vector<std::uint64_t> lanes;
        const std::uint64_t codes = dtype == "bool" ? 2 : std::uint64_t(1) << (8 * width);
        for (std::uint64_t code = 0; code < codes; ++code) {
            if (type.kind == ElementKind::Float) {
                const unsigned mantissa = type.layout.mantissaBits;
                const std::uint64_t mask = (std::uint64_t(1) << type.layout.exponentBits) - 1;
                const std::uint64_t exponent = code >> mantissa & mask;
                if (exponent == 0 || exponent == mask)
                    continue;
            }
            lanes.push_back(laneOf(dtype.constData(), code, width));
        }
        QCOMPARE(tensorDigestBits("hash_tensor", type, 1 << 20), rankOf(lanes));
    }

    void shortTensorsHaveFewBits()
    {
        const DType type = *dtypeByName("float32");
        QCOMPARE(tensorDigestBits("sha256", type, 4), 32u);
        QCOMPARE(tensorDigestBits("sha256", type, 1 << 20), 256u);
        QCOMPARE(tensorDigestBits("crc32", type, 1 << 20), 32u);
        QCOMPARE(tensorDigestBits("xor64", *dtypeByName("bool"), 1 << 20), 8u);
        QCOMPARE(tensorDigestBits("hash_tensor", *dtypeByName("complex64"), 8), 0u);
    }
};

QTEST_APPLESS_MAIN(TestTensorDigest)
#include "tst_tensor_digest.moc"
