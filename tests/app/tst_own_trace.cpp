// SPDX-License-Identifier: GPL-3.0-or-later
// Our own trace: segments that h5py wrote from the specification (tests/data/owntrace) against the
// arrays they were made of, and the writer in C++ against them.
#include "gpu/backend_registry.h"
#include "loaders/hdf5/hdf5_client.h"
#include "model/fingerprint.h"
#include "model/traces/trace_comparer.h"
#include "model/traces/trace_divergence.h"
#include "tests/support/sound_trace.h"
#include "tests/support/trace_records.h"

#include <set>

#include <QDir>
#include <QDirIterator>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTest>

using namespace forkpoint;
using namespace forkpoint::test;

namespace {

const fs::path Samples = fs::path(FORKPOINT_TEST_DATA) / "owntrace";

void copyTree(const fs::path &from, const fs::path &to)
{
    fs::copy(from, to, fs::copy_options::recursive);
}

/// What the writer needs to write a record again.
WrittenRecord writtenOf(const TraceRecord &record, const QJsonObject &expected)
{
    WrittenRecord written;
    written.role = std::uint8_t(expected["role"].toInt());
    written.flags = std::uint8_t(expected["flags"].toInt());
    written.step = *record.iteration;
    written.microBatch = record.microBatch ? std::int32_t(*record.microBatch) : -1;
    written.sequence = *record.sequence;
    written.stage = record.stage;
    written.name = record.name;
    written.scope = record.scope;
    written.call = std::uint32_t(record.call);
    written.values = record.fields;
    for (const auto &[from, to] : {std::pair{&record.inputs, &written.inputs},
                                   std::pair{&record.outputs, &written.outputs}}) {
        for (const Observation &observation : *from) {
            WrittenTensor tensor;
            tensor.path = observation.path;
            tensor.dtype = observation.dtype;
            tensor.shape = *observation.shape;
            if (!observation.metadata.empty())
                tensor.note = observation.metadata.front().second;
            tensor.absence = observation.absence == Absence::Null ? 1 : 0;
            const QByteArray digest =
                QByteArray::fromHex(QByteArray::fromStdString(observation.digest));
            std::copy(digest.begin(), digest.end(), tensor.content.begin());
            tensor.bytes = *observation.count * dtypeByName(tensor.dtype)->positionBits() / 8;
            to->push_back(std::move(tensor));
        }
    }
    return written;
}

void compareObservation(const Observation &found, const QJsonObject &expected)
{
    QCOMPARE(QString::fromStdString(found.path), expected["path"].toString());
    QCOMPARE(QString::fromStdString(found.dtype), expected["dtype"].toString());
    QJsonArray shape;
    for (const std::uint64_t dimension : *found.shape)
        shape.append(qint64(dimension));
    QCOMPARE(shape, expected["shape"].toArray());
    QCOMPARE(found.absence == Absence::Null, expected["absence"].toInt() == 1);
    const bool isThere = found.absence == Absence::Recorded;
    QCOMPARE(QString::fromStdString(found.digest),
             isThere ? expected["content"].toString() : QString());
    QCOMPARE(found.payloadOffset ? qint64(*found.payloadOffset) : -1,
             qint64(expected["payload"].toInt()));
    QVERIFY(found.kind == DigestKind::Fingerprint);
}

} // namespace

class TestOwnTrace : public QObject
{
    Q_OBJECT

private slots:
    void init()
    {
        if (const std::string why = whyNoHdf5(); !why.empty())
            QSKIP(why.c_str());
    }

