// SPDX-License-Identifier: GPL-3.0-or-later
// Logs with several rows of one step: rows of ranks, phases and metrics are told apart, and a number
// that a row leaves open is not passed over. Lines as json.dumps, orjson and pandas write them.
#include "loaders/metrics/metrics_csv.h"
#include "loaders/metrics/metrics_jsonl.h"
#include "tests/support/metrics_read.h"

#include <QTest>

using namespace forkpoint;
using namespace forkpoint::test;

namespace {

/// Steps 1 to 4, one row of each for every tail; the tail's '#' is the number of the step.
std::string rows(std::initializer_list<std::string> tails)
{
    std::string text;
    for (const char step : {'1', '2', '3', '4'}) {
        for (const std::string &tail : tails) {
            std::string line = std::string("{\"step\": ") + step + ", " + tail + "}\n";
            for (char &c : line)
                c = c == '#' ? step : c;
            text += line;
        }
    }
    return text;
}

Read jsonl(std::initializer_list<std::string> tails)
{
    return readWith(readJsonlMetrics, rows(tails));
}

} // namespace

class TestMetricsRows : public QObject
{
    Q_OBJECT

private slots:
    void rowsOfRanks();
    void labelsHaveNoOrder();
    void rowsOfPhases();
    void rowsOfMetrics();
    void oneLabelIsNone();
    void labelsOfOtherStepsAreNone();
    void rowsThatNothingTellsApart();
    void aRestartIsNoSecondRow();
    void columnsOfCsv();
    void nullAgainstANumber_data();
    void nullAgainstANumber();
    void digestsAreNoLog();
};

void TestMetricsRows::rowsOfRanks()
{
    const Read a = jsonl({R"("loss": 2.5#, "rank": 0)", R"("loss": 2.5#, "rank": 1)"});
    const Read b = jsonl({R"("loss": 3.5#, "rank": 0)", R"("loss": 2.5#, "rank": 1)"});
    QCOMPARE(a.series.size(), std::size_t(2));
    QCOMPARE(b.curve("loss [rank 0]"), (Curve{{1, 3.51}, {2, 3.52}, {3, 3.53}, {4, 3.54}}));
    QCOMPARE(b.curve("loss [rank 1]"), (Curve{{1, 2.51}, {2, 2.52}, {3, 2.53}, {4, 2.54}}));
    QVERIFY(outcome(a, b) == Outcome::Different);
    QVERIFY(!a.says("repeated-step"));
}

// Writers differ in the order of members, and in whether a rank is a whole number, a float or a text.
void TestMetricsRows::labelsHaveNoOrder()
{
    const Read read =
        jsonl({R"("rank": 0, "phase": "eval", "loss": 1.#)", R"("rank": 1, "loss": 2.#)"});
    const Read other =
        jsonl({R"("phase": "eval", "rank": "0", "loss": 1.#)", R"("loss": 2.#, "rank": 1.0)"});
    QCOMPARE(read.curve("loss [phase eval, rank 0]").at(3), 1.3);
    QCOMPARE(other.curve("loss [phase eval, rank 0]").at(3), 1.3);
    QCOMPARE(other.curve("loss [rank 1]").at(3), 2.3);
    QCOMPARE(other.series.size(), std::size_t(2));
}

void TestMetricsRows::rowsOfPhases()
{
    const Read read =
        jsonl({R"("phase": "train", "loss": 1.#)", R"("phase": "eval", "loss": 9.#)"});
    QCOMPARE(read.curve("loss [phase train]").at(3), 1.3);
    QCOMPARE(read.curve("loss [phase eval]").at(3), 9.3);
}

void TestMetricsRows::rowsOfMetrics()
{
    const Read read = jsonl({R"("name": "loss", "value": 1.#)", R"("name": "lr", "value": 9.#)"});
    QCOMPARE(read.curve("value [name loss]").at(4), 1.4);
    QCOMPARE(read.curve("value [name lr]").at(4), 9.4);
}

/// A log of one rank meets that of another run without a word of ranks.
void TestMetricsRows::oneLabelIsNone()
{
    const Read read = jsonl({R"("rank": 3, "loss": 1.#)"});
    QCOMPARE(read.curve("loss").size(), std::size_t(4));
    QCOMPARE(read.curve("rank").at(1), 3.0);
}

/// Where the words change from step to step, no step has two rows: a number that differs is found.
void TestMetricsRows::labelsOfOtherStepsAreNone()
{
    const auto log = [](const char *stage, const char *loss) {
        return readWith(readJsonlMetrics,
                        std::string("{\"step\":1,\"stage\":\"warmup\",\"loss\":0.5}\n"
                                    "{\"step\":2,\"stage\":\"")
                            + stage + "\",\"loss\":" + loss + "}\n");
    };
    QVERIFY(outcome(log("warmup", "0.25"), log("main", "0.125")) == Outcome::Different);
}

