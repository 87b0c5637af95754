// SPDX-License-Identifier: GPL-3.0-or-later
// Dialects of traces: what the real writers left (tests/data/traces) and lines that no reader may
// take for more than they are.
#include "loaders/open_run.h"
#include "loaders/storage/gzip_source.h"
#include "loaders/traces/open_trace.h"
#include "model/traces/trace_comparer.h"
#include "model/traces/trace_divergence.h"
#include "tests/support/trace_files.h"

#include <QtTest>

#include <bit>

using namespace forkpoint;
using namespace forkpoint::test;

namespace {

std::filesystem::path data(const char *name)
{
    return std::filesystem::path(FORKPOINT_TEST_DATA) / "traces" / name;
}

std::shared_ptr<const Trace> opened(const char *name)
{
    const auto run = openRun(data(name), {}, {});
    return run.ok() ? (*run)->trace() : nullptr;
}

/// One file of that text as a trace of the dialect that takes it.
std::shared_ptr<const Trace> traceOf(std::string_view text)
{
    TraceFiles files;
    const ByteView bytes = asBytes(text);
    files.files.push_back({std::make_shared<MemorySource>(
                               "trace", std::vector<std::byte>(bytes.begin(), bytes.end())),
                           "trace",
                           {},
                           0});
    for (const TraceDialect *dialect : allTraceDialects()) {
        if (!files.dialect && dialect->probe(files.files[0], text) == Confidence::Yes)
            files.dialect = dialect;
    }
    auto trace = indexTrace(std::move(files), {});
    return trace.ok() ? *trace : nullptr;
}

std::optional<FirstDivergence> firstOf(const char *a, const char *b)
{
    TraceComparer comparer(opened(a), opened(b), {});
    while (comparer.advance({}))
        ;
    return firstDivergenceIn(comparer.result());
}

Outcome outcomeOf(const char *a, const char *b)
{
    TraceComparer comparer(opened(a), opened(b), {});
    while (comparer.advance({}))
        ;
    return decide(comparer.result().facts).outcome;
}

} // namespace

class TracesTest : public QObject
{
    Q_OBJECT

private slots:
    void bridgeRecordsKeepTheirPlace()
    {
        const auto trace = opened("bridge/A");
        QVERIFY(trace);
        QCOMPARE(trace->dialect(), std::string("megatron-bridge"));
        QCOMPARE(trace->streams().size(), std::size_t(2));
        QCOMPARE(trace->streams()[1].coordinate.toText(), std::string("pp 0, tp 0, cp 0, dp 1"));
        QVERIFY(trace->complete());
        const auto records = recordsOf(*trace);
        QCOMPARE(records.size(), std::size_t(5));
        // Read off the file: its second line is the first record.
        QCOMPARE(records[0].place.line, std::uint64_t(2));
        QCOMPARE(records[0].name, std::string("all_reduce"));
        QCOMPARE(records[0].outputs[0].digest, std::string("807f27ab40000000"));
        QVERIFY(records[0].outputs[0].kind == DigestKind::XorLanes);
        const auto line = trace->sourceText(records[4].place, 1 << 20);
        QVERIFY(line.ok() && line->starts_with("{\"seq_id\": 4, ") && line->ends_with("]}"));
    }

    void segmentsBeginWhereTheirRecordsDo()
    {
        std::string text(Header);
        for (int i = 0; i < 4; ++i) {
            std::string line = record(i);
            line.replace(line.find("\"window\": 1"), 11,
                         "\"window\": " + std::to_string(1 + i / 2));
            text += line;
        }
        const auto trace = traceOf(text);
        QCOMPARE(trace->streams()[0].segments.size(), std::size_t(2));
        const auto cursor = trace->open(0, 1);
        const auto first = (*cursor)->next().value();
        QCOMPARE(first->sequence, std::optional<std::uint64_t>(2));
        QCOMPARE(first->place.line, std::uint64_t(4));
        QVERIFY((*cursor)->next().value().has_value());
        QVERIFY(!(*cursor)->next().value().has_value());
    }

