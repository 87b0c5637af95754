// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/element.h"
#include "model/float_codec.h"

#include <QFile>
#include <QTest>

#include <bit>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

using namespace forkpoint;
using nlohmann::json;

namespace {

DType named(std::string_view name)
{
    return *dtypeByName(name);
}

template <class T>
std::vector<std::byte> bytesOf(const std::vector<T> &values)
{
    const ByteView view = std::as_bytes(std::span(values));
    return {view.begin(), view.end()};
}

ElementRow row(const char *type, const std::vector<std::byte> &a, const std::vector<std::byte> &b)
{
    const DType dtype = named(type);
    return makeElementRow(dtype, 0, elementBits(dtype, a, 0), elementBits(dtype, b, 0));
}

bool sameNumber(double a, double b)
{
    return (std::isnan(a) && std::isnan(b))
        || std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

} // namespace

class TestElement : public QObject
{
    Q_OBJECT

private slots:
    void everyCodeOfTheSmallFormats();
    void everyHalfCode();
    void packedElements();
    void bitsAsText();
    void rows();
    void integerDifferences();
    void widening();
    void rounding();
    void roundingToBfloat16();
};

/// Against ml_dtypes (values.json), decoding and encoding.
void TestElement::everyCodeOfTheSmallFormats()
{
    QFile file(QStringLiteral(FORKPOINT_TEST_DATA "/stats/values.json"));
    QVERIFY(file.open(QIODevice::ReadOnly));
    const json table = json::parse(file.readAll().toStdString());
    QCOMPARE(table.size(), std::size_t(11));
    for (const auto &[name, values] : table.items()) {
        const DType dtype = named(name);
        for (std::size_t code = 0; code < values.size(); ++code) {
            const double want = std::strtod(values[code].get<std::string>().c_str(), nullptr);
            const double got = decodeFloat(dtype.layout, code);
            QVERIFY2(sameNumber(got, want), (name + " " + std::to_string(code)).c_str());
            const std::uint64_t back = encodeFloat(dtype.layout, want);
            QVERIFY2(back == code || std::isnan(want), (name + " back").c_str());
            QVERIFY(!std::isnan(want) || isNanCode(dtype.layout, back));
        }
    }
}

/// float16 from its definition, bfloat16 as the upper half of a float32.
void TestElement::everyHalfCode()
{
    const FloatLayout half = named("float16").layout;
    const FloatLayout brain = named("bfloat16").layout;
    for (std::uint32_t code = 0; code < 65536; ++code) {
        const int exponent = int(code >> 10 & 31);
        const double fraction = double(code & 1023) / 1024;
        double want =
            exponent == 0 ? std::ldexp(fraction, -14) : std::ldexp(1 + fraction, exponent - 15);
        if (exponent == 31)
            want = fraction == 0 ? std::numeric_limits<double>::infinity() : std::nan("");
        QVERIFY(sameNumber(decodeFloat(half, code), code & 0x8000 ? -want : want));
        QVERIFY(sameNumber(decodeFloat(brain, code), double(std::bit_cast<float>(code << 16))));
    }
}

void TestElement::packedElements()
{
    const auto bytes = bytesOf<std::uint8_t>({0x21, 0x8F, 0x03});
    QCOMPARE(std::get<std::int64_t>(decodeElement(named("int4"), bytes, 2).real), -1);
    QCOMPARE(std::get<std::uint64_t>(decodeElement(named("uint4"), bytes, 1).real), 2U);
    QCOMPARE(std::get<std::uint64_t>(decodeElement(named("uint2"), bytes, 2).real), 2U);
    QCOMPARE(std::get<double>(decodeElement(named("float4_e2m1fn_x2"), bytes, 2).real), -6.0);
    // Six bits each: 0x21 | 3 of 0x8F..., the second is (0x038F21 >> 6) & 63 = 0x3C.
    QCOMPARE(elementBits(named("float6_e3m2"), bytes, 1), bytesOf<std::uint8_t>({0x3C}));
    QVERIFY(std::holds_alternative<std::monostate>(decodeElement(opaqueDType(3), bytes, 0).real));
    QCOMPARE(elementBits(named("int32"), {}, 5).size(), std::size_t(4)); // beyond the end
}

void TestElement::bitsAsText()
{
    const DType f32 = named("float32");
    QCOMPARE(bitsToHex(f32, bytesOf<float>({1.0F})), std::string("3f800000"));
    QCOMPARE(bitsToBinary(f32, bytesOf<float>({1.0F})),
             std::string("0 01111111 00000000000000000000000"));
    QCOMPARE(bitsToHex(named("complex64"), bytesOf<float>({1.0F, -2.0F})),
             std::string("3f800000_c0000000"));
    QCOMPARE(bitsToBinary(named("float8_e8m0fnu"), bytesOf<std::uint8_t>({0x7F})),
             std::string("01111111"));
    QCOMPARE(bitsToHex(named("int4"), bytesOf<std::uint8_t>({0x0F})), std::string("f"));
    QCOMPARE(bitsToBinary(named("int4"), bytesOf<std::uint8_t>({0x06})), std::string("0110"));
}

void TestElement::rows()
{
    const ElementRow near =
        row("float32", bytesOf<float>({1.0F}), bytesOf<float>({std::nextafter(1.0F, 2.0F)}));
    QVERIFY(near.differs);
    QCOMPARE(*near.ulp, std::uint64_t(1));
    QCOMPARE(std::get<double>(near.difference.real), std::ldexp(1.0, -23));
    const ElementRow zeros = row("float32", bytesOf<float>({0.0F}), bytesOf<float>({-0.0F}));
    QVERIFY(zeros.differs);
    QCOMPARE(*zeros.ulp, std::uint64_t(0));
    const float inf = std::numeric_limits<float>::infinity();
    QVERIFY(!row("float32", bytesOf<float>({inf}), bytesOf<float>({1.0F})).ulp);
    const ElementRow complex =
        row("complex64", bytesOf<float>({1.0F, 2.0F}), bytesOf<float>({1.0F, 3.0F}));
    QCOMPARE(*complex.ulp, std::uint64_t(1U << 22));
    QCOMPARE(std::get<double>(complex.difference.imaginary), 1.0);
}

void TestElement::integerDifferences()
{
    using Limits = std::numeric_limits<std::int64_t>;
    const auto difference = [](const char *type, auto a, auto b) {
        return row(type, bytesOf<decltype(a)>({a}), bytesOf<decltype(b)>({b})).difference.real;
    };
    QCOMPARE(std::get<std::int64_t>(difference("int64", std::int64_t(5), std::int64_t(3))), -2);
    QCOMPARE(std::get<std::uint64_t>(difference("int64", Limits::min(), Limits::max())),
             std::numeric_limits<std::uint64_t>::max());
    QCOMPARE(std::get<double>(difference("int64", Limits::max(), Limits::min())),
             -std::ldexp(1.0, 64));
    QCOMPARE(std::get<std::int64_t>(difference("int64", std::int64_t(0), Limits::min())),
             Limits::min());
    QCOMPARE(std::get<std::int64_t>(difference("bool", std::uint8_t(1), std::uint8_t(0))), -1);
}

/// Every code of every 8- and 16-bit float in every format it embeds in keeps its value.
void TestElement::widening()
{
    int pairs = 0;
    for (const DType &narrow : allDTypes()) {
        if (narrow.kind != ElementKind::Float || narrow.bits > 16)
            continue;
        for (const DType &wide : allDTypes()) {
            if (wide.kind != ElementKind::Float || !embedsExactly(narrow, wide))
                continue;
            ++pairs;
            for (std::uint64_t code = 0; code < std::uint64_t(1) << narrow.bits; ++code) {
                const std::uint64_t widened = widenFloat(narrow.layout, wide.layout, code);
                QVERIFY(sameNumber(decodeFloat(wide.layout, widened),
                                   decodeFloat(narrow.layout, code)));
            }
        }
    }
    QVERIFY(pairs > 30);
    std::vector<std::byte> out;
    widenElements(named("bfloat16"), named("float32"), bytesOf<std::uint16_t>({0x7FC1, 0x8000}),
                  out);
    QCOMPARE(out, bytesOf<std::uint32_t>({0x7FC10000U, 0x80000000U}));
    widenElements(named("int8"), named("int32"), bytesOf<std::int8_t>({-3, 7}), out);
    QCOMPARE(out, bytesOf<std::int32_t>({-3, 7}));
    widenElements(named("float4_e2m1fn_x2"), named("float32"), bytesOf<std::uint8_t>({0xF1}), out);
    QCOMPARE(out, bytesOf<float>({0.5F, -6.0F}));
}

/// The nearest code by trying all codes, ties to the even one.
void TestElement::rounding()
{
    for (const char *type : {"float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float6_e3m2"}) {
        const DType dtype = named(type);
        for (int step = 0; step < 4000; ++step) {
            const double value = std::ldexp(1.0 + step % 64 / 64.0, step / 64 - 20);
            double best = std::numeric_limits<double>::infinity();
            std::uint64_t nearest = 0;
            for (std::uint64_t code = 0; code < std::uint64_t(1) << (dtype.bits - 1); ++code) {
                const double distance = std::fabs(decodeFloat(dtype.layout, code) - value);
                if (distance < best || (distance == best && code % 2 == 0)) {
                    best = distance;
                    nearest = code;
                }
            }
            const std::uint64_t got = encodeFloat(dtype.layout, value);
            const double decoded = decodeFloat(dtype.layout, got);
            QVERIFY2(got == nearest || !std::isfinite(decoded), type);
        }
    }
    const FloatLayout e4m3 = named("float8_e4m3fn").layout;
    QCOMPARE(encodeFloat(e4m3, 464.0), std::uint64_t(0x7E)); // halfway to 480, to the even 448
    QCOMPARE(encodeFloat(e4m3, 465.0), std::uint64_t(0x7F));
    QCOMPARE(encodeFloat(named("float8_e5m2").layout, 1e9), std::uint64_t(0x7C));
    QCOMPARE(encodeFloat(named("float4_e2m1fn").layout, -100.0), std::uint64_t(0xF));
}

void TestElement::roundingToBfloat16()
{
    const DType f32 = named("float32"), bf16 = named("bfloat16");
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const float most = std::numeric_limits<float>::max();
    // 1 + 2^-8 is halfway between 0x3F80 and 0x3F81, 1 + 3 * 2^-8 between 0x3F81 and 0x3F82.
    const auto wide =
        bytesOf<float>({1.0F + 0.00390625F, 1.0F + 3 * 0.00390625F, -0.0F, nan, most});
    QVERIFY(roundsTo(f32, bf16, wide,
                     bytesOf<std::uint16_t>({0x3F80, 0x3F82, 0x8000, 0xFFFF, 0x7F80})));
    QVERIFY(!roundsTo(f32, bf16, wide,
                      bytesOf<std::uint16_t>({0x3F81, 0x3F82, 0x8000, 0x7FC0, 0x7F80})));
    QVERIFY(!roundsTo(f32, bf16, wide, bytesOf<std::uint16_t>({0x3F80})));
}

QTEST_APPLESS_MAIN(TestElement)
#include "tst_element.moc"
