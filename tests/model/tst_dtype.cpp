// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/compute_backend.h"
#include "model/dtype.h"

#include <QTest>

#include <bit>
#include <set>

using namespace forkpoint;

namespace {

DType named(const char *name)
{
    return *dtypeByName(name);
}

} // namespace

class TestDType : public QObject
{
    Q_OBJECT

private slots:
    void namesOfTheContract();
    void widths();
    void embedding();
    void opaqueTypes();
    void units();
};

void TestDType::namesOfTheContract()
{
    for (const char *name : {"float64",
                             "float32",
                             "float16",
                             "bfloat16",
                             "float8_e4m3fn",
                             "float8_e5m2",
                             "float8_e4m3fnuz",
                             "float8_e5m2fnuz",
                             "float8_e8m0fnu",
                             "float8_e3m4",
                             "float8_e4m3b11fnuz",
                             "float6_e2m3",
                             "float6_e3m2",
                             "float4_e2m1fn_x2",
                             "int8",
                             "int16",
                             "int32",
                             "int64",
                             "uint8",
                             "uint16",
                             "uint32",
                             "uint64",
                             "int4",
                             "int2",
                             "uint4",
                             "uint2",
                             "bool",
                             "complex32",
                             "complex64",
                             "complex128",
                             "bcomplex32",
                             "bits8"})
        QVERIFY2(dtypeByName(name), name);
    QVERIFY(!dtypeByName("float"));
    std::set<std::string> names;
    for (const DType &dtype : allDTypes())
        names.insert(dtype.name);
    QCOMPARE(names.size(), allDTypes().size());
}

void TestDType::widths()
{
    QCOMPARE(named("float4_e2m1fn_x2").positionBits(), std::uint64_t(8));
    QCOMPARE(named("float4_e2m1fn").positionBits(), std::uint64_t(4));
    QCOMPARE(named("float6_e3m2").bits, 6U);
    QCOMPARE(named("complex128").bits, 128U);
    QCOMPARE(named("float8_e8m0fnu").bits, 8U);
    QCOMPARE(named("quint2x4").positionBits(), std::uint64_t(8));
}

void TestDType::embedding()
{
    const std::set<std::pair<std::string, std::string>> yes{{"bfloat16", "float32"},
                                                            {"float16", "float32"},
                                                            {"float32", "float64"},
                                                            {"float8_e4m3fn", "bfloat16"},
                                                            {"float8_e4m3fn", "float16"},
                                                            {"float8_e5m2", "float16"},
                                                            {"float8_e5m2fnuz", "bfloat16"},
                                                            {"float8_e8m0fnu", "bfloat16"},
                                                            {"float4_e2m1fn_x2", "float8_e4m3fn"},
                                                            {"float6_e2m3", "float8_e4m3fn"},
                                                            {"complex64", "complex128"},
                                                            {"bcomplex32", "complex64"},
                                                            {"int8", "int32"},
                                                            {"uint8", "int16"},
                                                            {"uint8", "uint8"},
                                                            {"int4", "int8"}};
    const std::set<std::pair<std::string, std::string>> no{{"float32", "bfloat16"},
                                                           {"float16", "bfloat16"},
                                                           {"bfloat16", "float16"},
                                                           {"float8_e8m0fnu", "float16"},
                                                           {"float8_e4m3fn", "float8_e5m2"},
                                                           {"float8_e4m3fn", "float8_e4m3"},
                                                           {"int8", "uint16"},
                                                           {"uint32", "int32"},
                                                           {"int32", "float64"},
                                                           {"float32", "complex64"},
                                                           {"qint8", "int32"},
                                                           {"bits8", "uint8"},
                                                           {"float8_e4m3fnuz", "float4_e2m1fn"},
                                                           {"float8_e4m3fn", "float8_e4m3fnuz"}};
    for (const auto &[narrow, wide] : yes)
        QVERIFY2(embedsExactly(named(narrow.c_str()), named(wide.c_str())), narrow.c_str());
    for (const auto &[narrow, wide] : no)
        QVERIFY2(!embedsExactly(named(narrow.c_str()), named(wide.c_str())), narrow.c_str());
}

void TestDType::opaqueTypes()
{
    QCOMPARE(opaqueDType(2).name, std::string("void16"));
    QCOMPARE(opaqueDType(2).bits, 16U);
    QCOMPARE(namedOpaqueDType("|S5", 5).bits, 40U);
}

void TestDType::units()
{
    for (const DType &dtype : allDTypes()) {
        const Index elements = unitElements(dtype);
        const std::uint64_t bytes = elements * dtype.bits / 8;
        QVERIFY(std::has_single_bit(elements));
        QCOMPARE(bytes % LeafBytes, std::uint64_t(0));
        QVERIFY(bytes > (4U << 20) && bytes <= (8U << 20));
    }
    QCOMPARE(unitElements(named("complex64")), Index(1) << 20);
    QVERIFY(unitElements(opaqueDType(100000)) * 100000 <= (8U << 20));
}

QTEST_APPLESS_MAIN(TestDType)
#include "tst_dtype.moc"