    void saysWhatWasWritten_data()
    {
        QTest::addColumn<QString>("name");
        QTest::newRow("a") << "a";
        QTest::newRow("b") << "b";
    }
    void saysWhatWasWritten()
    {
        QFETCH(QString, name);
        const auto trace = traceAt(Samples / name.toStdString());
        QVERIFY(trace);
        QVERIFY(trace->complete());
        QVERIFY(trace->diagnostics().empty());
        QCOMPARE(trace->dialect(), std::string("forkpoint-trace"));
        QCOMPARE(trace->streams().size(), std::size_t(2));
        const QJsonArray expected =
            QJsonDocument::fromJson(bytesOf(Samples / "expected.json")).object()[name].toArray();
        qsizetype row = 0;
        for (std::size_t rank = 0; rank < 2; ++rank) {
            const TraceStream &stream = trace->streams()[rank];
            QCOMPARE(stream.coordinate.rank, std::optional<std::int64_t>(rank));
            QCOMPARE(stream.coordinate.toText(), "pp 0, tp " + std::to_string(rank));
            QVERIFY(std::find(stream.facts.begin(), stream.facts.end(),
                              TraceFact{TraceFact::Role::Runtime, "recipe.seed", "1234"})
                    != stream.facts.end());
            for (const TraceRecord &record : recordsOf(*trace, rank)) {
                const QJsonObject wanted = expected[row++].toObject();
                QCOMPARE(int(rank), wanted["rank"].toInt());
                QCOMPARE(record.iteration, std::optional<std::int64_t>(wanted["step"].toInt()));
                QCOMPARE(record.microBatch.value_or(-1), wanted["micro_batch"].toInt());
                QCOMPARE(record.sequence, std::optional<std::uint64_t>(wanted["sequence"].toInt()));
                QCOMPARE(QString::fromStdString(record.stage), wanted["stage"].toString());
                QCOMPARE(QString::fromStdString(record.name), wanted["name"].toString());
                QCOMPARE(record.call, std::uint64_t(wanted["call"].toInt()));
                QCOMPARE(int(record.inputs.size()), wanted["inputs"].toArray().size());
                QCOMPARE(int(record.outputs.size()), wanted["outputs"].toArray().size());
                for (std::size_t i = 0; i < record.inputs.size(); ++i)
                    compareObservation(record.inputs[i],
                                       wanted["inputs"].toArray()[qsizetype(i)].toObject());
                for (std::size_t i = 0; i < record.outputs.size(); ++i)
                    compareObservation(record.outputs[i],
                                       wanted["outputs"].toArray()[qsizetype(i)].toObject());
            }
        }
        QCOMPARE(row, expected.size());
    }

    /// The sample has tensors that were not taken, which prove nothing.
    void equalTracesAreEqual()
    {
        const RunComparison result = compared(Samples / "a", Samples / "a");
        QVERIFY(result.verdict.outcome == Outcome::Undecided);
        QVERIFY(!result.firstDivergence);
        QCOMPARE(result.trace->coverage.evidence.different, std::uint64_t(0));
        QVERIFY(result.trace->coverage.evidence.nothing > 0);
    }

    void firstDifferenceIsFound()
    {
        const RunComparison result = compared(Samples / "a", Samples / "b");
        QVERIFY(result.verdict.outcome == Outcome::Different);
        QVERIFY(result.firstDivergence);
        const FirstDivergence &first = *result.firstDivergence;
        QCOMPARE(first.step, std::optional<Step>(2));
        QCOMPARE(first.rank, std::optional<std::int64_t>(1));
        QCOMPARE(first.stage, std::string("forward"));
        QCOMPARE(first.name, std::string("layers.0.fc1"));
        QCOMPARE(first.microBatch, std::optional<std::int64_t>(0));
        QCOMPARE(first.call, std::optional<std::uint64_t>(0));
        QCOMPARE(first.provenEqualName, std::string("input"));
        // Its second input was not taken, and is the array that differs: nothing acquits the inputs.
        QCOMPARE(first.probe, std::string("record every input of layers.0.fc1"));
        QVERIFY(result.nextCapture);
        QVERIFY(result.nextCapture->why.find("recorded already") == std::string::npos);
        QCOMPARE(result.ranks.size(), std::size_t(2));
        QVERIFY(!result.ranks[0].first);
        // What was kept of that step is shown: one element of the output is the next float.
        QCOMPARE(result.shownStep, std::optional<Step>(2));
        const auto row = std::find_if(
            result.shown.tensors.begin(), result.shown.tensors.end(), [](const TensorRow &each) {
                return each.name == "rank_1.forward.micro_batch_0.layers.0.fc1.output";
            });
        QVERIFY(row != result.shown.tensors.end());
        QVERIFY(row->status == ItemStatus::Different);
        QCOMPARE(row->stats->differentElements, std::uint64_t(1));
    }

