// SPDX-License-Identifier: GPL-3.0-or-later
// Our own trace where it is not what the specification says, or not whole yet: told, and never equal.
#include "loaders/hdf5/hdf5_client.h"
#include "tests/support/sound_trace.h"
#include "tests/support/trace_records.h"

#include <functional>

using namespace forkpoint;
using namespace forkpoint::test;

class TestOwnTraceBent : public QObject
{
    Q_OBJECT

private slots:
    void init()
    {
        if (const std::string why = whyNoHdf5(); !why.empty())
            QSKIP(why.c_str());
    }

    void liveRunIsIncompleteAndNoError()
    {
        const Sound sound;
        QVERIFY(sound.write());
        fs::remove(sound.rank() / "end.h5");
        put(sound.rank() / "steps_3-4.h5.tmp", "half a segment");
        const auto trace = traceAt(sound.root());
        QVERIFY(trace && !trace->complete());
        QVERIFY(says(*trace, "no-end-marker"));
        QVERIFY(says(*trace, "being-written"));
        for (const Diagnostic &diagnostic : trace->diagnostics())
            QVERIFY(diagnostic.severity == Severity::Note);
        QVERIFY(compared(sound.root(), sound.root()).verdict.outcome == Outcome::Undecided);
    }

    void newSegmentIsNoticed()
    {
        const Sound sound;
        QVERIFY(sound.write());
        fs::rename(sound.rank() / "steps_2-2.h5", sound.rank() / "steps_2-2.h5.tmp");
        const auto trace = traceAt(sound.root());
        QVERIFY(trace->unchanged().ok());
        fs::rename(sound.rank() / "steps_2-2.h5.tmp", sound.rank() / "steps_2-2.h5");
        QVERIFY(!trace->unchanged().ok());
        QCOMPARE(trace->unchanged().error().file, std::string("rank_0/steps_2-2.h5"));
    }

    void bentTraceIsIncomplete_data()
    {
        using Bend = std::function<void(Sound &)>;
        QTest::addColumn<Bend>("bend");
        QTest::addColumn<QString>("code");
        QTest::addColumn<QString>("words");
        const auto row = [](const char *name, const char *code, const char *words, Bend bend) {
            QTest::newRow(name) << bend << code << words;
        };
        row("other run", "mixed-runs", "do not belong together",
            [](Sound &sound) { sound.second.run[0] = 'f'; });
        row("gap", "missing-segment", "segment 1 is missing", [](Sound &sound) {
            sound.second.segment = 2;
            sound.end.segments = 3;
        });
        row("missing at the end", "missing-segment", "segments 2 to 4 are missing at the end",
            [](Sound &sound) { sound.end.segments = 5; });
        row("too many", "count", "counts 1 segments, there are 2",
            [](Sound &sound) { sound.end.segments = 1; });
        row("same number", "repeated-segment", "there already", [](Sound &sound) {
            sound.second.segment = 0;
            sound.end.segments = 1;
        });
        row("counts", "count", "counts 9 records, the segments have 8",
            [](Sound &sound) { sound.end.records = 9; });
        row("overlap", "overlapping-steps", "begins with step 1",
            [](Sound &sound) { sound.second.firstStep = 1; });
        row("died", "ended", "error: ValueError",
            [](Sound &sound) { sound.end.reason = "error: ValueError"; });
        row("version", "unsupported", "must be 1, is 2",
            [](Sound &sound) { sound.second.version = 2; });
        row("fingerprint", "unsupported", "must be 'forkpoint-1'",
            [](Sound &sound) { sound.second.fingerprint = "forkpoint-9"; });
        row("header counts", "malformed", "must have 5 rows, has 4",
            [](Sound &sound) { sound.second.records = 5; });
        row("huge counts", "limit", "for a file of this size",
            [](Sound &sound) { sound.second.records = std::int64_t(1) << 40; });
        row("negative counts", "malformed", "must not be negative",
            [](Sound &sound) { sound.second.segment = -7; });
        row("axes", "malformed", "must be words", [](Sound &sound) { sound.second.axes = "tp"; });
        row("steps of others", "foreign-step", "the segment is of steps 7 to 7",
            [](Sound &sound) { sound.second.firstStep = sound.second.lastStep = 7; });
        row("no begin", "no-begin", "must begin", [](Sound &sound) { sound.two[0].role = 8; });
        row("no end", "no-end", "without the mark of its end",
            [](Sound &sound) { sound.two.back().role = 8; });
        row("role", "bad-record", "must be below 9", [](Sound &sound) { sound.two[1].role = 200; });
        row("bytes", "bad-record", "needs 12 bytes, has 8",
            [](Sound &sound) { sound.two[1].outputs[0].shape = {3}; });
        row("shape", "bad-record", "more than 64 bits", [](Sound &sound) {
            sound.two[1].outputs[0].shape = {~std::uint64_t(0), ~std::uint64_t(0)};
        });
    }
    void bentTraceIsIncomplete()
    {
        using Bend = std::function<void(Sound &)>;
        QFETCH(Bend, bend);
        QFETCH(QString, code);
        QFETCH(QString, words);
        Sound sound;
        bend(sound);
        QVERIFY(sound.write());
        const auto trace = traceAt(sound.root());
        QVERIFY(trace);
        QVERIFY2(says(*trace, code.toStdString(), words.toStdString()),
                 trace->diagnostics().empty() ? "nothing was said"
                                              : trace->diagnostics().front().text.c_str());
        QVERIFY(!trace->complete());
        QVERIFY(compared(sound.root(), sound.root()).verdict.outcome != Outcome::Identical);
    }

    void repeatedIdentityIsTold()
    {
        Sound sound;
        sound.two[2] = sound.two[1];
        sound.two[2].sequence = 2;
        QVERIFY(sound.write());
        const RunComparison result = compared(sound.root(), sound.root());
        QVERIFY(result.verdict.outcome == Outcome::Undecided);
        QCOMPARE(result.trace->coverage.duplicates, std::uint64_t(2));
    }

    void sequenceWithAGapProvesNothing()
    {
        Sound sound;
        sound.two[2].sequence = 7;
        QVERIFY(sound.write());
        QVERIFY(compared(sound.root(), sound.root()).verdict.outcome == Outcome::Undecided);
    }

    /// A segment that is cut anywhere is told, and the others are read.
    void cutSegmentIsTold()
    {
        const Sound sound;
        QVERIFY(sound.write());
        const QByteArray whole = bytesOf(sound.rank() / "steps_2-2.h5");
        for (const double part : {0.0, 0.001, 0.1, 0.3, 0.6, 0.9, 0.999}) {
            put(sound.rank() / "steps_2-2.h5", whole.left(qsizetype(double(whole.size()) * part)));
            const auto trace = traceAt(sound.root());
            QVERIFY(trace);
            QVERIFY(!trace->complete());
            QCOMPARE(recordsOf(*trace, 0).size(), std::size_t(4));
        }
    }
};

QTEST_GUILESS_MAIN(TestOwnTraceBent)
#include "tst_own_trace_bent.moc"