    void pr6610()
    {
        const auto trace = opened("pr6610/A");
        QVERIFY(trace && trace->complete());
        const auto records = recordsOf(*trace);
        QVERIFY(records[0].role == RecordRole::IterationBegin);
        QCOMPARE(records[1].stage, std::string("batch"));
        QCOMPARE(records[1].microBatch, std::optional<std::int64_t>(0));
        QVERIFY(records[1].outputs[0].kind == DigestKind::Sha256Header);
        QCOMPARE(records[1].outputs[0].dtype, std::string("int64"));
        // The run differs in the second gradient; the tool's own comparison sorts by name.
        const auto first = firstOf("pr6610/A", "pr6610/C");
        QVERIFY(first.has_value());
        QCOMPARE(first->name, std::string("embed_positions.weight"));
        QCOMPARE(first->stage, std::string("grad"));
        QVERIFY(first->provenEqualBefore);
        QVERIFY(outcomeOf("pr6610/A", "pr6610/A") == Outcome::Identical);
    }

    void aBatchComesBeforeItsGradient()
    {
        // The tool's own answer for these: grad embed_positions.weight (micro-batch null sorts first).
        const auto first = firstOf("pr6610-batch/A", "pr6610-batch/F");
        QVERIFY(first.has_value());
        QCOMPARE(first->name, std::string("input_ids"));
        QCOMPARE(first->microBatch, std::optional<std::int64_t>(0));
        QCOMPARE(first->step, std::optional<Step>(7));
    }

    void metadataAloneIsNoMatch()
    {
        // The tool's own answer: match, diagnostic_tensor_match, exit status 0.
        QVERIFY(!firstOf("pr6610-metadata/A", "pr6610-metadata/C"));
        QVERIFY(outcomeOf("pr6610-metadata/A", "pr6610-metadata/C") == Outcome::Undecided);
    }

    void typed()
    {
        const auto trace = opened("typed/A");
        QVERIFY(trace && trace->complete());
        QCOMPARE(trace->streams().size(), std::size_t(2));
        QVERIFY(std::any_of(trace->streams()[0].facts.begin(), trace->streams()[0].facts.end(),
                            [](const TraceFact &fact) {
                                return fact.role == TraceFact::Role::Placement
                                    && fact.name == "host" && fact.value == "\"node0\"";
                            }));
        const auto first = firstOf("typed/A", "typed/C");
        QVERIFY(first.has_value());
        QCOMPARE(first->name, std::string("data_parallel.grad_reduce.bucket0.end"));
        // Its begin has no inputs, so it is no origin; hosts are exchanged, which is no difference.
        QCOMPARE(first->divergenceClass, std::string("unclassified"));
    }

    void sketch()
    {
        const auto first = firstOf("sketch/A", "sketch/C");
        QVERIFY(first.has_value());
        QCOMPARE(first->name, std::string("grad:embed_tokens.weight"));
        QCOMPARE(first->rank, std::optional<std::int64_t>(0));
    }

    void blindPairs()
    {
        // "equal" for the first; "relu is the root cause" for the second, of which x differed.
        QVERIFY(outcomeOf("blind/two-elements-swapped/A.fp", "blind/two-elements-swapped/B.fp")
                == Outcome::Undecided);
        const auto first = firstOf("blind/two-signs-flipped/A.fp", "blind/two-signs-flipped/B.fp");
        QVERIFY(first.has_value());
        QCOMPARE(first->name, std::string("aten.relu.default"));
        QCOMPARE(first->divergenceClass, std::string("unclassified"));
        QVERIFY(!first->provenEqualBefore);
        QVERIFY(outcomeOf("blind/one-zero-negative/A.fp", "blind/one-zero-negative/B.fp")
                == Outcome::Different);
    }

    void gzip()
    {
        const auto packed = opened("gzip/stream_pp0_tp0_cp0_dp0.fp.gz");
        QVERIFY(packed);
        const auto plain = recordsOf(*opened("bridge/A"));
        const auto unpacked = recordsOf(*packed);
        QCOMPARE(unpacked.size(), plain.size());
        for (std::size_t i = 0; i < plain.size(); ++i)
            QCOMPARE(unpacked[i].outputs[0].digest, plain[i].outputs[0].digest);
    }