    void keptTensorsHaveTheDigestsRecorded()
    {
        const auto run = openRun(Samples / "a", {}, {}).value();
        QCOMPARE(run->steps().size(), std::size_t(1));
        QCOMPARE(run->steps()[0].step, std::optional<Step>(2));
        QVERIFY(run->steps()[0].isKept);
        const auto kept = run->open(0, {}).value();
        std::multiset<std::string> digests, recorded;
        const CpuBackend backend;
        for (TensorIndex i = 0; i < kept->catalog().tensors.size(); ++i) {
            std::vector<std::byte> bytes(kept->catalog().tensors[i].bytes);
            QVERIFY(kept->read(i, 0, bytes).ok());
            TensorHasher hasher(backend);
            hasher.add(bytes);
            digests.insert(hasher.finish().toHex());
        }
        for (std::size_t rank = 0; rank < 2; ++rank) {
            for (const TraceRecord &record : recordsOf(*run->trace(), rank)) {
                for (const Observation &output : record.outputs) {
                    if (output.payloadOffset)
                        recorded.insert(output.digest);
                }
            }
        }
        QVERIFY(!recorded.empty());
        QVERIFY(digests == recorded);
    }

    /// The writer in C++ makes of what was read the same trace.
    void bothWritersAgree()
    {
        const QJsonArray expected =
            QJsonDocument::fromJson(bytesOf(Samples / "expected.json")).object()["a"].toArray();
        const auto original = traceAt(Samples / "a");
        QTemporaryDir folder;
        qsizetype row = 0;
        for (std::size_t rank = 0; rank < 2; ++rank) {
            const fs::path to =
                fs::path(folder.path().toStdString()) / ("rank_" + std::to_string(rank));
            std::vector<WrittenRecord> records;
            for (const TraceRecord &record : recordsOf(*original, rank))
                records.push_back(writtenOf(record, expected[row++].toObject()));
            WrittenHeader header;
            header.rank = std::int64_t(rank);
            header.worldSize = 2;
            header.axes = "pp=0 tp=" + std::to_string(rank);
            header.lastStep = 3;
            QVERIFY(writeSegment(to / "steps_1-3.h5", header, records,
                                 {{0, "select.stages", "batch,forward,loss,grad,weight"}}));
            header.records = std::int64_t(records.size());
            header.tensors = header.values = 0;
            for (const WrittenRecord &record : records) {
                header.tensors += std::int64_t(record.inputs.size() + record.outputs.size());
                header.values += std::int64_t(record.values.size());
            }
            QVERIFY(writeEnd(to / "end.h5", header));
        }
        const RunComparison result = compared(Samples / "a", folder.path().toStdString());
        QCOMPARE(result.trace->coverage.evidence.different, std::uint64_t(0));
        QCOMPARE(result.trace->coverage.evidence.notComparable, std::uint64_t(0));
        QCOMPARE(result.trace->coverage.onlyA + result.trace->coverage.onlyB, std::uint64_t(0));
        QCOMPARE(result.trace->coverage.records, std::uint64_t(row));
        const auto copy = traceAt(folder.path().toStdString());
        QVERIFY(copy->complete());
        for (std::size_t rank = 0; rank < 2; ++rank) {
            const auto own = recordsOf(*original, rank), other = recordsOf(*copy, rank);
            QCOMPARE(own.size(), other.size());
            for (std::size_t i = 0; i < own.size(); ++i) {
                QCOMPARE(own[i].key, other[i].key);
                QCOMPARE(own[i].scope, other[i].scope);
                QCOMPARE(own[i].fields, other[i].fields);
                QCOMPARE(own[i].sequence, other[i].sequence);
            }
        }
    }

    void soundTraceIsComplete()
    {
        const Sound sound;
        QVERIFY(sound.write());
        const auto trace = traceAt(sound.root());
        QVERIFY(trace && trace->complete());
        QVERIFY(trace->diagnostics().empty());
        QVERIFY(compared(sound.root(), sound.root()).verdict.outcome == Outcome::Identical);
        const RunComparison result = compared(sound.root(), sound.root());
        QVERIFY(result.verdict.strength == Strength::Xxh3);
    }

