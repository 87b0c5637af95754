// SPDX-License-Identifier: GPL-3.0-or-later
#include "gpu/cpu_backend.h"
#include "tests/support/stats_bits.h"

#include <QFile>
#include <QTest>

#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <random>

using namespace forkpoint;
using nlohmann::json;

namespace {

QByteArray readFile(const QString &name)
{
    QFile file(QStringLiteral(FORKPOINT_TEST_DATA "/stats/") + name);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

/// Just enough of safetensors: the data bytes of every tensor.
std::map<std::string, ByteView> tensorsOf(const QByteArray &file)
{
    std::map<std::string, ByteView> tensors;
    const ByteView bytes = std::as_bytes(std::span(file.data(), std::size_t(file.size())));
    const std::size_t header = std::size_t(loadLittle<std::uint64_t>(bytes.data()));
    const json members = json::parse(asText(bytes.subspan(8, header)));
    for (const auto &[name, tensor] : members.items()) {
        const std::size_t first = tensor["data_offsets"][0].get<std::size_t>();
        const std::size_t last = tensor["data_offsets"][1].get<std::size_t>();
        tensors[name] = bytes.subspan(8 + header + first, last - first);
    }
    return tensors;
}

DiffStats diff(const DType &dtype, ByteView a, ByteView b, const Tolerance &tolerance = {})
{
    DiffStats stats;
    CpuBackend().diff(dtype, a, b, 0, a.size() * 8 / dtype.bits, {tolerance, true}, stats);
    return stats;
}

DiffStats diff(const char *type, ByteView a, ByteView b, const Tolerance &tolerance = {})
{
    return diff(*dtypeByName(type), a, b, tolerance);
}

template <class T>
ByteView bytesOf(const std::vector<T> &values)
{
    return std::as_bytes(std::span(values));
}

/// Every figure by name; what has no value is absent.
json report(const DiffStats &stats, const DType &dtype)
{
    json out{{"elements", stats.elements},
             {"different_elements", stats.differentElements},
             {"finite_pairs", stats.finitePairs},
             {"nan_a", stats.nanA},
             {"nan_b", stats.nanB},
             {"inf_a", stats.infA},
             {"inf_b", stats.infB},
             {"nan_payload_only", stats.nanPayloadOnly},
             {"signed_zero_only", stats.signedZeroOnly},
             {"sign_flips", stats.signFlips},
             {"max_ulp", stats.maxUlp}};
    const auto index = [&](const char *key, Index value) {
        if (value != NoIndex)
            out[key] = value;
    };
    index("first_index", stats.firstIndex);
    index("last_index", stats.lastIndex);
    index("max_abs_index", stats.maxAbsIndex);
    index("max_ulp_index", stats.maxUlpIndex);
    const auto real = [&](const char *key, std::optional<double> value) {
        if (value)
            out[key] = *value;
    };
    real("mean_abs", stats.meanAbs());
    real("rms", stats.rms());
    real("rms_a", stats.rmsA());
    real("rms_b", stats.rmsB());
    real("cosine", stats.cosine());
    if (dtype.isInteger())
        out["max_abs"] = stats.maxAbsInteger;
    else
        out["max_abs"] = stats.maxAbs;
    return out;
}

} // namespace

class TestDiffStats : public QObject
{
    Q_OBJECT

private slots:
    void corpus();
    void groupingChangesNothing_data();
    void groupingChangesNothing();
    void extremeFloat64();
    void equalIsOne();
    void zeroSideHasNoCosine();
    void integersAreExact();
    void boolsByValue();
    void complexElements();
    void tolerances();
    void histograms();
    void opaque();
    void eightBitPairs_data();
    void eightBitPairs();
    void sixteenBitCodes_data();
    void sixteenBitCodes();
};

/// The cases of make_stats.py, whose expectations come from integer and rational arithmetic.
void TestDiffStats::corpus()
{
    const QByteArray fileA = readFile("A.safetensors");
    const QByteArray fileB = readFile("B.safetensors");
    const auto a = tensorsOf(fileA);
    const auto b = tensorsOf(fileB);
    const json expected = json::parse(readFile("expected.json").toStdString())["statistics"];
    int figures = 0;
    for (const auto &[name, want] : expected.items()) {
        const auto dtype = dtypeByName(name.substr(0, name.find('.')));
        QVERIFY2(dtype, name.c_str());
        const json got = report(diff(*dtype, a.at(name), b.at(name)), *dtype);
        for (const auto &[key, value] : want.items()) {
            const std::string where = name + ": " + key;
            QVERIFY2(got.contains(key), where.c_str());
            bool good = got[key] == value;
            if (key == "mean_abs" || key.starts_with("rms") || key == "cosine") {
                const double w = value.get<double>();
                const double scale = key == "cosine" ? 1.0 : std::fabs(w);
                good = std::fabs(got[key].get<double>() - w) <= 1e-12 * scale;
            }
            QVERIFY2(good, (where + " " + got[key].dump() + ", expected " + value.dump()).c_str());
            ++figures;
        }
        if (!want.contains("cosine"))
            QVERIFY(!got.contains("cosine"));
    }
    QVERIFY(figures > 800);
}

void TestDiffStats::groupingChangesNothing_data()
{
    QTest::addColumn<QString>("type");
    for (const DType &dtype : allDTypes())
        QTest::newRow(dtype.name.c_str()) << QString::fromStdString(dtype.name);
}

/// Units of every aligned size, appended in order, give the bits of one piece.
void TestDiffStats::groupingChangesNothing()
{
    QFETCH(QString, type);
    const DType dtype = *dtypeByName(type.toStdString());
    const Index leaf = leafElements(dtype);
    const Index elements = leaf * 5 + BlockParts * 3 + 8;
    std::mt19937_64 random(42);
    std::vector<std::byte> a(elements * dtype.bits / 8);
    for (std::byte &byte : a)
        byte = std::byte(random());
    std::vector<std::byte> b = a;
    for (std::size_t i = 0; i < b.size(); i += 1 + random() % 40)
        b[i] ^= std::byte(random());
    Tolerance tolerance;
    tolerance.rtol = 0.01;
    CpuBackend backend;
    DiffStats whole;
    backend.diff(dtype, a, b, 0, elements, {tolerance, true}, whole);
    for (Index unit = leaf; unit <= 8 * leaf; unit *= 2) {
        DiffStats joined;
        for (Index first = 0; first < elements; first += unit) {
            const Index count = std::min(unit, elements - first);
            const std::size_t from = std::size_t(first * dtype.bits / 8);
            const std::size_t bytes = std::size_t(count * dtype.bits / 8);
            DiffStats piece;
            backend.diff(dtype, ByteView(a).subspan(from, bytes), ByteView(b).subspan(from, bytes),
                         first, count, {tolerance, true}, piece);
            joined.append(piece);
        }
        QCOMPARE(forkpoint::test::statsBits(joined), forkpoint::test::statsBits(whole));
    }
    QVERIFY(whole.differentElements > 0);
}

void TestDiffStats::extremeFloat64()
{
    const double most = std::numeric_limits<double>::max();
    // |a - b| overflows, both being finite; the squares do by far.
    std::vector<double> a{most, 3e200, -most, 0, 0}, b{-most, -4e200, -most, 0, 0};
    DiffStats stats = diff("float64", bytesOf(a), bytesOf(b));
    QCOMPARE(stats.finitePairs, Index(5));
    QCOMPARE(stats.maxAbs, std::numeric_limits<double>::infinity());
    QCOMPARE(stats.maxAbsIndex, Index(0));
    QVERIFY(std::fabs(*stats.meanAbs() / (most / 5 * 2) - 1) < 1e-12);
    QVERIFY(std::fabs(*stats.rms() / (most / std::sqrt(5.0) * 2) - 1) < 1e-12);
    QVERIFY(std::fabs(*stats.rmsA() / (most * std::sqrt(2.0 / 5)) - 1) < 1e-12);
    QVERIFY(std::fabs(*stats.cosine()) < 1e-12);
    // 3-4-5 far below the range of squares.
    a = {3e-200, 0.0};
    b = {0.0, 4e-200};
    stats = diff("float64", bytesOf(a), bytesOf(b));
    QVERIFY(std::fabs(*stats.rms() / (5e-200 / std::sqrt(2.0)) - 1) < 1e-12);
    QCOMPARE(*stats.cosine(), 0.0);
    const double least = std::numeric_limits<double>::denorm_min();
    a = {least, least};
    b = {2 * least, 2 * least};
    stats = diff("float64", bytesOf(a), bytesOf(b));
    QCOMPARE(stats.maxAbs, least);
    QCOMPARE(*stats.meanAbs(), least);
    QCOMPARE(*stats.rmsB(), 2 * least);
    QCOMPARE(*stats.cosine(), 1.0);
    QCOMPARE(stats.absDifference.bins().front().first, -1074);
}

void TestDiffStats::equalIsOne()
{
    std::mt19937_64 random(5);
    for (const char *type :
         {"float64", "float32", "bfloat16", "float8_e5m2", "int32", "complex64"}) {
        std::vector<std::byte> a(30000);
        for (std::byte &byte : a)
            byte = std::byte(random() % 0x70);
        const DiffStats stats = diff(type, a, a);
        QCOMPARE(*stats.cosine(), 1.0);
        QCOMPARE(*stats.rms(), 0.0);
        QCOMPARE(stats.maxAbsIndex, Index(0));
    }
}

void TestDiffStats::zeroSideHasNoCosine()
{
    const std::vector<float> zeros(9, 0.0F), ones(9, 1.0F);
    QVERIFY(!diff("float32", bytesOf(zeros), bytesOf(ones)).cosine());
    QVERIFY(!diff("float32", {}, {}).meanAbs());
}

void TestDiffStats::integersAreExact()
{
    const std::vector<std::int64_t> a{0, std::numeric_limits<std::int64_t>::min()};
    const std::vector<std::int64_t> b{1, std::numeric_limits<std::int64_t>::max()};
    const DiffStats stats = diff("int64", bytesOf(a), bytesOf(b));
    QCOMPARE(stats.maxAbsInteger, std::numeric_limits<std::uint64_t>::max());
    QCOMPARE(stats.maxAbsIndex, Index(1));
    // int4: low nibble first, two's complement: 0x8F is -1, -8; 0x71 is 1, 7.
    const std::vector<std::uint8_t> p{0x8F}, q{0x71};
    const DiffStats nibbles = diff("int4", bytesOf(p), bytesOf(q));
    QCOMPARE(nibbles.elements, Index(2));
    QCOMPARE(nibbles.maxAbsInteger, std::uint64_t(15));
    QCOMPARE(nibbles.maxAbsIndex, Index(1));
    QCOMPARE(*nibbles.meanAbs(), 8.5);
}

void TestDiffStats::boolsByValue()
{
    const std::vector<std::uint8_t> a{0, 1, 1, 2}, b{0, 2, 0, 2};
    const DiffStats stats = diff("bool", bytesOf(a), bytesOf(b));
    QCOMPARE(stats.differentElements, Index(2));
    QCOMPARE(stats.valueDifferent, Index(1));
    QCOMPARE(stats.maxAbsInteger, std::uint64_t(1));
    QCOMPARE(stats.maxAbsIndex, Index(2));
}

void TestDiffStats::complexElements()
{
    const std::vector<float> a{1, 2, 3, 4, 0.0F, 5}, b{1, 2, 3, 6, -0.0F, 5};
    const DiffStats stats = diff("complex64", bytesOf(a), bytesOf(b));
    QCOMPARE(stats.elements, Index(3));
    QCOMPARE(stats.differentElements, Index(2));
    QCOMPARE(stats.valueDifferent, Index(1));
    QCOMPARE(stats.firstIndex, Index(1));
    QCOMPARE(stats.lastIndex, Index(2));
    QCOMPARE(stats.finitePairs, Index(6));
    QCOMPARE(stats.maxAbsIndex, Index(1));
    QCOMPARE(stats.signedZeroOnly, Index(1));
}

void TestDiffStats::tolerances()
{
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const float inf = std::numeric_limits<float>::infinity();
    const float otherNan = std::bit_cast<float>(0x7FC00001U);
    const std::vector<float> a{100, 100, nan, inf, 1, nan, 0.0F};
    const std::vector<float> b{101, 102, otherNan, -inf, std::nextafter(1.0F, 2.0F), 1, -0.0F};
    const auto beyond = [&](const Tolerance &tolerance) {
        return diff("float32", bytesOf(a), bytesOf(b), tolerance).beyondTolerance;
    };
    QCOMPARE(beyond({}), Index(0));               // nothing asked
    QCOMPARE(beyond({{}, 1.5, {}}), Index(3));    // 102, inf, nan against 1
    QCOMPARE(beyond({0.01, {}, {}}), Index(3));   // relative to the larger side
    QCOMPARE(beyond({0.0197, {}, {}}), Index(2)); // 2 / 102 is 0.0196
    QCOMPARE(beyond({{}, {}, 1}), Index(4));      // 101, 102, inf, nan against 1
    QCOMPARE(beyond({{}, 2.0, 1}), Index(2));
}

void TestDiffStats::histograms()
{
    const std::vector<float> a{0, 1, 1.5F, 3, -4}, b{0, 1, 2, 3, 4};
    const DiffStats stats = diff("float32", bytesOf(a), bytesOf(b));
    using Bins = std::vector<std::pair<int, std::uint64_t>>;
    QCOMPARE(stats.absA.zeros(), 1U);
    QCOMPARE(stats.absA.bins(), (Bins{{0, 2}, {1, 1}, {2, 1}}));
    QCOMPARE(stats.absDifference.zeros(), 3U);
    QCOMPARE(stats.absDifference.bins(), (Bins{{-1, 1}, {3, 1}}));
    QCOMPARE(stats.ulp.zeros(), 3U);
    QCOMPARE(stats.ulp.bins(), (Bins{{22, 1}, {31, 1}}));
    QCOMPARE(stats.absB.total(), stats.finitePairs);
}

void TestDiffStats::opaque()
{
    const std::vector<std::uint8_t> a{1, 2, 3, 4, 5, 6}, b{1, 2, 3, 5, 6, 6};
    const DiffStats stats = diff(opaqueDType(2), bytesOf(a), bytesOf(b));
    QCOMPARE(stats.elements, Index(3));
    QCOMPARE(stats.differentElements, Index(2));
    QCOMPARE(stats.firstIndex, Index(1));
    QCOMPARE(stats.lastIndex, Index(2));
    QCOMPARE(stats.finitePairs, Index(0));
}

void TestDiffStats::eightBitPairs_data()
{
    QTest::addColumn<QString>("type");
    for (const DType &dtype : allDTypes()) {
        if (dtype.kind == ElementKind::Float && dtype.bits == 8)
            QTest::newRow(dtype.name.c_str()) << QString::fromStdString(dtype.name);
    }
}

/// All 65,536 pairs of codes against the values ml_dtypes gives (values.json, see make_values.py);
/// sums in units of the least number, in 128-bit integers or long double.
void TestDiffStats::eightBitPairs()
{
    QFETCH(QString, type);
    const std::string name = type.toStdString();
    const json table = json::parse(readFile("values.json").toStdString())[name];
    std::vector<double> values;
    for (const json &text : table)
        values.push_back(std::strtod(text.get<std::string>().c_str(), nullptr));
    QCOMPARE(values.size(), std::size_t(256));
    std::vector<std::uint8_t> a, b;
    for (int i = 0; i < 256; ++i) {
        for (int j = 0; j < 256; ++j) {
            a.push_back(std::uint8_t(i));
            b.push_back(std::uint8_t(j));
        }
    }
    const bool isSigned = name != "float8_e8m0fnu";
    const auto order = [&](int code) {
        return !isSigned ? code : code & 0x80 ? -(code & 0x7F) : code;
    };
    Index finite = 0, flips = 0, zeros = 0, payload = 0;
    double maxAbs = -1;
    int maxUlp = -1;
    long double sumAbs = 0, sumAB = 0, sumAA = 0, sumDD = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        const double x = values[a[i]], y = values[b[i]];
        payload += a[i] != b[i] && std::isnan(x) && std::isnan(y);
        if (!std::isfinite(x) || !std::isfinite(y))
            continue;
        ++finite;
        flips += x * y < 0;
        zeros += a[i] != b[i] && x == 0 && y == 0;
        maxAbs = std::max(maxAbs, std::fabs(x - y));
        maxUlp = std::max(maxUlp, std::abs(order(a[i]) - order(b[i])));
        const long double d = (long double)(x)-y;
        sumAbs += std::fabs(d);
        sumDD += d * d;
        sumAB += (long double)(x)*y;
        sumAA += (long double)(x)*x;
    }
    const DiffStats stats = diff(name.c_str(), bytesOf(a), bytesOf(b));
    QCOMPARE(stats.differentElements, Index(65536 - 256));
    QCOMPARE(stats.finitePairs, finite);
    QCOMPARE(stats.signFlips, flips);
    QCOMPARE(stats.signedZeroOnly, zeros);
    QCOMPARE(stats.nanPayloadOnly, payload);
    QCOMPARE(stats.maxAbs, maxAbs);
    QCOMPARE(stats.maxUlp, std::uint64_t(maxUlp));
    const auto near = [](double got, long double want) {
        return std::fabs(got - double(want)) <= 1e-12 * std::fabs(double(want));
    };
    QVERIFY(near(*stats.meanAbs(), sumAbs / finite));
    QVERIFY(near(*stats.rms(), std::sqrt(sumDD / finite)));
    QVERIFY(near(*stats.rmsA(), std::sqrt(sumAA / finite)));
    QVERIFY(std::fabs(*stats.cosine() - double(sumAB / sumAA)) <= 1e-12);
}