    void aTornTailIsAMark()
    {
        std::string text = std::string(Header) + record(0) + record(1);
        text.resize(text.size() - 10);
        const auto trace = traceOf(text);
        QVERIFY(!trace->complete());
        QCOMPARE(recordsOf(*trace).size(), std::size_t(1));
        QVERIFY(says(*trace, "torn-line",
                     "line 3, byte " + std::to_string(Header.size() + record(0).size())));
        // A whole object without its line break may be half a longer one.
        const auto unended =
            traceOf(std::string(Header) + record(0) + record(1).substr(0, record(1).size() - 1));
        QVERIFY(!unended->complete());
        QCOMPARE(recordsOf(*unended).size(), std::size_t(1));
    }

    void badLinesAreToldAndTheRestIsRead()
    {
        const std::vector<std::string> bad = {
            "{\"seq_id\": NaN}\n",              // no JSON
            "\xff\xfe\n",                       // no UTF-8
            "[1, 2]\n",                         // no object
            "{}\n",                             // no record
            "{\"seq_id\": 1, \"seq_id\": 2}\n", // a key twice
            std::string(3, '\0') + "\n",
            R"({"seq_id": 18446744073709551616, "window": 1, "op": "a", "group": "b", "align_idx": 0, "input": [], "output": []})"
            "\n",
        };
        for (const std::string &line : bad) {
            const auto trace = traceOf(std::string(Header) + record(0) + line + record(1));
            QVERIFY(trace);
            QVERIFY(!trace->complete());
            QCOMPARE(recordsOf(*trace).size(), std::size_t(2));
            QVERIFY(says(*trace, "bad-line",
                         "line 3, byte " + std::to_string(Header.size() + record(0).size())));
        }
    }

    void theLargestIntegerSurvives()
    {
        std::string line = record(0);
        line.replace(line.find("\"align_idx\": 0"), 14, "\"align_idx\": 18446744073709551615");
        const auto records = recordsOf(*traceOf(std::string(Header) + line));
        QCOMPARE(records[0].call, std::uint64_t(18446744073709551615u));
    }

    void aPlaceholderIsNoDigest()
    {
        const auto trace = traceOf(std::string(Header) + record(0, "__staged:17"));
        QVERIFY(trace->complete());
        const Observation output = recordsOf(*trace)[0].outputs[0];
        QVERIFY(output.absence == Absence::Unresolved);
        QVERIFY(output.digest.empty());
    }

    void aDigestOfAnotherLengthIsTold()
    {
        const auto trace = traceOf(std::string(Header) + record(0, "3ff8"));
        QVERIFY(!trace->complete());
        QVERIFY(says(*trace, "bad-digest", "line 2, byte " + std::to_string(Header.size())));
        QVERIFY(recordsOf(*trace)[0].outputs[0].absence == Absence::Unresolved);
    }

    void nullsAndCase()
    {
        const auto records =
            recordsOf(*traceOf(std::string(Header) + record(0, "3FF8000000000000")));
        QVERIFY(records[0].inputs[0].absence == Absence::Null);
        QCOMPARE(records[0].outputs[0].digest, std::string("3ff8000000000000"));
    }

    void ranksInOneFileAreTold()
    {
        const std::string first =
            R"({"schema_version":1,"seq":0,"rank":0,"iteration":1,"kind":"op","name":"a","payload":{"id":"a:1","out":[]}})"
            "\n";
        std::string second = first;
        second.replace(second.find("\"rank\":0"), 8, "\"rank\":3");
        const auto trace = traceOf(first + second);
        QVERIFY(!trace->complete());
        QVERIFY(says(*trace, "mixed-ranks", "line 2, byte " + std::to_string(first.size())));
    }

    void theStreamOfAnotherRankBehindOneIsLeftOut()
    {
        std::string other(Header);
        other.replace(other.find("\"dp\": 0"), 7, "\"dp\": 1");
        const std::string first = std::string(Header) + record(0);
        const auto trace = traceOf(first + other + record(0) + record(1));
        QCOMPARE(trace->streams().size(), std::size_t(1));
        QCOMPARE(trace->streams()[0].coordinate.toText(), std::string("pp 0, tp 0, cp 0, dp 0"));
        QCOMPARE(recordsOf(*trace).size(), std::size_t(1));
        QVERIFY(!trace->complete());
        QVERIFY(says(*trace, "mixed-ranks", "line 3, byte " + std::to_string(first.size())));
        QVERIFY(traceOf(first + std::string(Header) + record(1))->complete()); // its own once more
    }

