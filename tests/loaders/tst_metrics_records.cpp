// SPDX-License-Identifier: GPL-3.0-or-later
// Metrics of logs of records that no writer at hand makes: every bit of an integer, what is left out
// of wandb's rows, any number of restarts.
#include "loaders/metrics/crc32c.h"
#include "loaders/metrics/metrics_csv.h"
#include "loaders/metrics/metrics_jsonl.h"
#include "loaders/metrics/metrics_tensorboard.h"
#include "loaders/metrics/metrics_wandb.h"
#include "tests/support/metrics_read.h"

#include <zlib.h>

#include <QtTest>

#include <cmath>
#include <random>
#include <set>

using namespace forkpoint;
using namespace forkpoint::test;

namespace {

std::string littleEndian(std::uint64_t value, std::size_t size)
{
    std::string bytes;
    for (std::size_t i = 0; i < size; ++i)
        bytes += char(value >> (8 * i));
    return bytes;
}

std::string varint(std::uint64_t value)
{
    std::string bytes;
    for (; value >= 0x80; value >>= 7)
        bytes += char(value | 0x80);
    return bytes + char(value);
}

/// A field of a message: its number, its wire type, its contents.
std::string field(unsigned number, std::string_view message)
{
    return varint(number << 3 | 2) + varint(message.size()) + std::string(message);
}
std::string field(unsigned number, std::uint64_t value)
{
    return varint(number << 3) + varint(value);
}

/// A record of an event file, as TensorFlow's record_writer.cc makes it.
std::string tfRecord(const std::string &data)
{
    const std::string length = littleEndian(data.size(), 8);
    return length + littleEndian(maskedCrc32c(asBytes(length)), 4) + data
        + littleEndian(maskedCrc32c(asBytes(data)), 4);
}

/// An event file with one scalar of int64 in a tensor (tensor.proto: dtype 9, int64_val).
std::string eventsOf(std::int64_t number)
{
    const std::string tensor = field(1, 9) + field(10, std::uint64_t(number));
    const std::string value = field(1, "count") + field(8, tensor);
    return tfRecord(field(3, "brain.Event:2")) + tfRecord(field(2, 1) + field(5, field(1, value)));
}

Read readEvents(const std::string &bytes)
{
    MetricsTable table("events");
    const auto file = std::make_shared<MemorySource>("events", bytesOf(bytes));
    return finish(table, readTensorBoard({file}, table, {}));
}

/// A log of wandb with one row of history: blocks of LevelDB's log format, one chunk a record.
Read readHistory(const std::vector<std::pair<std::string, std::string>> &items)
{
    std::string history;
    for (const auto &[key, json] : items)
        history += field(1, field(1, key) + field(16, json));
    history += field(2, field(1, 5));
    const std::string data = '\1' + field(2, history); // a whole record
    const auto crc = crc32(0, reinterpret_cast<const Bytef *>(data.data()), uInt(data.size()));
    const std::string bytes = std::string(":W&B") + littleEndian(0xBEE1, 2) + '\0'
        + littleEndian(crc, 4) + littleEndian(data.size() - 1, 2) + data;
    MetricsTable table("run");
    CheckpointBuilder values;
    return finish(table, readWandb(MemorySource("run", bytesOf(bytes)), table, values, {}));
}

} // namespace

class MetricsRecordsTest : public QObject
{
    Q_OBJECT

private slots:
    void wandbTellsToo()
    {
        const Read read = readHistory({{"loss", "0.5"},
                                       {"norms", "[1.5,2.5]"},
                                       {"ok", "true"},
                                       {"nested", "{\"a\":{\"b\":4}}"},
                                       {"nan", "\"NaN\""},
                                       {"broken", "{\"a\":"},
                                       {"hist", "{\"_type\":\"histogram\",\"values\":[1]}"},
                                       {"note", "\"a text\""}});
        QVERIFY(read.ok && !read.complete);
        QCOMPARE(read.curve("loss"), (Curve{{5, 0.5}}));
        QCOMPARE(read.curve("norms.1"), (Curve{{5, 2.5}}));
        QCOMPARE(read.curve("ok"), (Curve{{5, 1.0}}));
        QCOMPARE(read.curve("nested.a.b"), (Curve{{5, 4.0}}));
        QVERIFY(std::isnan(read.curve("nan").at(5)));
        QVERIFY(read.says("not-read", "holds what is no JSON, not compared, under 1 name: broken"));
        QVERIFY(
            read.says("not-read", "holds histograms or media, not compared, under 1 name: hist"));
        QVERIFY(read.says("not-read", "holds texts, not compared, under 1 name: note"));
        QVERIFY(readHistory({{"loss", "0.5"}, {"note", "\"a text\""}}).complete);
    }

