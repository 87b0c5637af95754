// SPDX-License-Identifier: GPL-3.0-or-later
// The JSON of runs in memory, read back by Qt.
#include "tests/support/runs_in_memory.h"

#include <QJsonArray>
#include <QJsonObject>
#include <QTest>

using namespace forkpoint;
using namespace forkpoint::test;

class TestReportJson : public QObject
{
    Q_OBJECT

private slots:
    void report();
    void reportLeavesOutWhatDoesNotApply();
};

void TestReportJson::report()
{
    const auto a = std::make_shared<MemoryRun>("runs/a"), b = std::make_shared<MemoryRun>("runs/b");
    a->addStep(4, checkpoint(1)).addStep(8, checkpoint(1)).addStep(12, checkpoint(1));
    b->addStep(4, checkpoint(1)).addStep(8, checkpoint(1.5f, 0.2)).addStep(12, checkpoint(2));
    const RunComparison comparison = compare(a, b);
    const QJsonObject report = reportOf(comparison);
    QCOMPARE(report["schema"].toString(), "forkpoint.report/1");
    QCOMPARE(report["verdict"]["outcome"].toString(), "different");
    QCOMPARE(report["verdict"]["strength"].toString(), "bytes");
    QCOMPARE(report["verdict"]["coverage"]["tensors_total"].toInt(), 6);
    QCOMPARE(report["a"]["path"].toString(), "runs/a");
    QCOMPARE(report["step"].toInt(), 8);
    QCOMPARE(report["counts"]["matched"].toInt(), 2);
    QCOMPARE(report["counts"]["different"].toInt(), 2);
    QCOMPARE(report["by_class"]["weights"]["outcome"].toString(), "different");
    QCOMPARE(report["by_class"]["recipe"]["different"].toInt(), 1);
    const QJsonArray steps = report["steps"].toArray();
    QCOMPARE(steps.size(), 3);
    QCOMPARE(steps[0]["status"].toString(), "identical");
    QCOMPARE(steps[0]["proof"].toString(), "read");
    QCOMPARE(steps[0]["lane"].toString(), "checkpoint");
    QCOMPARE(steps[2]["status"].toString(), "different");
    QCOMPARE(steps[2]["different"].toInt(), 2);
    const QJsonObject first = report["first_divergence"].toObject();
    QCOMPARE(first["step"].toInt(), 8);
    QCOMPARE(first["name"].toString(), "optimizer.m");
    QCOMPARE(first["stage"].toString(), "optimizer");
    QCOMPARE(first["after"]["step"].toInt(), 4);
    QCOMPARE(first["proven_equal_before"].toBool(), true);
    const QJsonObject tensor = report["tensors"].toArray()[0].toObject();
    QCOMPARE(tensor["name"].toString(), "model.weight");
    QCOMPARE(tensor["different_elements"].toInt(), 1);
    QCOMPARE(tensor["first_index"].toInt(), 1);
    QCOMPARE(tensor["max_abs"].toDouble(), 0.5);
    QCOMPARE(tensor["max_ulp"].toInt(), 1 << 22);
    QCOMPARE(tensor["fingerprint_a"].toString().size(), 32);
    QVERIFY(!tensor.contains("histogram"));
    const QJsonObject value = report["values"].toArray()[0].toObject();
    QCOMPARE(value["name"].toString(), "args.lr");
    QCOMPARE(value["b"].toDouble(), 0.2);
    QCOMPARE(value["status"].toString(), "different");

    ReportOptions full;
    full.histograms = true;
    full.environment = {{"device", "a device"}};
    const QJsonObject more = reportOf(comparison, full);
    QCOMPARE(more["environment"]["device"].toString(), "a device");
    // |1 - 1.5| = 2^-1, and one pair without a difference.
    const QJsonObject histogram = more["tensors"]
                                      .toArray()[0]
                                      .toObject()["histogram"]
                                      .toObject()["abs_difference"]
                                      .toObject();
    QCOMPARE(histogram, (QJsonObject{{"zero", 1}, {"-1", 1}}));
}

void TestReportJson::reportLeavesOutWhatDoesNotApply()
{
    const QJsonObject report = reportOf(compare(single(checkpoint(1)), single(checkpoint(1))));
    for (const char *absent : {"step", "steps", "metrics", "environment", "chain", "ranks"})
        QVERIFY2(!report.contains(QLatin1String(absent)), absent);
    QVERIFY(report.contains("first_divergence") && report["first_divergence"].isNull());
    QCOMPARE(report["verdict"]["outcome"].toString(), "identical");
    QVERIFY(!report["verdict"].toObject().contains("reason"));
    const QJsonObject tensor = report["tensors"].toArray()[0].toObject();
    for (const char *absent : {"reason", "max_abs", "first_index", "compared_as", "histogram"})
        QVERIFY2(!tensor.contains(QLatin1String(absent)), absent);
    QCOMPARE(tensor["different_elements"].toInt(-1), 0);
    QCOMPARE(tensor["value_equal"].toBool(), true);
    const QJsonObject refused = reportOf(compare(single(nullptr), single(checkpoint(1))));
    QCOMPARE(refused["verdict"]["outcome"].toString(), "not-compared");
    QVERIFY(!refused["verdict"]["reason"].toString().isEmpty());
    QCOMPARE(refused["diagnostics"].toArray().size(), 1);
}

QTEST_APPLESS_MAIN(TestReportJson)
#include "tst_report_json.moc"
