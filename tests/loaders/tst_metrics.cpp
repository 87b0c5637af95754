// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/metrics/metrics_csv.h"
#include "loaders/metrics/metrics_jsonl.h"
#include "loaders/storage/line_reader.h"

#include <QtTest>

#include <bit>
#include <cmath>

using namespace forkpoint;

namespace {

MemorySource sourceOf(std::string_view text)
{
    const ByteView bytes = asBytes(text);
    return {"metrics", {bytes.begin(), bytes.end()}};
}

struct Read
{
    std::vector<MetricSeries> series;
    Diagnostics diagnostics;
    bool ok = false;

    const MetricSeries *find(std::string_view name) const
    {
        for (const MetricSeries &one : series) {
            if (one.name == name)
                return &one;
        }
        return nullptr;
    }
    bool says(std::string_view code, std::string_view place) const
    {
        return std::any_of(diagnostics.begin(), diagnostics.end(),
                           [&](const Diagnostic &d) { return d.code == code && d.place == place; });
    }
};

using Reader = Status (*)(const ByteSource &, MetricsTable &, std::stop_token);

Read readWith(Reader reader, std::string_view text, std::size_t maxPoints = 1000)
{
    const MemorySource source = sourceOf(text);
    MetricsTable table("metrics", maxPoints);
    Read result;
    result.ok = reader(source, table, {}).ok();
    result.series = table.takeSeries();
    result.diagnostics = table.takeDiagnostics();
    return result;
}

} // namespace

class MetricsTest : public QObject
{
    Q_OBJECT

private slots:
    void jsonKeepsEveryBit()
    {
        // Bits by Python's struct.pack('<d', float(text)).
        const Read read = readWith(readJsonlMetrics,
                                   "{\"step\": 1, \"loss\": 5.035615921020508, \"lr\": 0.001}\n"
                                   "{\"step\": 2, \"loss\": 1e-323, \"tokens\": 256}\n");
        QVERIFY(read.ok);
        QCOMPARE(read.series.size(), std::size_t(3));
        const MetricSeries *loss = read.find("loss");
        QVERIFY(loss && loss->bitsKnown && loss->points.size() == 2);
        QCOMPARE(std::bit_cast<quint64>(loss->points[0].value), quint64(0x4014247880000000));
        QCOMPARE(std::bit_cast<quint64>(loss->points[1].value), quint64(2));
        QCOMPARE(read.find("tokens")->points[0].step, 2);
        QVERIFY(read.diagnostics.empty());
    }

    void stepsUnderOtherNames_data()
    {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<bool>("csv");
        QTest::addColumn<qint64>("step");
        const auto row = [](const char *name, QByteArray text, qint64 step, bool csv = false) {
            QTest::newRow(name) << text << csv << step;
        };
        row("float", "{\"step\": 3.0, \"loss\": 1}\n", 3);
        row("Step", "{\"Step\": 4, \"loss\": 1}\n", 4);
        row("global_step", "{\"global_step\": 5.0, \"loss\": 1}\n", 5);
        row("_step", "{\"loss\": 1, \"_step\": 6}\n", 6);
        row("the likelier name", "{\"Step\": 1, \"iter\": 2, \"step\": 7, \"loss\": 1}\n", 7);
        row("2^53", "{\"step\": 9007199254740992.0, \"loss\": 1}\n", 9007199254740992);
        row("an integer beyond", "{\"step\": 9007199254740993, \"loss\": 1}\n", 9007199254740993);
        row("no whole number", "{\"step\": 3.5, \"loss\": 1}\n", -1);
        row("a float beyond 2^53", "{\"step\": 1e16, \"loss\": 1}\n", -1);
        row("a truth", "{\"step\": true, \"loss\": 1}\n", -1);
        row("TensorBoard's table", "Wall time,Step,loss\n1.5,8,1\n", 8, true);
        row("pandas", "global_step,loss\n9.0,1\n", 9, true);
    }

    void stepsUnderOtherNames()
    {
        QFETCH(QByteArray, text);
        QFETCH(bool, csv);
        QFETCH(qint64, step);
        const Read read = readWith(csv ? readCsvMetrics : readJsonlMetrics, text.toStdString());
        const MetricSeries *loss = read.find("loss");
        QCOMPARE(loss != nullptr, step >= 0);
        if (loss)
            QCOMPARE(qint64(loss->points.front().step), step);
    }