    void everyTruncationIsReadUpToIt()
    {
        const std::string whole = std::string(Header) + record(0) + record(1);
        for (std::size_t size = Header.size(); size < whole.size(); ++size) {
            const auto trace = traceOf(whole.substr(0, size));
            const bool onBoundary = whole[size - 1] == '\n';
            QVERIFY(trace);
            QCOMPARE(trace->complete(), onBoundary);
        }
    }

    void aTornGzipIsReadUpToIt()
    {
        const auto file = data("gzip/stream_pp0_tp0_cp0_dp0.fp.gz");
        QFile source(QString::fromStdString(file.string()));
        QVERIFY(source.open(QIODevice::ReadOnly));
        const QByteArray all = source.readAll();
        for (const qsizetype size : {all.size() - 1, all.size() - 9, all.size() / 2}) {
            const auto *bytes = reinterpret_cast<const std::byte *>(all.constData());
            const auto opened = openMeasuredGzip(
                std::make_shared<MemorySource>("cut", std::vector<std::byte>(bytes, bytes + size)));
            QVERIFY(opened.ok());
            QCOMPARE(opened->torn, true);
            std::vector<std::byte> text(opened->decoded->size());
            QVERIFY(opened->decoded->read(0, text).ok());
            QVERIFY(asText(text).starts_with("{\"_header\": true"));
        }
    }

    void stateSnapshots()
    {
        const auto run = openRun(data("state"), {}, {});
        QVERIFY(run.ok());
        QCOMPARE((*run)->steps().size(), std::size_t(1));
        QCOMPARE((*run)->steps()[0].step, std::optional<Step>(3));
        const auto source = (*run)->open(0, {});
        QVERIFY(source.ok());
        const Catalog &catalog = (*source)->catalog();
        QVERIFY(catalog.complete);
        QCOMPARE(catalog.format, std::string("megatron-state"));
        QCOMPARE(catalog.tensors.size(), std::size_t(3));
        const auto bytesOf = [&](const char *name) {
            const auto index = catalog.findTensor(name);
            std::vector<std::byte> bytes(
                index ? std::size_t(catalog.tensors[std::size_t(*index)].bytes) : 0);
            return index && (*source)->read(*index, 0, bytes).ok()
                ? QByteArray(reinterpret_cast<const char *>(bytes.data()), qsizetype(bytes.size()))
                : QByteArray();
        };
        QCOMPARE(bytesOf("model.0").toHex(), QByteArray("0000803f00000080"));
        QCOMPARE(bytesOf("model.list.0").toHex(), QByteArray("387fb8"));
        QCOMPARE(bytesOf("model.w").toHex(), QByteArray("0100feff")); // big-endian in the file
        const auto valueOf = [&](std::string_view name) {
            for (const ValueRef &value : catalog.values) {
                if (value.name == name)
                    return value.value;
            }
            return Value::text("missing");
        };
        QVERIFY(valueOf("scheduler.gamma").identicalTo(Value::real(0.1)));
        QVERIFY(valueOf("scheduler.nan")
                    .identicalTo(
                        Value::real(std::bit_cast<double>(std::uint64_t(0x7ff8000000000abc)))));
        QVERIFY(valueOf("scheduler.big").identicalTo(Value::bigInteger("590295810358705651713")));
        QVERIFY(valueOf("rng.python").type == ValueType::Numbers);
        QCOMPARE(valueOf("rng.python").count, std::uint64_t(70));
        QVERIFY(valueOf("snapshot.resume_from.run_id").identicalTo(Value::text("run-a")));
        QVERIFY(valueOf("snapshot.resume_from.step").identicalTo(Value::integer(2)));
        QVERIFY(valueOf("snapshot.resume_from.checkpoint_files.rank-000000.pt")
                    .identicalTo(Value::text("c0ffee")));
        QVERIFY(valueOf("provenance.source_dirty").identicalTo(Value::boolean(false)));
    }

    void aFolderOfATraceIsNoCheckpoint()
    {
        const auto run = openRun(data("typed/A"), {}, {});
        QVERIFY(run.ok());
        QVERIFY((*run)->steps().empty());
        QVERIFY((*run)->metrics().empty());
        QCOMPARE((*run)->format(), std::string("megatron-typed"));
    }
};

QTEST_APPLESS_MAIN(TracesTest)
#include "tst_traces.moc"
