// SPDX-License-Identifier: GPL-3.0-or-later
// What of a log does not count or is not compared is told, and costs no more than the log is long.
#include "loaders/metrics/metrics_console.h"
#include "loaders/metrics/metrics_csv.h"
#include "loaders/metrics/metrics_files.h"
#include "loaders/metrics/metrics_jsonl.h"
#include "loaders/metrics/metrics_mlflow.h"
#include "loaders/storage/line_reader.h"
#include "tests/support/metrics_read.h"

#include <QFile>
#include <QtTest>

#include <cmath>
#include <cstring>
#include <filesystem>

using namespace forkpoint;
using namespace forkpoint::test;

namespace {

namespace fs = std::filesystem;
void write(const fs::path &path, std::string_view text)
{
    fs::create_directories(path.parent_path());
    QFile file(QString::fromStdString(path.string()));
    QVERIFY(file.open(QIODevice::WriteOnly));
    QCOMPARE(file.write(text.data(), qint64(text.size())), qint64(text.size()));
}

/// {"step": N, "loss": ...} for steps; step N has N / 128, exactly printed.
std::string stepsFromTo(int from, int to, double shift = 0)
{
    std::string text;
    for (int step = from; step <= to; ++step) {
        char line[80];
        std::snprintf(line, sizeof line, "{\"step\": %d, \"loss\": %.17g}\n", step,
                      step / 128.0 + shift);
        text += line;
    }
    return text;
}

/// Zeroes without an end, and how far they were read.
class Endless final : public ByteSource
{
public:
    const std::string &name() const override { return m_name; }
    std::uint64_t size() const override { return std::uint64_t(20) << 30; }
    Status read(std::uint64_t offset, MutableByteView out) const override
    {
        std::memset(out.data(), 0, out.size());
        furthest = std::max(furthest, offset + out.size());
        return {};
    }
    mutable std::uint64_t furthest = 0;

private:
    std::string m_name = "endless";
};

} // namespace

class MetricsGapsTest : public QObject
{
    Q_OBJECT

private slots:
    /// A run that was resumed into a second file: what is beyond the first counts.
    void resumedIntoASecondFile()
    {
        QTemporaryDir temporary;
        const fs::path root = temporary.path().toStdString();
        for (const char *run : {"A", "B"})
            write(root / run / "a.jsonl", stepsFromTo(1, 100));
        write(root / "A/b.jsonl", stepsFromTo(90, 120));
        write(root / "B/b.jsonl", stepsFromTo(90, 100) + stepsFromTo(101, 120, 0.5));
        const Read a = readFolder(root / "A"), b = readFolder(root / "B");
        QVERIFY(a.ok && a.complete && b.ok && b.complete);
        QCOMPARE(a.curve("loss").size(), std::size_t(120));
        QCOMPARE(a.curve("loss").at(120), 0.9375);
        QCOMPARE(b.curve("loss").at(101), 101 / 128.0 + 0.5);
        QVERIFY(outcome(a, b) == Outcome::Different);
        QVERIFY(outcome(a, a) == Outcome::Identical);
        // The file that goes on may be the first by name, and files may lie within each other.
        write(root / "C/a.jsonl", stepsFromTo(90, 120));
        write(root / "C/b.jsonl", stepsFromTo(1, 100));
        write(root / "C/c.jsonl", stepsFromTo(40, 60));
        QCOMPARE(readFolder(root / "C").curve("loss"), a.curve("loss"));
        // Two that differ where they meet are two runs.
        write(root / "D/a.jsonl", stepsFromTo(1, 100));
        write(root / "D/b.jsonl", stepsFromTo(90, 120, 0.5));
        QVERIFY(!readFolder(root / "D").ok);
    }

