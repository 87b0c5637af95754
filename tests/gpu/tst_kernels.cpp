// SPDX-License-Identifier: GPL-3.0-or-later
// Every instruction set against the definition in gpu/kernels, bit for bit, over all types, sizes
// around every boundary, and data that takes every way through the kernels.
#include "gpu/cpu_backend.h"
#include "gpu/cpu_kernels.h"
#include "tests/support/stats_bits.h"

#include <QTest>

#include <cstring>
#include <random>

using namespace forkpoint;
using forkpoint::test::statsBits;

namespace {

using Bytes = std::vector<std::byte>;

/// What two tensors may look like.
enum class Data { Equal, Random, Near, Sparse, SomeGroups, Zeros, SpecialA, SpecialB, AllSpecial };

constexpr std::array<std::pair<Data, const char *>, 9> AllData{
    {{Data::Equal, "equal"},
     {Data::Random, "random bits"},
     {Data::Near, "all near"},
     {Data::Sparse, "few differ"},
     {Data::SomeGroups, "some blocks differ"},
     {Data::Zeros, "zeros of either sign"},
     {Data::SpecialA, "some of A not finite"},
     {Data::SpecialB, "some of B not finite"},
     {Data::AllSpecial, "nothing finite"}}};

/// Codes of one type: of parts of 16 and 32 bits by their bits, of others bytes at random.
class Maker
{
public:
    Maker(const DType &dtype, Index elements)
        : m_width((dtype.kind == ElementKind::Complex ? dtype.bits / 2 : dtype.bits) / 8),
          m_layout(dtype.layout),
          m_float(dtype.isFloating() && m_width >= 1),
          m_a(std::size_t((elements * dtype.bits + 7) / 8)),
          m_b(m_a.size())
    {
    }

    void fill(Data data, std::mt19937_64 &random)
    {
        const std::size_t width = std::max<std::size_t>(m_width, 1);
        for (std::size_t at = 0; at + width <= m_a.size(); at += width) {
            std::uint64_t a = random(), b = random();
            const bool special = random() % 500 == 0 || data == Data::AllSpecial;
            if (data == Data::Zeros) {
                a = zero(random());
                b = zero(random());
            } else if (data != Data::Random) {
                a = finite(a);
                b = data == Data::Near ? near(a, b) : a;
                if (data == Data::Sparse && random() % 700 == 0)
                    b = finite(random());
                if (data == Data::SomeGroups && at / (2048 * width) % 3 == 1 && random() % 3 == 0)
                    b = near(a, random());
            }
            if (special && data != Data::Sparse && data >= Data::SpecialA) {
                (data == Data::SpecialB ? b : a) = notFinite(random());
                if (random() % 4 == 0)
                    b = notFinite(random());
            }
            std::memcpy(m_a.data() + at, &a, width);
            std::memcpy(m_b.data() + at, &b, width);
        }
    }

    const Bytes &a() const { return m_a; }
    const Bytes &b() const { return m_b; }

private:
    std::uint64_t sign() const { return std::uint64_t(1) << (8 * m_width - 1); }
    std::uint64_t infinity() const
    {
        return ((std::uint64_t(1) << m_layout.exponentBits) - 1) << m_layout.mantissaBits;
    }
    std::uint64_t zero(std::uint64_t random) const
    {
        return m_float && random % 2 == 0 ? sign() : 0;
    }
    /// Small numbers of either sign: the highest bit of the exponent is cleared; of float64 some
    /// powers below 1, whose squares have room.
    std::uint64_t finite(std::uint64_t code) const
    {
        if (!m_float)
            return code;
        if (m_layout.exponentBits == 11)
            return (code & 0x81FFFFFFFFFFFFFFU) | 0x3E00000000000000U;
        return code & ~(std::uint64_t(1) << (m_layout.exponentBits + m_layout.mantissaBits - 1));
    }
    std::uint64_t near(std::uint64_t code, std::uint64_t random) const
    {
        return code ^ (random % 8);
    }
    std::uint64_t notFinite(std::uint64_t random) const
    {
        if (!m_float)
            return random;
        const std::uint64_t code = infinity() | (random % 3 == 0 ? 0 : random % 5);
        return random % 2 == 0 ? code | sign() : code;
    }