void TestMetricsRows::rowsThatNothingTellsApart()
{
    const Read a = jsonl({R"("loss": 1.#)", R"("loss": 2.#)"});
    const Read b = jsonl({R"("loss": 7.#)", R"("loss": 2.#)"});
    QCOMPARE(a.curve("loss").at(2), 1.2);
    QCOMPARE(a.curve("loss [row 2]").at(2), 2.2);
    QVERIFY(a.says("several-rows", "first of loss"));
    QVERIFY(outcome(a, b) == Outcome::Different);
    // A row more is one that the other side lacks.
    QVERIFY(outcome(a, jsonl({R"("loss": 1.#)"})) == Outcome::Undecided);
}

void TestMetricsRows::aRestartIsNoSecondRow()
{
    const std::string once = rows({R"("loss": 1.#)"});
    const Read again = readWith(readJsonlMetrics, once + once.substr(once.find('\n') + 1));
    QCOMPARE(again.series.size(), std::size_t(1));
    QVERIFY(again.says("repeated-step", "3 earlier points"));
    // Nor is the one step that a resumed run logs a second time.
    const std::string last = once.substr(once.rfind('\n', once.size() - 2) + 1);
    QCOMPARE(readWith(readJsonlMetrics, once + last).series.size(), std::size_t(1));
}

void TestMetricsRows::columnsOfCsv()
{
    const Read read = readWith(readCsvMetrics,
                               "step,rank,split,loss\n"
                               "1,0,train,0.25\n1,1,train,0.5\n1,0,val,0.75\n"
                               "2,0,train,1.25\n2,1,train,1.5\n2,0,val,1.75\n");
    QCOMPARE(read.curve("loss [rank 1, split train]"), (Curve{{1, 0.5}, {2, 1.5}}));
    QCOMPARE(read.curve("loss [rank 0, split val]"), (Curve{{1, 0.75}, {2, 1.75}}));
    QCOMPARE(read.series.size(), std::size_t(3));
}

void TestMetricsRows::nullAgainstANumber_data()
{
    QTest::addColumn<QByteArray>("a");
    QTest::addColumn<QByteArray>("b");
    QTest::addColumn<bool>("isCsv");
    QTest::addColumn<int>("oneSided");
    const auto row = [](const char *name, const char *a, const char *b, bool isCsv, int oneSided) {
        QTest::newRow(name) << QByteArray(a) << QByteArray(b) << isCsv << oneSided;
    };
    const char *numbers =
        "{\"step\":1,\"loss\":0.12345678901234567}\n{\"step\":2,\"loss\":0.23456789012345678}\n";
    const char *nulls = "{\"step\":1,\"loss\":0.12345678901234567}\n{\"step\":2,\"loss\":null}\n";
    row("null at the end", numbers, nulls, false, 1);
    row("null on both sides", nulls, nulls, false, 0);
    row("no row at all", numbers, "{\"step\":1,\"loss\":0.12345678901234567}\n", false, 0);
    row("an empty cell", "step,loss\n1,0.12345678901234567\n2,0.23456789012345678\n",
        "step,loss\n1,0.12345678901234567\n2,\n", true, 1);
    // Lightning's logger writes a row for what was logged in training and one for validation.
    row("told in another row",
        "step,loss,val\n1,0.12345678901234567,\n1,,0.34567890123456789\n2,0.23456789012345678,\n",
        "step,loss,val\n1,0.12345678901234567,\n1,,0.34567890123456789\n2,0.23456789012345678,\n",
        true, 0);
}

void TestMetricsRows::nullAgainstANumber()
{
    QFETCH(const QByteArray, a);
    QFETCH(const QByteArray, b);
    QFETCH(const bool, isCsv);
    QFETCH(const int, oneSided);
    const Reader reader = isCsv ? &readCsvMetrics : &readJsonlMetrics;
    const Read left = readWith(reader, a.toStdString()), right = readWith(reader, b.toStdString());
    for (const auto &[one, other] : {std::pair(left, right), std::pair(right, left)}) {
        const auto compared = compareMetrics(one.series, other.series);
        QCOMPARE(compared.at(0).oneSidedSteps, std::uint64_t(oneSided));
        QVERIFY(outcome(one, other) == (oneSided ? Outcome::Undecided : Outcome::Identical));
    }
}

/// A hook's trace that is taken for a log of metrics: its numbers alone are no proof.
void TestMetricsRows::digestsAreNoLog()
{
    const Read trace = jsonl({R"("t": 1.5, "sha": "0123456789abcde#")"});
    QVERIFY(!trace.complete);
    QVERIFY(trace.says("not-read", "holds digests"));
    QVERIFY(outcome(trace, trace) == Outcome::Undecided);
    // The commit of the code stands in every row of a log, and is the same.
    QVERIFY(jsonl({R"("loss": 1.#, "commit": "0123456789abcdef")"}).complete);
}

QTEST_APPLESS_MAIN(TestMetricsRows)
#include "tst_metrics_rows.moc"