    /// 2^53 and 2^53 + 1 are one float64.
    void integersKeepEveryBit()
    {
        const std::int64_t edge = std::int64_t(1) << 53;
        const auto compared = [](std::int64_t a, std::int64_t b) {
            return outcome(readEvents(eventsOf(a)), readEvents(eventsOf(b)));
        };
        QVERIFY(compared(edge, edge) == Outcome::Identical);
        QVERIFY(compared(edge, edge + 1) == Outcome::Different);
        QVERIFY(compared(edge + 1, edge + 1) == Outcome::Identical); // by its digits
        QVERIFY(compared(edge + 1, edge + 2) == Outcome::Different);
        QVERIFY(compared(7, 8) == Outcome::Different);
        QVERIFY(compared(-7, -7) == Outcome::Identical);
        const auto json = [](const char *number) {
            return readWith(readJsonlMetrics,
                            "{\"step\": 1, \"n\": " + std::string(number) + "}\n");
        };
        QVERIFY(outcome(json("9007199254740992"), json("9007199254740993")) == Outcome::Different);
        QVERIFY(outcome(json("9007199254740994"), json("9007199254740994")) == Outcome::Identical);
        QVERIFY(outcome(json("9007199254740993"), json("9007199254740993")) == Outcome::Identical);
        QVERIFY(outcome(json("99999999999999999"), json("99999999999999998"))
                == Outcome::Different);
        // One float64 again, but a float may have been rounded to it.
        QVERIFY(outcome(json("9007199254740993"), json("9007199254740992.0"))
                == Outcome::Undecided);
        // The whole range of 64 bits, and beyond it as far as digits are kept.
        const std::string wide(35, '9');
        const std::pair<std::string, std::string> neighbours[] = {
            {"18446744073709551615", "18446744073709551614"},
            {"9223372036854775807", "9223372036854775806"},
            {"-9223372036854775808", "-9223372036854775807"},
            {"18446744073709551616", "18446744073709551615"},
            {wide + "9", wide + "8"},
            {"-" + wide + "9", "-" + wide + "8"}};
        for (const auto &[one, other] : neighbours) {
            const auto csv = [](const std::string &number) {
                return readWith(readCsvMetrics, "step,n\n1," + number + "\n");
            };
            QVERIFY(outcome(json(one.c_str()), json(one.c_str())) == Outcome::Identical);
            QVERIFY(outcome(json(one.c_str()), json(other.c_str())) == Outcome::Different);
            QVERIFY(outcome(csv(one), csv(one)) == Outcome::Identical);
            QVERIFY(outcome(csv(one), csv(other)) == Outcome::Different);
        }
        // More digits than are kept: another is proven where they are apart, and equality is not.
        const std::string longer = "1" + wide + "9";
        QVERIFY(outcome(json(longer.c_str()), json(longer.c_str())) == Outcome::Undecided);
    }

    /// A column of a hostile file that holds integers and floats keeps its texts beside its points.
    void mixedColumns()
    {
        MetricsTable table("log");
        QVERIFY(table.add("x", 3, 0.5));
        QVERIFY(table.addText("x", 2, *parseDecimal("9007199254740993")));
        QVERIFY(table.addFloat32("x", 1, 0.25f));
        const auto series = table.takeSeries();
        QCOMPARE(series.size(), std::size_t(1));
        QCOMPARE(series[0].printed.size(), std::size_t(3));
        QVERIFY(series[0].printed[0].exact && series[0].printed[2].exact && !series[0].bitsKnown);
        QVERIFY(series[0].printed[1].mantissa == 9007199254740993);
    }

    /// Against the definition: a restart takes back what was logged before it from its step on.
    void restartsByDefinition()
    {
        std::mt19937 random(3);
        for (int round = 0; round < 300; ++round) {
            MetricsTable table("log");
            std::map<std::string, std::vector<std::int64_t>> kept;
            for (int i = 0; i < 60; ++i) {
                const std::string name = random() % 2 ? "x" : "y";
                const auto step = std::int64_t(random() % 30);
                const auto dropFrom = [&](std::vector<std::int64_t> &steps) {
                    std::erase_if(steps, [&](std::int64_t at) { return at >= step; });
                };
                if (const auto what = random() % 8; what == 0) {
                    table.supersedeAll(step);
                    dropFrom(kept["x"]);
                    dropFrom(kept["y"]);
                } else if (what == 1) {
                    table.supersede(name, step);
                    dropFrom(kept[name]);
                } else {
                    QVERIFY(table.add(name, step, double(i)));
                    kept[name].push_back(step);
                }
            }
            Read read;
            read.series = table.takeSeries();
            for (const auto &[name, steps] : kept) {
                const std::set<std::int64_t> expected(steps.begin(), steps.end());
                std::set<std::int64_t> found;
                for (const auto &[step, value] : read.curve(name))
                    found.insert(step);
                QVERIFY(found == expected);
            }
        }
    }

    void manyRestarts()
    {
        constexpr int Pairs = 300'000;
        MetricsTable table("log");
        for (int i = 0; i < Pairs; ++i) {
            QVERIFY(table.add("x", i, 1.0));
            QVERIFY(table.add("x", Pairs, 1.0));
            table.supersedeAll(Pairs);
        }
        const auto series = table.takeSeries();
        QCOMPARE(series.at(0).points.size(), std::size_t(Pairs));
        QCOMPARE(series.at(0).passedOver, std::uint64_t(Pairs));
    }

    void longNamesInRecords()
    {
        const Read key = readHistory({{std::string(5000, 'k'), "1"}});
        QVERIFY(key.series.empty() && key.says("malformed"));
        const Read inside = readHistory({{"x", "{\"" + std::string(5000, 'k') + "\":1}"}});
        QVERIFY(inside.series.empty() && !inside.complete && inside.says("not-read"));
    }
};

QTEST_APPLESS_MAIN(MetricsRecordsTest)
#include "tst_metrics_records.moc"
