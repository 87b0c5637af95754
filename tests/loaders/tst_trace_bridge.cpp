// SPDX-License-Identifier: GPL-3.0-or-later
// Streams of Megatron-Bridge that are not whole: what their numbers, their headers and their ends tell.
// The whole file is by the real writer (tests/data/traces/make_traces.py).
#include "loaders/traces/sequence_gaps.h"
#include "model/traces/trace_comparer.h"
#include "tests/support/trace_files.h"

#include <QtTest>

using namespace forkpoint;
using namespace forkpoint::test;

namespace {

constexpr const char *Name = "stream_pp0_tp0_cp0_dp0.fp";

QList<QByteArray> writtenLines()
{
    QFile file(QStringLiteral(FORKPOINT_TEST_DATA "/traces/bridge/A/stream_pp0_tp0_cp0_dp0.fp"));
    if (!file.open(QIODevice::ReadOnly))
        return {};
    QList<QByteArray> lines = file.readAll().split('\n');
    lines.removeLast(); // behind the last line break
    return lines;
}

std::shared_ptr<const Trace> traceOf(const QList<QByteArray> &lines)
{
    const Folder folder;
    folder.write(Name, lines.join('\n').toStdString() + '\n');
    return folder.trace();
}

std::string textOf(const Trace &trace, std::string_view code)
{
    for (const Diagnostic &each : trace.diagnostics()) {
        if (each.code == code)
            return each.place + ": " + each.text;
    }
    return {};
}

/// The gaps that these numbers leave, as "first-last missing".
QString gapsOf(const std::vector<std::uint64_t> &numbers)
{
    SequenceGaps gaps;
    for (std::size_t i = 0; i < numbers.size(); ++i)
        gaps.see(numbers[i], {0, i + 1, 0, 0});
    QStringList all;
    for (const SequenceGaps::Gap &gap : gaps.gaps())
        all += QStringLiteral("%1-%2 %3 line %4")
                   .arg(gap.first)
                   .arg(gap.last)
                   .arg(gap.missing)
                   .arg(gap.place.line);
    return all.join(QStringLiteral("; "));
}

TraceComparison compared(const Folder &a, const Folder &b)
{
    TraceComparer comparer(a.trace(), b.trace(), {});
    while (comparer.advance({}))
        ;
    return comparer.result();
}

} // namespace

class TraceBridgeTest : public QObject
{
    Q_OBJECT

private slots:
    void whatTheWriterWroteIsWhole()
    {
        const auto trace = traceOf(writtenLines());
        QVERIFY(trace->complete());
        QVERIFY(trace->diagnostics().empty());
    }

    void aLineThatIsMissingIsTold()
    {
        QList<QByteArray> lines = writtenLines();
        lines.removeAt(3); // seq_id 2
        const auto trace = traceOf(lines);
        QVERIFY(!trace->complete());
        const std::string told = textOf(*trace, "sequence-gap");
        QVERIFY2(told.starts_with("line 4, "), told.c_str());
        QVERIFY2(told.find("has seq_id 3: 1 record before it from seq_id 2 on is missing")
                     != std::string::npos,
                 told.c_str());
    }

    /// The counter has no lock: threads may swap numbers, or take one twice and leave out the next.
    void numbersOfThreadsAreNoGap()
    {
        QCOMPARE(gapsOf({0, 1, 2}), QString());
        QCOMPARE(gapsOf({0, 2, 1, 3}), QString());
        QCOMPARE(gapsOf({0, 1, 1, 3}), QString()); // both read 1, both counted on
        QCOMPARE(gapsOf({0, 2, 2, 3}), QString()); // both counted on, then both read
        QCOMPARE(gapsOf({0, 1, 4, 2}), QStringLiteral("2-3 1 line 3"));
        QCOMPARE(gapsOf({0, 1, 5, 2, 2, 2, 6}), QStringLiteral("2-4 1 line 3"));
        QCOMPARE(gapsOf({2, 3}), QStringLiteral("0-1 2 line 1"));
        QCOMPARE(gapsOf({0, 2, 5}), QStringLiteral("1-1 1 line 2; 3-4 2 line 3"));
        QCOMPARE(gapsOf({0, UINT64_MAX, UINT64_MAX}),
                 QStringLiteral("1-18446744073709551614 18446744073709551614 line 2"));
    }

