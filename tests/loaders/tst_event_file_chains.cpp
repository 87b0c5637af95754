// SPDX-License-Identifier: GPL-3.0-or-later
// Event files of one folder: a restart goes on from the file before, ranks write at the same time.
#include "loaders/metrics/event_file_chains.h"
#include "tests/support/metrics_read.h"

#include <QTemporaryDir>
#include <QtTest>

using namespace forkpoint;
using namespace forkpoint::test;

namespace {

namespace fs = std::filesystem;
const fs::path Data = fs::path(FORKPOINT_TEST_DATA) / "metrics/tensorboard";

struct Named
{
    const char *name, *run;
};

/// A folder with event files of runs under names of its own. A and C log at the same times, and
/// other norms from step 5 on.
Read read(std::initializer_list<Named> files)
{
    const QTemporaryDir directory;
    const fs::path folder = directory.path().toStdString();
    for (const Named &file : files)
        fs::copy_file(Data / file.run / "events.out.tfevents.1.node0",
                      folder / (std::string("events.out.tfevents.") + file.name));
    return readFolder(folder);
}

} // namespace

class EventFileChainsTest : public QObject
{
    Q_OBJECT

private slots:
    void partsOfAName()
    {
        const auto parts = [](std::string_view path) {
            const EventFileName name = eventFileName(path);
            return name.folder + '|' + name.host + '|' + name.suffix;
        };
        // tensorboard 2.21, torch with filename_suffix, TensorFlow 2, hosts with dots, TensorFlow 1.
        QCOMPARE(parts("events.out.tfevents.1796137957.vm.15434.0"), std::string("|vm|"));
        QCOMPARE(parts("runs/a/events.out.tfevents.1796137957.vm.15434.0.rank1"),
                 std::string("runs/a|vm|.rank1"));
        QCOMPARE(parts("events.out.tfevents.1.vm.15434.0.1"), std::string("|vm|.1"));
        QCOMPARE(parts("events.out.tfevents.1.vm.15434.0_1"), std::string("|vm|_1"));
        QCOMPARE(parts("events.out.tfevents.1600000000.host.1234.567.v2"),
                 std::string("|host|.v2"));
        QCOMPARE(parts("events.out.tfevents.1.a7.rack.org.99.3"), std::string("|a7.rack.org|"));
        QCOMPARE(parts("events.out.tfevents.1.10.0.0.5.99.3"), std::string("|10.0.0.5|"));
        QCOMPARE(parts("events.out.tfevents.1.node0"), std::string("|node0|"));
        QCOMPARE(parts("events.out.tfevents.1"), std::string("||"));
        QCOMPARE(parts("tfevents"), std::string("||"));
    }

    void ranksThatTheUserNamed()
    {
        const Read same = read({{"1.vm.8.0.r0", "A"}, {"1.vm.9.0.r1", "A"}});
        const Read apart = read({{"5.vm.18.0.r0", "A"}, {"5.vm.17.0.r1", "C"}});
        QVERIFY(same.complete && same.find("train/grad_norm [suffix .r0]")
                && !same.find("train/grad_norm"));
        QVERIFY(same.says("written-together", "neither went on from the other"));
        QVERIFY(!same.says("restarted") && !apart.says("restarted"));
        QVERIFY(apart.says("written-together", "logs another train/grad_norm at step 5"));
        QVERIFY(apart.complete);
        QCOMPARE(same.curve("train/grad_norm [suffix .r1]"),
                 apart.curve("train/grad_norm [suffix .r0]"));
        QVERIFY(outcome(same, same) == Outcome::Identical);
        QVERIFY(outcome(same, apart) == Outcome::Different);
        // Without its own file a rank is not told from its neighbour's.
        QVERIFY(outcome(read({{"1.vm.8.0.r0", "A"}}), apart) == Outcome::Undecided);
    }

    void ranksThatNothingNames()
    {
        const Read same = read({{"1.vm.8.0", "A"}, {"1.vm.9.0", "A"}});
        const Read apart = read({{"5.vm.18.0", "A"}, {"5.vm.17.0", "C"}});
        const Read lone = read({{"5.vm.18.0", "A"}});
        QVERIFY(same.complete && same.says("written-together", "they count as one"));
        QVERIFY(outcome(same, lone) == Outcome::Identical);
        QVERIFY(!apart.complete && apart.says("written-together", "tell no host or suffix"));
        QVERIFY(apart.find("train/grad_norm [file 5.vm.17.0]") && !apart.find("train/grad_norm"));
        for (const Read &other : {same, lone})
            QVERIFY(outcome(apart, other) == Outcome::Undecided);
    }

    void ranksOfTwoHosts()
    {
        const Read apart = read({{"5.gpu-a.18.0", "A"}, {"5.gpu-b.17.0", "C"}});
        const Read other = read({{"6.gpu-a.8.0", "A"}, {"6.gpu-b.7.0", "A"}});
        QVERIFY(apart.complete && apart.find("train/grad_norm [host gpu-b]"));
        QVERIFY(outcome(apart, apart) == Outcome::Identical);
        QVERIFY(outcome(apart, other) == Outcome::Undecided);
    }

    void aRestartStays()
    {
        const Read restarted = readFolder(Data / "not-purged");
        QVERIFY(restarted.complete && restarted.says("restarted"));
        QVERIFY(restarted.find("train/grad_norm") && !restarted.says("written-together"));
    }

    /// A host called gpu makes no rate of a learning rate.
    void aHostIsNoWordOfAMetric()
    {
        const std::vector<MetricSeries> a = {{"lr [host gpu-1]", {}, true, {{1, 0.5}}}};
        const std::vector<MetricSeries> b = {{"lr [host gpu-1]", {}, true, {{1, 0.25}}}};
        QVERIFY(!compareMetrics(a, b).front().context);
    }
};

QTEST_APPLESS_MAIN(EventFileChainsTest)
#include "tst_event_file_chains.moc"