    /// What only the less exact file has cannot be joined to the bits of the other.
    void aRoundedTailIsAGap()
    {
        QTemporaryDir temporary;
        const fs::path root = temporary.path().toStdString();
        write(root / "out.log",
              "iteration 1/ 3 | loss: 1.2500E+00 |\niteration 2/ 3 | loss: 1.3333E+00 |\n"
              "iteration 3/ 3 | loss: 1.5000E+00 |\n");
        write(root / "steps.jsonl",
              "{\"step\": 1, \"loss\": 1.25}\n"
              "{\"step\": 2, \"loss\": 1.3333333333333333}\n");
        const Read read = readFolder(root);
        QVERIFY(read.ok && !read.complete);
        QCOMPARE(read.curve("loss"), (Curve{{1, 1.25}, {2, 4.0 / 3}}));
        QVERIFY(read.says("metrics-twice", "1 number of"));
    }

    void listsAndTruthsAreCompared()
    {
        const auto line = [](std::string_view norms, std::string_view found) {
            return readWith(readJsonlMetrics,
                            "{\"step\": 1, \"norms\": " + std::string(norms)
                                + ", \"found_inf\": " + std::string(found) + "}\n");
        };
        const Read one = line("[1.0, 2.0, [4.5, NaN], {\"x\": 8.25}]", "false");
        QVERIFY(one.complete && one.diagnostics.empty());
        QCOMPARE(one.curve("norms.1"), (Curve{{1, 2.0}}));
        QCOMPARE(one.curve("norms.2.0"), (Curve{{1, 4.5}}));
        QVERIFY(std::isnan(one.curve("norms.2.1").at(1)));
        QCOMPARE(one.curve("norms.3.x"), (Curve{{1, 8.25}}));
        QCOMPARE(one.curve("found_inf"), (Curve{{1, 0.0}}));
        QCOMPARE(line("[]", "true").curve("found_inf"), (Curve{{1, 1.0}}));
        QVERIFY(outcome(line("[1.0]", "false"), line("[1.0]", "true")) == Outcome::Different);
        QVERIFY(outcome(line("[1, 2.0]", "true"), line("[1, 3.5]", "true")) == Outcome::Different);
    }

    void whatIsNotComparedIsTold()
    {
        std::string list = "0";
        for (int i = 1; i < 70; ++i)
            list += ", " + std::to_string(i);
        const Read json = readWith(
            readJsonlMetrics,
            "{\"step\": 1, \"hist\": [" + list + "], \"in\": [[" + list + "]], "
                + "\"phase\": \"train\", \"loss\": 1}\n{\"step\": 2, \"phase\": \"eval\"}\n");
        QVERIFY(!json.complete);
        QVERIFY(json.says("not-read", "long lists, not compared, under 2 names: hist and others"));
        QVERIFY(json.says("not-read", "texts, not compared, under 1 name: phase"));
        QVERIFY(json.find("hist.63") && !json.find("hist.64"));
        const Read csv = readWith(readCsvMetrics,
                                  "step,loss,phase,ok\n"
                                  "1,1.5e400,train,True\n"
                                  "2,-1e400,eval,False\n");
        QVERIFY(!csv.complete);
        QVERIFY(csv.says("not-read", "numbers beyond float64, not compared, under 1 name: loss"));
        QVERIFY(csv.says("not-read", "texts, not compared, under 1 name: phase"));
        QCOMPARE(csv.curve("ok"), (Curve{{1, 1.0}, {2, 0.0}}));
        // Texts are no numbers: a log with some is complete.
        const Read texts = readWith(readCsvMetrics, "step,phase,loss\n1,train,2.5\n");
        QVERIFY(texts.complete && texts.says("not-read", "texts"));
    }

    void linesThatMayBeCut()
    {
        // "0.125,1" may have been "0.125,10".
        const Read stepLast = readWith(readCsvMetrics, "loss,step\n0.5,0\n0.125,1");
        QCOMPARE(stepLast.curve("loss"), (Curve{{0, 0.5}}));
        QVERIFY(!stepLast.complete && stepLast.says("torn-line", "line 3"));
        const Read cellLast = readWith(readCsvMetrics, "step,lr,loss\n0,1,0.5\n1,2,0.1");
        QCOMPARE(cellLast.curve("loss"), (Curve{{0, 0.5}}));
        QCOMPARE(cellLast.curve("lr"), (Curve{{0, 1.0}, {1, 2.0}}));
        QVERIFY(!cellLast.complete && cellLast.says("torn-line", "line 3"));
        const Read closed = readWith(readCsvMetrics, "step,loss\n0,\"0.5\"\n1,\"0.25\"");
        QVERIFY(closed.complete && closed.diagnostics.empty());
        QCOMPARE(closed.curve("loss"), (Curve{{0, 0.5}, {1, 0.25}}));
        // An object that is closed is whole.
        const Read object = readWith(readJsonlMetrics, "{\"step\": 1, \"loss\": 0.5}");
        QVERIFY(object.complete && object.curve("loss").size() == 1);
    }