void TestDiffStats::sixteenBitCodes_data()
{
    QTest::addColumn<QString>("type");
    QTest::addColumn<int>("partner");
    for (const char *type : {"float16", "bfloat16"}) {
        for (const int partner : {0x0000, 0x8000, 0x0001, 0x3C00, 0x7BFF, 0x7C00, 0x7C01, 0x7F7F,
                                  0x7F80, 0xFF80, 0x7FFF, 0xFFC0, 0x8001}) {
            const QByteArray row = QByteArray(type) + ' ' + QByteArray::number(partner, 16);
            QTest::newRow(row.constData()) << QString::fromLatin1(type) << partner;
        }
    }
}

/// Every code against one special partner: the values from the definition of the format.
void TestDiffStats::sixteenBitCodes()
{
    QFETCH(QString, type);
    QFETCH(int, partner);
    const auto valueOf = [&](int code) -> double {
        if (type == "bfloat16")
            return double(std::bit_cast<float>(std::uint32_t(code) << 16));
        const int exponent = code >> 10 & 31;
        const double fraction = (code & 1023) / 1024.0;
        double size =
            exponent ? std::ldexp(1 + fraction, exponent - 15) : std::ldexp(fraction, -14);
        if (exponent == 31)
            size = fraction != 0 ? std::nan("") : std::numeric_limits<double>::infinity();
        return code & 0x8000 ? -size : size;
    };
    const auto order = [](int code) { return code & 0x8000 ? -(code & 0x7FFF) : code; };
    std::vector<std::uint16_t> a(65536), b(65536, std::uint16_t(partner));
    Index finite = 0, nan = 0, inf = 0, payload = 0, zeros = 0, flips = 0;
    double maxAbs = 0;
    int maxUlp = 0;
    const double y = valueOf(partner);
    for (int code = 0; code < 65536; ++code) {
        a[std::size_t(code)] = std::uint16_t(code);
        const double x = valueOf(code);
        nan += std::isnan(x);
        inf += std::isinf(x);
        payload += code != partner && std::isnan(x) && std::isnan(y);
        zeros += code != partner && x == 0 && y == 0;
        if (!std::isfinite(x) || !std::isfinite(y))
            continue;
        ++finite;
        flips += (x > 0 && y < 0) || (x < 0 && y > 0);
        maxAbs = std::max(maxAbs, std::fabs(x - y));
        maxUlp = std::max(maxUlp, std::abs(order(code) - order(partner)));
    }
    const DiffStats stats = diff(type.toLatin1().constData(), bytesOf(a), bytesOf(b));
    QCOMPARE(stats.differentElements, Index(65535));
    QCOMPARE(stats.finitePairs, finite);
    QCOMPARE(stats.nanA, nan);
    QCOMPARE(stats.infA, inf);
    QCOMPARE(stats.nanPayloadOnly, payload);
    QCOMPARE(stats.signedZeroOnly, zeros);
    QCOMPARE(stats.signFlips, flips);
    QCOMPARE(stats.maxAbs, maxAbs);
    QCOMPARE(stats.maxUlp, std::uint64_t(maxUlp));
    QCOMPARE(stats.ulp.total(), finite);
}

QTEST_APPLESS_MAIN(TestDiffStats)
#include "tst_diff_stats.moc"
