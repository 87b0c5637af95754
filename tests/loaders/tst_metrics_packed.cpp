// SPDX-License-Identifier: GPL-3.0-or-later
// Metrics as they lie on disks: behind gzip, and behind the mark of UTF-8.
#include "tests/support/metrics_read.h"

#include <QProcess>
#include <QTemporaryDir>
#include <QtTest>

using namespace forkpoint;
using namespace forkpoint::test;

namespace {

namespace fs = std::filesystem;
const fs::path Data = fs::path(FORKPOINT_TEST_DATA) / "metrics";

/// Logs of one run, and a name that each may have.
struct Log
{
    const char *path, *name;
};
constexpr Log Logs[] = {{"trainer/every-1/trainer_state.json", "trainer_state.json"},
                        {"trainer/every-1/out.log", "out.log"},
                        {"console/megatron-A.log", "train.log"},
                        {"tensorboard/A/events.out.tfevents.1.node0", "events.out.tfevents.1.a"}};

QByteArray contents(const fs::path &path)
{
    QFile file(QString::fromStdString(path.string()));
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

/// By the real program.
QByteArray gzipped(const QByteArray &bytes)
{
    QProcess gzip;
    gzip.start("gzip", {"-c"});
    gzip.write(bytes);
    gzip.closeWriteChannel();
    gzip.waitForFinished();
    return gzip.readAllStandardOutput();
}

Read readAs(const std::string &name, const QByteArray &bytes)
{
    const QTemporaryDir directory;
    QFile file(directory.filePath(QString::fromStdString(name)));
    if (file.open(QIODevice::WriteOnly))
        file.write(bytes);
    file.close();
    return readFolder(directory.path().toStdString());
}

void compare(const Read &packed, const Read &plain)
{
    QVERIFY(packed.ok && plain.ok && !plain.series.empty());
    QCOMPARE(packed.complete, plain.complete);
    QCOMPARE(packed.series.size(), plain.series.size());
    for (const MetricSeries &series : plain.series)
        QCOMPARE(packed.curve(series.name), plain.curve(series.name));
}

constexpr const char *Lines =
    "{\"step\": 1, \"loss\": 1.25, \"x\": Infinity}\n{\"step\": 2, \"loss\": 1.5}\n";
constexpr const char *Table = "step,loss\n1,1.25\n2,1.5\n";

} // namespace

class MetricsPackedTest : public QObject
{
    Q_OBJECT

private slots:
    void behindGzip()
    {
        for (const Log &log : Logs) {
            const QByteArray bytes = contents(Data / log.path);
            compare(readAs(std::string(log.name) + ".gz", gzipped(bytes)), readAs(log.name, bytes));
        }
        compare(readAs("m.jsonl.gz", gzipped(Lines)), readAs("m.jsonl", Lines));
        compare(readAs("m.csv.gz", gzipped(Table)), readAs("m.csv", Table));
        // Of several members, as appending makes them.
        compare(readAs("m.csv.gz", gzipped("step,loss\n") + gzipped("1,1.25\n2,1.5\n")),
                readAs("m.csv", Table));
    }

    void behindAMark()
    {
        const QByteArray mark("\xef\xbb\xbf");
        for (const Log &log : {Logs[0], Logs[1], Logs[2]}) {
            const QByteArray bytes = contents(Data / log.path);
            compare(readAs(log.name, mark + bytes), readAs(log.name, bytes));
        }
        compare(readAs("m.jsonl", mark + Lines), readAs("m.jsonl", Lines));
        compare(readAs("m.csv", mark + Table), readAs("m.csv", Table));
        compare(readAs("m.csv.gz", gzipped(mark + Table)), readAs("m.csv", Table));
    }

    void gzipThatIsCut()
    {
        const QByteArray bytes = contents(Data / Logs[1].path), packed = gzipped(bytes);
        const Read cut = readAs("out.log.gz", packed.chopped(packed.size() / 3));
        QVERIFY(cut.ok && !cut.complete && cut.says("torn-gzip"));
        QVERIFY(cut.curve("loss").size() > 2 && cut.curve("loss").size() < 24);
        const Read more = readAs("out.log.gz", packed + "text");
        QVERIFY(!more.complete && more.says("behind-gzip", "byte "));
        QVERIFY(readAs("out.log.gz", packed + QByteArray(512, '\0')).complete);
        for (int size = 0; size < 40; ++size)
            (void)readAs("out.log.gz", packed.left(size)); // nothing falls over
    }
};

QTEST_APPLESS_MAIN(MetricsPackedTest)
#include "tst_metrics_packed.moc"