    void jsonOddities()
    {
        const Read read =
            readWith(readJsonlMetrics,
                     "{\"iteration\": 3, \"loss\": NaN, \"text\": \"a NaN \\\" b\"}\n"
                     "\r\n"
                     "{\"iteration\": 1, \"loss\": -Infinity, \"eval\": {\"acc\": 2}}\r\n"
                     "no JSON\n"
                     "{\"loss\": 4}\n"
                     "{\"iteration\": 1, \"loss\": 7.0, \"list\": [1, {\"x\": 2}]}\n"
                     "{\"iteration\": 4, \"lo");
        QVERIFY(read.ok);
        const MetricSeries *loss = read.find("loss");
        QVERIFY(loss && loss->points.size() == 2);
        QCOMPARE(loss->points[0].step, 1);
        QCOMPARE(loss->points[0].value, 7.0); // the later line counts
        QVERIFY(std::isnan(loss->points[1].value));
        QCOMPARE(read.find("eval.acc")->points[0].value, 2.0);
        QCOMPARE(read.find("list.0")->points[0].value, 1.0);
        QCOMPARE(read.find("list.1.x")->points[0].value, 2.0);
        QCOMPARE(read.series.size(), std::size_t(4));
        QVERIFY(read.says("bad-line", "line 4"));
        QVERIFY(read.says("repeated-step", ""));
        QVERIFY(read.says("torn-line", "line 7"));
        const auto bad = std::find_if(read.diagnostics.begin(), read.diagnostics.end(),
                                      [](const Diagnostic &d) { return d.code == "bad-line"; });
        QVERIFY(bad->text.find("1 more") != std::string::npos);
    }

    void jsonBombs()
    {
        const std::string deep = "{\"step\": 1, \"x\": " + std::string(100000, '[');
        QVERIFY(readWith(readJsonlMetrics, deep + "\n").says("bad-line", "line 1"));
        const std::string nested = "{\"step\": 1, \"x\": " + std::string(200, '{');
        QVERIFY(readWith(readJsonlMetrics, nested + "\n").series.empty());
    }

    void csvWithGaps()
    {
        const Read read = readWith(readCsvMetrics,
                                   "epoch,step,\"train,loss\",val_loss\r\n"
                                   "0,2,0.1,\r\n"
                                   "0,1.0,4.5,nan\r\n"
                                   "0,x,1,1\r\n"
                                   "0,3,\"0.25\",inf\r\n"
                                   "0,4");
        QVERIFY(read.ok);
        const MetricSeries *loss = read.find("train,loss");
        QVERIFY(loss && loss->points.size() == 3);
        QCOMPARE(loss->points[0].step, 1);
        QCOMPARE(std::bit_cast<quint64>(loss->points[1].value), quint64(0x3fb999999999999a));
        QCOMPARE(loss->points[2].value, 0.25);
        QCOMPARE(read.find("val_loss")->points.size(), std::size_t(2));
        QVERIFY(read.says("bad-line", "line 4"));
        QVERIFY(read.says("torn-line", "line 6"));
    }

    void csvNeedsAStep()
    {
        QVERIFY(!readWith(readCsvMetrics, "a,b\n1,2\n").ok);
        QVERIFY(!isCsvMetricsHeader("step"));
        QVERIFY(isCsvMetricsHeader("\xef\xbb\xbfstep,loss"));
        QVERIFY(isJsonlMetricsLine("{\"global_step\": 1, \"loss\": 2}"));
        QVERIFY(!isJsonlMetricsLine("{\"step\": 1.5, \"loss\": 2}"));
        QVERIFY(!isJsonlMetricsLine("[1]"));
    }

    void pointsAreCapped()
    {
        std::string text;
        for (int i = 0; i < 50; ++i)
            text += "{\"step\": " + std::to_string(i) + ", \"loss\": 1}\n";
        const Read read = readWith(readJsonlMetrics, text, 20);
        QCOMPARE(read.find("loss")->points.size(), std::size_t(20));
        QVERIFY(read.says("limit", ""));
    }

    void linesOfAnyLength()
    {
        const std::string text = "ab\n" + std::string(300000, 'x') + "\n" + "last";
        const MemorySource source = sourceOf(text);
        LineReader lines(source, 100000);
        const auto first = lines.next();
        QVERIFY(first.ok() && (*first)->text == "ab");
        const auto second = lines.next();
        QVERIFY(second.ok() && (*second)->tooLong && (*second)->number == 2);
        const auto third = lines.next();
        QVERIFY(third.ok() && (*third)->text == "last" && !(*third)->ended);
        QVERIFY(!lines.next().value());
    }
};

QTEST_APPLESS_MAIN(MetricsTest)
#include "tst_metrics.moc"
