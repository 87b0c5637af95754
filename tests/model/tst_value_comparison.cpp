// SPDX-License-Identifier: GPL-3.0-or-later
// Values of two checkpoints: what is equal in meaning, and what within a tolerance.
#include "model/compare/value_comparison.h"
#include "tests/support/checkpoints_in_memory.h"

#include <QTest>

#include <limits>

using namespace forkpoint;
using namespace forkpoint::test;

namespace {

constexpr float Inf = std::numeric_limits<float>::infinity();

ItemStatus statusOf(const Value &a, const Value &b, const Tolerance &tolerance = {},
                    bool strict = false, bool *within = nullptr)
{
    const auto left = source(), right = source();
    left->addValue("v", a);
    right->addValue("v", b);
    left->finish();
    right->finish();
    ValuePair pair;
    pair.a = pair.b = 0;
    const auto rows = compareValues(left->catalog(), right->catalog(), {pair},
                                    {left->catalog(), right->catalog()}, strict, tolerance);
    if (within)
        *within = rows[0].withinTolerance;
    return rows[0].status;
}

bool within(const Value &a, const Value &b, const Tolerance &tolerance)
{
    bool forth = false, back = false;
    statusOf(a, b, tolerance, false, &forth);
    statusOf(b, a, tolerance, false, &back);
    if (forth != back)
        qFatal("a tolerance is symmetric");
    return forth;
}

} // namespace

class TestValueComparison : public QObject
{
    Q_OBJECT

private slots:
    void valuesOfEqualMeaning();
    void valuesWithinTolerance();
};

void TestValueComparison::valuesOfEqualMeaning()
{
    using enum ItemStatus;
    const auto same = [](const Value &a, const Value &b, bool strict = false) {
        const bool forth = statusOf(a, b, {}, strict) == Identical;
        if (forth != (statusOf(b, a, {}, strict) == Identical))
            qFatal("not symmetric");
        return forth;
    };
    QVERIFY(same(Value::integer(1), Value::real(1.0)));
    QVERIFY(!same(Value::integer(1), Value::real(1.0), true));
    QVERIFY(!same(Value::integer(1), Value::real(1.5)));
    QVERIFY(!same(Value::boolean(true), Value::integer(1)));
    QVERIFY(!same(Value::none(), Value::text("None")));
    // A double cannot hold 2^53 + 1; that it rounds there is no equality.
    QVERIFY(!same(Value::integer((1ll << 53) + 1), Value::real(0x1p53)));
    QVERIFY(same(Value::integer(1ll << 53), Value::real(0x1p53)));
    QVERIFY(!same(Value::real(0.0), Value::real(-0.0)));
    QVERIFY(same(Value::real(std::nan("")), Value::real(std::nan(""))));
    QVERIFY(same(Value::empty("[]"), Value::empty("()")));
    QVERIFY(!same(Value::empty("[]"), Value::empty("()"), true));
    QVERIFY(!same(Value::empty("[]"), Value::empty("{}")));
    QVERIFY(!same(Value::text("[]"), Value::empty("[]")));

    const auto a = source(), b = source();
    a->addValue("only", Value::none());
    a->finish();
    b->finish();
    const CheckpointComparison comparison = compare(a, b);
    QVERIFY(comparison.values[0].status == OnlyInA);
    QVERIFY(comparison.values[0].valueA && !comparison.values[0].valueB);
}

void TestValueComparison::valuesWithinTolerance()
{
    Tolerance absolute, relative, ulp;
    absolute.atol = 0.5;
    relative.rtol = 0.1;
    ulp.maxUlp = 2;
    QVERIFY(within(Value::real(1.0), Value::real(1.5), absolute));
    QVERIFY(!within(Value::real(1.0), Value::real(1.6), absolute));
    QVERIFY(within(Value::real(100.0), Value::real(110.0), relative)); // of the larger
    QVERIFY(!within(Value::real(100.0), Value::real(112.0), relative));
    QVERIFY(within(Value::real(0.0), Value::real(-0.0), absolute));
    QVERIFY(within(Value::integer(1), Value::real(1.25), absolute));
    // Counters, flags and texts are exact.
    QVERIFY(!within(Value::integer(100), Value::integer(101), relative));
    QVERIFY(!within(Value::boolean(true), Value::real(1.1), absolute));
    QVERIFY(!within(Value::text("1.0"), Value::text("1.1"), absolute));
    // Infinity is within nothing, not even its own tenth.
    const double inf = std::numeric_limits<double>::infinity();
    for (const Tolerance &tolerance : {absolute, relative, ulp}) {
        QVERIFY(!within(Value::real(inf), Value::real(1.0), tolerance));
        QVERIFY(!within(Value::real(inf), Value::real(-inf), tolerance));
        QVERIFY(!within(Value::real(inf), Value::real(std::nan("")), tolerance));
        QVERIFY(!within(Value::real(1.0), Value::real(std::nan("")), tolerance));
        QVERIFY(within(Value::real(std::nan("1")), Value::real(std::nan("2")), tolerance));
    }
    const double next = std::nextafter(0.001, 1.0),
                 third = std::nextafter(std::nextafter(next, 1), 1);
    QVERIFY(within(Value::real(0.001), Value::real(next), ulp));
    QVERIFY(!within(Value::real(0.001), Value::real(third), ulp));
    const double tiny = std::numeric_limits<double>::denorm_min();
    QVERIFY(within(Value::real(tiny), Value::real(-tiny), ulp));
    QVERIFY(!within(Value::real(2 * tiny), Value::real(-tiny), ulp));
    QVERIFY(!within(Value::real(1.0), Value::real(next), {}));
}

QTEST_APPLESS_MAIN(TestValueComparison)
#include "tst_value_comparison.moc"
