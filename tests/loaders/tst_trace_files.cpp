// SPDX-License-Identifier: GPL-3.0-or-later
// Which files of a folder are a trace, and what is said of all others: nothing is dropped silently.
#include "loaders/limits.h"
#include "loaders/storage/gzip_source.h"
#include "tests/support/trace_files.h"

#include <QtTest>

using namespace forkpoint;
using namespace forkpoint::test;

namespace {

/// The first line of a Megatron-Core trace. Its keys are sorted: the payload comes before the last of
/// those that tell the dialect.
std::string runtimeLine(std::size_t bytes)
{
    return R"({"iteration": 1, "kind": "runtime", "name": "runtime", "payload": {"environment": ")"
        + std::string(bytes, 'x') + R"("}, "rank": 0, "schema_version": 2, "sequence": 0})" + "\n";
}

constexpr std::string_view SketchLine =
    R"({"schema_version":1,"seq":0,"rank":0,"iteration":1,"kind":"op","name":"a","payload":{"id":"a:0","out":[]}})"
    "\n";

} // namespace

class TraceFilesTest : public QObject
{
    Q_OBJECT

private slots:
    void allMembersOfAGzipAreRead()
    {
        const std::string first = std::string(Header) + record(0), second = record(1);
        const std::string packed = gzipped(first) + gzipped("") + gzipped(second);
        const auto opened = openMeasuredGzip(sourceOf(packed));
        QVERIFY(opened.ok());
        QVERIFY(!opened->torn && !opened->rest);
        QCOMPARE(opened->decoded->size(), std::uint64_t(first.size() + second.size()));
        std::vector<std::byte> text(opened->decoded->size());
        QVERIFY(opened->decoded->read(0, text).ok());
        QCOMPARE(std::string(asText(text)), first + second);
        // Across the border of two members, and backwards.
        QVERIFY(opened->decoded->read(first.size() - 4, std::span(text).first(8)).ok());
        QCOMPARE(std::string(asText(text).substr(0, 8)),
                 (first + second).substr(first.size() - 4, 8));

        Folder folder;
        folder.write("stream_pp0_tp0_cp0_dp0.fp.gz", packed);
        const auto trace = folder.trace();
        QVERIFY(trace && trace->complete());
        QCOMPARE(recordsOf(*trace).size(), std::size_t(2));
    }

    void aTraceThatGrowsIsNoticed()
    {
        Folder folder;
        const std::string name = "stream_pp0_tp0_cp0_dp0.fp";
        folder.write(name, std::string(Header) + record(0));
        folder.write("notes.txt", "a note");
        const auto trace = folder.trace();
        QVERIFY(trace && trace->unchanged().ok());
        folder.write("notes.txt", "another note"); // none of the trace's
        folder.write("more.txt", "and one more");
        folder.write("metrics.fp", "{\"step\": 1, \"loss\": 2.5}\n"); // called like one
        QVERIFY(trace->unchanged().ok());
        folder.write(name, std::string(Header) + record(0) + record(1));
        const Status grown = trace->unchanged();
        QVERIFY(!grown.ok());
        QVERIFY(grown.error().code == ErrorCode::Changed);
        QCOMPARE(grown.error().file, name);
        const auto again = folder.trace();
        QVERIFY(again && again->unchanged().ok());
        QCOMPARE(recordsOf(*again).size(), std::size_t(2));
        folder.write("stream_pp0_tp0_cp0_dp1.fp", std::string(Header));
        const Status joined = again->unchanged();
        QVERIFY(!joined.ok());
        QCOMPARE(joined.error().file, std::string("stream_pp0_tp0_cp0_dp1.fp"));
    }

    /// Steps in another order than those of the other run compare as equal: that is said, with lines.
    void stepsThatFallAreSaid()
    {
        const auto ofStep = [](int number, const char *step) {
            std::string line = record(number);
            return line.replace(line.find("\"window\": 1") + 10, 1, step);
        };
        Folder folder;
        const std::string name = "stream_pp0_tp0_cp0_dp0.fp", header(Header);
        const std::string second = ofStep(0, "2"), first = ofStep(1, "1");
        folder.write(name, header + second + first + ofStep(2, "3"));
        const auto trace = folder.trace();
        QVERIFY(trace && trace->complete());
        const std::string place = "line 3, byte " + std::to_string(header.size() + second.size());
        QVERIFY(says(*trace, "step-order", place));
        QVERIFY(saysOf(*trace, Severity::Note, name));
        QCOMPARE(trace->diagnostics().size(), std::size_t(1));
        folder.write(name, header + ofStep(0, "1") + ofStep(1, "2"));
        QVERIFY(folder.trace()->diagnostics().empty());
    }

    /// Beside a checkpoint, what was read as a trace is not among what "not opened" names.
    void aTraceBesideACheckpointIsNoRest()
    {
        Folder folder;
        folder.write("stream_pp0_tp0_cp0_dp0.fp", std::string(Header) + record(0));
        folder.write("notes.txt", "a note");
        const std::string head = R"({"x": {"dtype": "U8", "shape": [1], "data_offsets": [0, 1]}})";
        folder.write("x.safetensors",
                     std::string(1, char(head.size())) + std::string(7, '\0') + head + "\1");
        const auto run = openRun(folder.path(), {}, {});
        QVERIFY(run.ok() && (*run)->trace() && (*run)->steps().size() == 1);
        const auto opened = (*run)->open(0, {});
        QVERIFY(opened.ok());
        std::string said;
        for (const Diagnostic &diagnostic : (*opened)->catalog().diagnostics)
            said += diagnostic.text + "\n";
        QCOMPARE(said, std::string("not opened: notes.txt\n"));
    }

