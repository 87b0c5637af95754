// SPDX-License-Identifier: GPL-3.0-or-later
// What two recorded numbers or digests prove, and what may be concluded from them.
#include "model/traces/trace_evidence.h"
#include "model/traces/trace_rules.h"
#include "tests/support/fake_trace.h"

#include <QtTest>

using namespace forkpoint;
using namespace forkpoint::test;

class TraceEvidenceTest : public QObject
{
    Q_OBJECT

private slots:
    void numbersAreComparedAsNumbers_data()
    {
        QTest::addColumn<int>("kind");
        QTest::addColumn<QString>("a");
        QTest::addColumn<QString>("b");
        QTest::addColumn<int>("expected");
        const auto row = [](const char *name, DigestKind kind, const char *a, const char *b,
                            Evidence expected) {
            QTest::newRow(name) << int(kind) << a << b << int(expected);
        };
        using enum DigestKind;
        using enum Evidence;
        row("norm", Norm, "15.0", "nan", Different);
        row("norm, other side", Norm, "nan", "15.0", Different);
        row("norm, infinity", Norm, "inf", "nan", Different);
        row("norm, infinities", Norm, "inf", "inf", Equal);
        row("norm, both", Norm, "NaN", "-nan", Nothing);
        row("statistic", Norm, "Max 2, Norm 3.5", "Max 2, Norm \"nan\"", Different);
        row("statistics, both", Norm, "Max nan, Norm nan", "Max nan, Norm nan", Nothing);
        row("statistics, one of two", Norm, "Max 2, Norm nan", "Max 3, Norm nan", Different);
        row("statistics, one more", Norm, "Max 2", "Max 2, Norm 3", Different);
        row("printed", Printed, "nan", "2.0", Different);
        row("printed, infinity", Printed, "nan", "inf", Different);
        row("printed, both", Printed, "nan", "NaN", Nothing);
        // By hand: 0.12 stands for [0.115, 0.125], which holds all of [0.12335, 0.12345].
        row("interval", Printed, "0.12", "0.1234", Equal);
        row("beside the interval", Printed, "0.12", "0.1301", Different);
        row("trailing zero", Printed, "0.1250", "0.125", Equal);
        row("exponent", Printed, "1e-3", "0.001", Equal);
        row("capital", Printed, "1.5e-05", "1.5E-5", Equal);
        row("whole", Printed, "1", "1.0", Equal);
        row("same places", Printed, "0.1250", "0.1251", Different);
        row("words", Printed, "inf", "2.0", Different);
        row("value", Value, "1", "1.0", Equal);
        row("value, unlike", Value, "1", "1.5", Different);
        row("value, zeros", Value, "0.0", "-0.0", Different);
        row("value, beyond float64", Value, "18446744073709551615", "18446744073709551614",
            Different);
        row("value, lists", Value, "[1,2]", "[1,3]", Different);
    }

    void numbersAreComparedAsNumbers()
    {
        QFETCH(int, kind);
        QFETCH(QString, a);
        QFETCH(QString, b);
        QFETCH(int, expected);
        const auto one = [&](const QString &value) {
            return std::vector{seen(value.toStdString(), DigestKind(kind))};
        };
        QCOMPARE(int(compareObservations(one(a), one(b)).evidence), expected);
    }

    /// Two elements of the input of a matrix product are swapped: the norm of the input stays, as does
    /// the XOR of its elements, and the product changes. Neither makes the product guilty beyond doubt.
    void inputsThatAgreeByNormMakeNoOrigin()
    {
        const auto classOf = [](DigestKind kind, const char *input) {
            const auto before = call("aten.mm.default", 0, {seen(input, kind)}, {seen("1", kind)});
            const auto after = call("aten.mm.default", 0, {seen(input, kind)}, {seen("2", kind)});
            const RecordEvidence evidence = compareRecords(before, after);
            return classify(before, evidence.inputs, evidence.outputs);
        };
        const std::string norm = "15.0", digest(64, 'a'), lanes(16, 'a');
        for (const DigestKind kind : {DigestKind::Norm, DigestKind::Printed}) {
            const Classification found = classOf(kind, norm.c_str());
            QVERIFY(found.divergenceClass == DivergenceClass::Unclassified);
            QVERIFY(found.why.find(" alone, which") != std::string::npos);
            QVERIFY(!found.probe.empty());
        }
        QVERIFY(classOf(DigestKind::Sampled, digest.c_str()).divergenceClass
                == DivergenceClass::Unclassified);
        const Classification byXor = classOf(DigestKind::XorLanes, lanes.c_str());
        QVERIFY(byXor.divergenceClass == DivergenceClass::Origin);
        QVERIFY(byXor.why.find("blind to order") != std::string::npos);
        const Classification bySha = classOf(DigestKind::Sha256, digest.c_str());
        QVERIFY(bySha.divergenceClass == DivergenceClass::Origin);
        QCOMPARE(bySha.why, std::string("equal inputs gave other outputs"));
    }

    /// A dropout draws from a generator, a linear layer has weights: equal inputs of a module are not
    /// all that enters it, and it is no boundary without inputs either.
    void inputsOfAModuleAreNotAllOfThem()
    {
        const std::string digest(64, 'a');
        TraceRecord before = call("drop", 0, {seen(digest, DigestKind::Sha256)},
                                  {seen(std::string(64, 'b'), DigestKind::Sha256)});
        before.role = RecordRole::Tensor;
        TraceRecord after = before;
        after.outputs = {seen(std::string(64, 'c'), DigestKind::Sha256)};
        const auto classOf = [](const TraceRecord &a, const TraceRecord &b) {
            const RecordEvidence evidence = compareRecords(a, b);
            return classify(a, evidence.inputs, evidence.outputs);
        };
        const Classification found = classOf(before, after);
        QVERIFY(found.divergenceClass == DivergenceClass::Unclassified);
        QVERIFY(found.why.find("generator") != std::string::npos && !found.probe.empty());
        // Of inputs that leave open whether they are equal nothing is said but that.
        const auto asks = [&](std::vector<Observation> inputs, std::string_view why) {
            TraceRecord a = before, b = after;
            a.inputs = b.inputs = std::move(inputs);
            const Classification open = classOf(a, b);
            QVERIFY(open.divergenceClass == DivergenceClass::Unclassified);
            QVERIFY2(open.why.find(why) != std::string::npos, open.why.c_str());
            QVERIFY2(open.why.find("no difference") == std::string::npos, open.why.c_str());
            QVERIFY2(open.probe.find("input") != std::string::npos, open.probe.c_str());
        };
        asks({seen(digest, DigestKind::Sha256), absent(Absence::Null)}, "not every input");
        asks({seen("15.0", DigestKind::Norm)}, "by norm alone");
        asks({seen(digest, DigestKind::Sha256), seen("5", DigestKind::XorLanes, "int8")},
             "only 8 effective bits");
        // Inputs of which nothing was recorded are inputs all the same: it is no bare value.
        asks({absent(Absence::Null), absent(Absence::Null)}, "none of its inputs has a value");
        before.inputs.clear();
        after.inputs.clear();
        QCOMPARE(classOf(before, after).why,
                 std::string("a value at a boundary has no inputs to judge by"));
    }
};

QTEST_APPLESS_MAIN(TraceEvidenceTest)
#include "tst_trace_evidence.moc"