    void otherHdf5FilesAreNoTrace()
    {
        QTemporaryDir folder;
        const fs::path root = folder.path().toStdString();
        put(root / "end.h5", bytesOf(fs::path(FORKPOINT_TEST_DATA) / "hdf5" / "types.h5"));
        const auto run = openRun(root, {}, {});
        QVERIFY(run.ok());
        QVERIFY(!(*run)->trace());
        QCOMPARE((*run)->steps().size(), std::size_t(1));
    }

    /// One bit within the one chunk of tensors/tensor, which h5py then cannot read, and no other dataset.
    void damageThatNoRecordMeetsIsTold()
    {
        constexpr qsizetype Within = 11449 + 95;
        QTemporaryDir folder;
        const fs::path root = folder.path().toStdString();
        copyTree(Samples / "a", root / "A");
        QByteArray bytes = bytesOf(root / "A" / "rank_0" / "steps_1-2.h5");
        bytes[Within] = char(bytes[Within] ^ 1);
        put(root / "A" / "rank_0" / "steps_1-2.h5", bytes);
        const auto trace = traceAt(root / "A");
        QVERIFY(trace && !trace->complete());
        QCOMPARE(trace->diagnostics().size(), std::size_t(1));
        QVERIFY(trace->diagnostics()[0].text.find("dataset 'tensors/tensor'") != std::string::npos);
        QVERIFY(compared(Samples / "a", root / "A").verdict.outcome == Outcome::Undecided);
    }

    /// Checkpoints and a trace of one folder: the chain is one, and what was kept has steps too.
    void traceLiesBesideCheckpoints()
    {
        QTemporaryDir folder;
        const fs::path root = folder.path().toStdString();
        copyTree(Samples / "a", root / "A");
        copyTree(Samples / "b", root / "B");
        for (const char *side : {"A", "B"}) {
            for (const char *name : {"step_000004.pt", "step_000008.pt"})
                fs::copy(fs::path(FORKPOINT_SAMPLES) / (*side == 'A' ? "A" : "C") / name,
                         root / side / name);
        }
        const auto run = openRun(root / "A", {}, {}).value();
        QVERIFY(run->trace());
        QVERIFY(run->complete());
        QCOMPARE(run->steps().size(), std::size_t(3));
        QVERIFY(run->steps()[0].isKept && !run->steps()[1].isKept);
        QCOMPARE(newestStep(*run), std::size_t(2));
        const RunComparison result = compared(root / "A", root / "B");
        QVERIFY(result.verdict.outcome == Outcome::Different);
        QCOMPARE(result.firstDivergence->step, std::optional<Step>(2));
        QCOMPARE(result.shownStep, std::optional<Step>(4));
    }

    /// Reading begins anywhere, also far behind the last mark, and takes little memory.
    void manyRecords()
    {
        QTemporaryDir folder;
        const fs::path rank = fs::path(folder.path().toStdString()) / "rank_0";
        std::vector<WrittenRecord> records;
        for (std::int64_t step = 1; step <= 30; ++step) {
            for (WrittenRecord &record : stepOf(step, 998))
                records.push_back(std::move(record));
        }
        WrittenHeader header;
        header.lastStep = 30;
        QVERIFY(writeSegment(rank / "steps_1-30.h5", header, records));
        const auto trace = traceAt(folder.path().toStdString());
        QVERIFY(trace);
        const auto cursor = trace->open(0, 29);
        QVERIFY(cursor.ok());
        for (std::size_t i = 29'000; i < 30'000; ++i) {
            const auto record = (*cursor)->next().value();
            QVERIFY(record.has_value());
            QCOMPARE(record->name, records[i].name);
            QCOMPARE(record->iteration, std::optional<std::int64_t>(30));
            QCOMPARE(record->outputs.size(), records[i].outputs.size());
            QCOMPARE(record->place.row, std::uint64_t(i + 1));
        }
        QVERIFY(!(*cursor)->next().value());
    }
};

QTEST_GUILESS_MAIN(TestOwnTrace)
#include "tst_own_trace.moc"