    void whatFollowsAGzipIsSaid()
    {
        const std::string good = gzipped(std::string(Header) + record(0));
        const auto traceWith = [&](const std::string &rest) {
            Folder folder;
            folder.write("stream_pp0_tp0_cp0_dp0.fp.gz", good + rest);
            return folder.trace();
        };
        const std::string place = "byte " + std::to_string(good.size());
        const auto garbage = traceWith("garbage");
        QVERIFY(garbage && !garbage->complete());
        QVERIFY(says(*garbage, "behind-gzip", place));
        QCOMPARE(recordsOf(*garbage).size(), std::size_t(1));
        // gzip itself takes zeros for the padding of a tape.
        const auto padding = traceWith(std::string(512, '\0'));
        QVERIFY(padding && padding->complete());
        QVERIFY(says(*padding, "behind-gzip", place));
        std::string broken = gzipped(record(1));
        broken[broken.size() / 2] = char(broken[broken.size() / 2] ^ 0xff);
        const auto damaged = traceWith(broken);
        QVERIFY(damaged && !damaged->complete());
        QVERIFY(says(*damaged, "behind-gzip", place));
        QCOMPARE(recordsOf(*damaged).size(), std::size_t(1));
        const auto cut = traceWith(gzipped(record(1)).substr(0, 30));
        QVERIFY(cut && !cut->complete());
        QVERIFY(says(*cut, "torn-gzip", ""));
    }

    void aLongFirstLineIsRecognised()
    {
        for (const std::size_t bytes : {std::size_t(10'000), std::size_t(1) << 20}) {
            Folder folder;
            folder.write("iter_0000001/rank_00000.jsonl", runtimeLine(bytes));
            folder.write("iter_0000002/rank_00000.jsonl.gz", gzipped(runtimeLine(bytes)));
            const auto trace = folder.trace();
            QVERIFY(trace && trace->complete());
            QCOMPARE(trace->dialect(), std::string("megatron-typed"));
            QCOMPARE(recordsOf(*trace).size(), std::size_t(2));
        }
        // Beyond the bound that is said with the bound.
        Folder folder;
        folder.write("rank_00000.jsonl", "{\"x\": \"" + std::string(limits::TraceLineBytes, 'x'));
        const auto run = openRun(folder.path(), {}, {});
        QVERIFY(!run.ok());
        QVERIFY(run.error().text.find("up to " + std::to_string(limits::TraceLineBytes) + " bytes")
                != std::string::npos);
    }

    void noFileOfATraceIsDroppedSilently()
    {
        const auto with = [](const char *name, const std::string &bytes) {
            Folder folder;
            folder.write("stream_pp0_tp0_cp0_dp0.fp", std::string(Header) + record(0));
            folder.write(name, bytes);
            return folder.trace();
        };
        // What is called as files of the trace are is a part that is lost.
        for (const std::string &bytes : {std::string(), std::string("no trace\n"),
                                         std::string("\0\0\0", 3), gzipped("x").substr(0, 5)}) {
            const auto trace = with("stream_pp0_tp0_cp0_dp1.fp", bytes);
            QVERIFY(trace && !trace->complete());
            QVERIFY(saysOf(*trace, Severity::Warning, "stream_pp0_tp0_cp0_dp1.fp"));
        }
        std::string broken = gzipped(std::string(Header) + record(0));
        broken[broken.size() - 6] = char(broken[broken.size() - 6] ^ 1); // its CRC
        const auto damaged = with("stream_pp0_tp0_cp0_dp1.fp.gz", broken);
        QVERIFY(damaged && !damaged->complete());
        QVERIFY(saysOf(*damaged, Severity::Warning, "stream_pp0_tp0_cp0_dp1.fp.gz"));
        // Another text beside it is named, and no more.
        const auto beside = with("notes.txt", "seed 3\n");
        QVERIFY(beside && beside->complete());
        QVERIFY(saysOf(*beside, Severity::Note, "notes.txt"));
    }

    void twoDialectsInOneFolderAreSaid()
    {
        Folder folder;
        folder.write("stream_pp0_tp0_cp0_dp0.fp", std::string(Header) + record(0));
        folder.write("stream_pp0_tp0_cp0_dp1.fp", std::string(Header) + record(0));
        folder.write("other.jsonl", std::string(SketchLine));
        const auto trace = folder.trace();
        QVERIFY(trace && !trace->complete());
        QCOMPARE(trace->dialect(), std::string("megatron-bridge"));
        QVERIFY(saysOf(*trace, Severity::Warning, "other.jsonl"));
        QVERIFY(says(*trace, "mixed-dialects", ""));
    }
};

QTEST_APPLESS_MAIN(TraceFilesTest)
#include "tst_trace_files.moc"