    void aMissingHeaderIsTold()
    {
        QList<QByteArray> lines = writtenLines();
        lines.removeFirst();
        const auto trace = traceOf(lines);
        QVERIFY(!trace->complete());
        QVERIFY(textOf(*trace, "missing-header").starts_with("line 1, byte 0: "));
    }

    void headersThatContradictAreTold()
    {
        QList<QByteArray> lines = writtenLines();
        QByteArray other = lines.first();
        QVERIFY(other.contains("\"world_size\": 2"));
        lines.insert(3, other);
        QVERIFY(traceOf(lines)->complete()); // its own once more
        lines[3] = other.replace("\"world_size\": 2", "\"world_size\": 4");
        const auto trace = traceOf(lines);
        QVERIFY(!trace->complete());
        const std::string told = textOf(*trace, "header-contradicts");
        QVERIFY2(told.starts_with("line 4, "), told.c_str());
        QVERIFY2(told.find("states world_size 4, the header at line 1, byte 0 states 2")
                     != std::string::npos,
                 told.c_str());
    }

    /// The tracer's sums are Python floats, and Python's json writes NaN bare.
    void aBareNanCostsNoRecord()
    {
        QList<QByteArray> lines = writtenLines();
        const QByteArray before = lines[3];
        lines[3].replace("\"numel\"", "\"sum\": NaN, \"absmax\": Infinity, \"numel\"");
        QVERIFY(lines[3] != before);
        const auto trace = traceOf(lines);
        QVERIFY(trace->complete());
        QVERIFY(textOf(*trace, "non-finite").starts_with("line 4, "));
        QCOMPARE(recordsOf(*trace).size(), std::size_t(lines.size() - 1));
    }

    /// Nothing in the file tells whether the rank went on: what B lacks at its end is no difference.
    void aFileThatEndsEarlyCannotTell()
    {
        const Folder a, b;
        const std::string whole = std::string(Header) + record(0) + record(1) + record(2);
        a.write(Name, whole);
        b.write(Name, std::string(Header) + record(0) + record(1));
        const TraceComparison cut = compared(a, b);
        QVERIFY(cut.ranks[0].first->kind == DivergenceKind::Missing);
        QVERIFY(decide(cut.facts).outcome == Outcome::Undecided);
        const std::string &why = cut.ranks[0].first->classification.why;
        QVERIFY2(why.find("B's trace ends right before it, without a mark") != std::string::npos,
                 why.c_str());
        // A step that follows shows that this one ended.
        std::string later = record(3);
        later.replace(later.find("\"window\": 1"), 11, "\"window\": 2");
        a.write(Name, whole + later);
        later.replace(later.find("\"seq_id\": 3"), 11, "\"seq_id\": 2");
        b.write(Name, std::string(Header) + record(0) + record(1) + later);
        const TraceComparison proven = compared(a, b);
        QVERIFY(proven.ranks[0].first->kind == DivergenceKind::ControlFlow);
        QVERIFY(decide(proven.facts).outcome == Outcome::Different);
        // So does what B recorded in its place.
        std::string instead = record(2);
        instead.replace(instead.find("aten.mul"), 8, "aten.add");
        a.write(Name, whole);
        b.write(Name, std::string(Header) + record(0) + record(1) + instead);
        QVERIFY(decide(compared(a, b).facts).outcome == Outcome::Different);
    }
};

QTEST_APPLESS_MAIN(TraceBridgeTest)
#include "tst_trace_bridge.moc"