    void mlflowFiles()
    {
        QTemporaryDir temporary;
        const fs::path root = temporary.path().toStdString();
        std::string bad;
        for (int i = 0; i < 1000; ++i)
            bad += "x\n";
        write(root / "meta.yaml", "");
        write(root / "metrics/cut", "1700000000000 0.125 1"); // or step 10
        write(root / "metrics/loss", "1700000000000 0.5 1\n" + bad + "1700000000001 0.25 2\n");
        MetricsTable table("metrics");
        CheckpointBuilder values;
        const Read read = finish(table, readMlflowRun(root, "", table, values, {}));
        QVERIFY(read.ok && !read.complete);
        QVERIFY(!read.find("cut") && read.says("torn-line", "metrics/cut line 1"));
        QCOMPARE(read.curve("loss"), (Curve{{1, 0.5}, {2, 0.25}}));
        QVERIFY(read.says("bad-line", "metrics/loss line 2"));
        QVERIFY(read.says("bad-line", "999 more"));
        std::stop_source stop;
        stop.request_stop();
        MetricsTable other("metrics");
        const Status stopped = readMlflowRun(root, "", other, values, stop.get_token());
        QVERIFY(!stopped.ok() && stopped.error().code == ErrorCode::Cancelled);
    }

    /// Names are composed of the keys around a number: short lines could ask for gigabytes.
    void composedNames()
    {
        std::string many = "{\"step\": 1, \"" + std::string(500'000, 'k') + "\": {\"\": 1";
        while (many.size() < 1'000'000)
            many += ",\"\":1";
        const Read longName = readWith(readJsonlMetrics, many + "}}\n");
        QVERIFY(longName.series.empty() && longName.says("bad-line", "4,096 characters"));
        std::string wide = "{\"step\": 1, \"" + std::string(4000, 'k') + "\": {\"\": 1";
        while (wide.size() < 1'000'000)
            wide += ",\"\":1";
        const Read tooMany = readWith(readJsonlMetrics, wide + "}}\n");
        QVERIFY(tooMany.series.empty() && tooMany.says("bad-line", "more numbers"));
    }

    void consolesOfAnyLength()
    {
        constexpr int Lines = 1'000'002;
        std::string text;
        for (int i = 0; i < Lines; ++i)
            text += "{'loss': 1}\n";
        const Read read = readWith(readConsoleMetrics, text);
        QCOMPARE(read.find("loss")->points.size(), std::size_t(Lines));
        QCOMPARE(read.find("loss")->points.back().step, std::int64_t(Lines));
        // Epochs that would count beyond 2^63.
        std::string far;
        for (int i = 0; i < 20'000; ++i)
            far += "{'loss': 1, 'epoch': 1.0e300}\n";
        const Read counted =
            readWith(readConsoleMetrics, far + "{'loss': 1, 'epoch': 1.000000000000001e300}\n");
        QCOMPARE(counted.find("loss")->points.front().step, std::int64_t(1));
        QVERIFY(!counted.complete && counted.says("no-steps"));
    }

    void endlessLines()
    {
        const Endless endless;
        QVERIFY(!isConsoleMetrics(endless, 1 << 20));
        QVERIFY(endless.furthest <= 4u << 20);
        const auto shared = std::make_shared<Endless>();
        QVERIFY(!readMetricsFile(shared, {}));
        QVERIFY(shared->furthest <= 80u << 20);
        std::stop_source stop;
        stop.request_stop();
        LineReader lines(endless, 1 << 20, stop.get_token());
        const auto line = lines.next();
        QVERIFY(!line.ok() && line.error().code == ErrorCode::Cancelled);
        // Lines end where the budget does.
        const MemorySource text("text", bytesOf("one\ntwo\nthree\n"));
        LineReader part(text, 100, {}, 6);
        QVERIFY(part.next().value()->text == "one");
        QVERIFY(part.next().value()->text == "tw");
        QVERIFY(!part.next().value());
    }

    /// Several runs are told apart before any of them is read.
    void severalRunsAreNotRead()
    {
        QTemporaryDir temporary;
        const fs::path root = temporary.path().toStdString();
        const std::string text = stepsFromTo(1, 60'000);
        write(root / "a/log.jsonl", text);
        write(root / "b/log.jsonl", text);
        const auto readSoFar = [] {
            QFile file("/proc/self/io");
            const bool opened = file.open(QIODevice::ReadOnly);
            return opened ? file.readLine().simplified().split(' ').last().toLongLong() : 0;
        };
        const auto listing = listDirectory(root, "run");
        const qint64 before = readSoFar();
        const auto found = findMetricsAlone(root, *listing, {});
        QVERIFY(!found.ok() && found.error().text.find("several runs") != std::string::npos);
        QVERIFY(readSoFar() - before < qint64(text.size()));
        fs::remove_all(root / "b");
        QCOMPARE(readFolder(root).curve("loss").size(), std::size_t(60'000));
    }

    /// The Trainer before version 5 rounds the loss to four decimals and nothing else.
    void aLossThatWasLoggedOnceMayBeRounded()
    {
        const Read read = readWith(readJsonlMetrics,
                                   "{\"step\": 10, \"loss\": 2.3451, \"learning_rate\": 5e-05, "
                                   "\"grad_norm\": 1.2345678901234567}\n");
        QVERIFY(!read.find("loss")->bitsKnown);
        QVERIFY(read.find("learning_rate")->bitsKnown && read.find("grad_norm")->bitsKnown);
    }

    /// What a format of fixed digits printed was rounded, however whole the texts look.
    void formattedNumbersAreNoBits()
    {
        const auto knownIn = [](auto reader, std::string_view text, std::string_view metric) {
            MetricsTable table("m");
            const ByteView bytes = asBytes(text);
            const Read read =
                finish(table, reader(MemorySource("m", {bytes.begin(), bytes.end()}), table, {}));
            const MetricSeries *found = read.find(metric);
            return found && found->bitsKnown;
        };
        std::string megatron, titan, quoted, padded, shortest;
        for (int step = 1; step <= 20; ++step) {
            const std::string n = std::to_string(step);
            megatron += " iteration " + n + "/ 20 | consumed samples: " + n + " | grad norm: " + n
                + ".000 | loss scale: " + n + ".5 |\n";
            titan += "step: " + n + "  loss: " + n + ".50000  grad_norm: " + n + ".0000\n";
            quoted += "{'loss': '" + n + ".5', 'epoch': '" + n + "'}\n";
            padded += n + "," + n + ".000\n";
            shortest += n + "," + n + ".0\n";
        }
        QVERIFY(!knownIn(readConsoleMetrics, megatron, "grad norm"));
        QVERIFY(!knownIn(readConsoleMetrics, megatron, "loss scale"));
        QVERIFY(knownIn(readConsoleMetrics, megatron, "consumed samples"));
        QVERIFY(!knownIn(readConsoleMetrics, titan, "loss"));
        QVERIFY(!knownIn(readConsoleMetrics, quoted, "loss"));
        QVERIFY(!knownIn(readCsvMetrics, "step,loss\n" + padded, "loss"));
        QVERIFY(knownIn(readCsvMetrics, "step,loss\n" + shortest, "loss"));
        // numpy.savetxt: "%.18e" has more digits than any float64 needs.
        QVERIFY(knownIn(readCsvMetrics,
                        "step,loss\n1,5.000000000000000000e-01\n2,2.500000000000000139e-01\n",
                        "loss"));
        // "%.16f" of small numbers: the longest text does not vouch for the others.
        QVERIFY(
            !knownIn(readCsvMetrics, "step,x\n1,0.1234567890123456\n2,0.0000000000000100\n", "x"));
    }
};

QTEST_APPLESS_MAIN(MetricsGapsTest)
#include "tst_metrics_gaps.moc"