    std::size_t m_width;
    FloatLayout m_layout;
    bool m_float;
    Bytes m_a, m_b;
};

DiffStats diffOf(const CpuKernels &kernels, const DType &dtype, const Bytes &a, const Bytes &b,
                 Index elements, const DiffOptions &options)
{
    DiffStats stats;
    CpuBackend(kernels).diff(dtype, a, b, 0, elements, options, stats);
    return stats;
}

} // namespace

class TestKernels : public QObject
{
    Q_OBJECT

private slots:
    void sameBits_data();
    void sameBits();
    void everySixteenBitPair_data();
    void everySixteenBitPair();
    void piecesOfAnySize_data();
    void piecesOfAnySize();
    void jointHasTheMargins();
    void magnitudesOnDemand();
    void hashes();
};

void TestKernels::sameBits_data()
{
    QTest::addColumn<QString>("type");
    QTest::addColumn<int>("data");
    for (const DType &dtype : allDTypes()) {
        for (const auto &[data, name] : AllData)
            QTest::addRow("%s, %s", dtype.name.c_str(), name)
                << QString::fromStdString(dtype.name) << int(data);
    }
}

void TestKernels::sameBits()
{
    QFETCH(QString, type);
    QFETCH(int, data);
    const DType dtype = *dtypeByName(type.toStdString());
    std::mt19937_64 random(99);
    const Index block = dtype.kind == ElementKind::Complex ? BlockParts / 2 : BlockParts;
    for (const Index elements :
         {Index(0), Index(1), Index(7), Index(32), Index(33), block - 1, block, block + 1,
          2 * block, 17 * block + 24, leafElements(dtype) + 1}) {
        const Index whole = elements * dtype.bits % 8 == 0 ? elements : elements + elements % 2;
        if (whole * dtype.bits % 8 != 0)
            continue;
        Maker maker(dtype, whole);
        maker.fill(Data(data), random);
        DiffOptions options;
        options.magnitudes = elements % 2 == 0;
        if (elements % 3 == 0)
            options.tolerance = {0.01, {}, 3};
        const DiffStats defined =
            diffOf(portableKernels(), dtype, maker.a(), maker.b(), whole, options);
        const DiffStats fast = diffOf(bestKernels(), dtype, maker.a(), maker.b(), whole, options);
        QCOMPARE(statsBits(fast), statsBits(defined));
        QCOMPARE(defined.elements, whole);
    }
}

void TestKernels::everySixteenBitPair_data()
{
    QTest::addColumn<QString>("type");
    QTest::newRow("float16") << QStringLiteral("float16");
    QTest::newRow("bfloat16") << QStringLiteral("bfloat16");
}

/// All codes of A against codes of B that end every class and exponent, in an order that mixes them.
void TestKernels::everySixteenBitPair()
{
    QFETCH(QString, type);
    const DType dtype = *dtypeByName(type.toStdString());
    for (const std::uint32_t partner :
         {0x0000U, 0x8000U, 0x0001U, 0x8001U, 0x03FFU, 0x0400U, 0x3C00U, 0x7BFFU, 0x7C00U, 0x7F7FU,
          0xFF7FU, 0x7F80U, 0xFFFFU}) {
        std::vector<std::uint16_t> a, b;
        for (std::uint32_t i = 0; i < 65536; ++i) {
            a.push_back(std::uint16_t(i * 40503U));
            b.push_back(std::uint16_t(i % 3 == 2 ? a.back() : partner));
        }
        const Bytes bytesA(std::as_bytes(std::span(a)).begin(), std::as_bytes(std::span(a)).end());
        const Bytes bytesB(std::as_bytes(std::span(b)).begin(), std::as_bytes(std::span(b)).end());
        QCOMPARE(statsBits(diffOf(bestKernels(), dtype, bytesA, bytesB, a.size(), {})),
                 statsBits(diffOf(portableKernels(), dtype, bytesA, bytesB, a.size(), {})));
    }
}

void TestKernels::piecesOfAnySize_data()
{
    QTest::addColumn<QString>("type");
    for (const char *type : {"float32", "bfloat16", "float16", "float8_e4m3fn", "float8_e5m2",
                             "float64", "int8", "uint8", "int32", "complex64", "float4_e2m1fn_x2"})
        QTest::newRow(type) << QString(type);
}

/// One unit fed in pieces, and pieces appended afterwards, give the bits of one call.
void TestKernels::piecesOfAnySize()
{
    QFETCH(QString, type);
    const DType dtype = *dtypeByName(type.toStdString());
    const Index leaf = leafElements(dtype), elements = 11 * leaf + 40;
    Maker maker(dtype, elements);
    std::mt19937_64 random(7);
    maker.fill(Data::SomeGroups, random);
    const std::string whole =
        statsBits(diffOf(bestKernels(), dtype, maker.a(), maker.b(), elements, {}));
    for (const Index piece : {leaf, 2 * leaf, 8 * leaf}) {
        DiffStats fed, joined;
        for (Index first = 0; first < elements; first += piece) {
            const Index count = std::min(piece, elements - first);
            const auto window = [&](const Bytes &bytes) {
                return ByteView(bytes).subspan(std::size_t(first * dtype.bits / 8),
                                               std::size_t(count * dtype.bits / 8));
            };
            DiffStats alone;
            CpuBackend().diff(dtype, window(maker.a()), window(maker.b()), first, count, {}, fed);
            CpuBackend().diff(dtype, window(maker.a()), window(maker.b()), first, count, {}, alone);
            joined.append(alone);
        }
        QCOMPARE(statsBits(fed), whole);
        QCOMPARE(statsBits(joined), whole);
    }
}

void TestKernels::jointHasTheMargins()
{
    const DType dtype = *dtypeByName("float32");
    Maker maker(dtype, 70000);
    std::mt19937_64 random(3);
    maker.fill(Data::Near, random);
    const DiffStats stats = diffOf(bestKernels(), dtype, maker.a(), maker.b(), 70000, {});
    PowerHistogram differences, distances;
    std::uint64_t pairs = stats.joint.zeros();
    for (const JointHistogram::Cell &cell : stats.joint.cells()) {
        differences.add(cell.power, cell.count);
        distances.add(cell.ulpPower, cell.count);
        pairs += cell.count;
    }
    QCOMPARE(pairs, stats.finitePairs);
    QCOMPARE(stats.joint.zeros(), stats.finitePairs - stats.differentElements);
    QVERIFY(differences.bins() == stats.absDifference.bins());
    QVERIFY(distances.bins() == stats.ulp.bins());
    QVERIFY(stats.joint.cells().size() > 30);
    // Codes that differ in their three lowest bits are 1 to 7 apart.
    QCOMPARE(stats.ulp.bins().size(), std::size_t(3));
    QCOMPARE(stats.leaves.size(), std::size_t(5));
    std::uint64_t different = 0;
    int largest = LeafFacts::NoPower;
    for (const LeafFacts &leaf : stats.leaves) {
        different += leaf.different;
        largest = std::max<int>(largest, leaf.largestPower);
    }
    QCOMPARE(different, stats.differentElements);
    QCOMPARE(largest, std::ilogb(stats.maxAbs));
}

void TestKernels::magnitudesOnDemand()
{
    const DType dtype = *dtypeByName("bfloat16");
    Maker maker(dtype, 5000);
    std::mt19937_64 random(5);
    maker.fill(Data::Near, random);
    DiffStats with = diffOf(bestKernels(), dtype, maker.a(), maker.b(), 5000, {{}, true});
    const DiffStats without = diffOf(bestKernels(), dtype, maker.a(), maker.b(), 5000, {{}, false});
    QVERIFY(with.magnitudes && !without.magnitudes);
    QCOMPARE(with.absA.total(), Index(5000));
    QCOMPARE(without.absA.total(), Index(0));
    with.absA = with.absB = {};
    QCOMPARE(statsBits(without), statsBits(with));
}

/// Of every length up to some blocks, at every alignment, against the definition, which tst_digest
/// compares with the reference program.
void TestKernels::hashes()
{
    std::mt19937_64 random(11);
    Bytes data(200000);
    for (std::byte &byte : data)
        byte = std::byte(random());
    const CpuBackend defined(portableKernels()), fast;
    for (std::size_t size = 0; size < 3000; ++size) {
        const ByteView view = ByteView(data).subspan(size % 37, size);
        QVERIFY2(fast.hash(view) == defined.hash(view), std::to_string(size).c_str());
    }
    for (const std::size_t size : {4096UL, 65535UL, 65536UL, 65537UL, 131072UL, 199999UL}) {
        const ByteView view = ByteView(data).subspan(1, size);
        QVERIFY2(fast.hash(view) == defined.hash(view), std::to_string(size).c_str());
    }
}

QTEST_GUILESS_MAIN(TestKernels)
#include "tst_kernels.moc"
